"""Prepare a session: turn a `Setup` into a `Beginning`, and refuse settings that can't work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cb_pgm.errors import SessionError
from cb_pgm.policies.registry import policy_kind
from cb_pgm.session.from_table import from_table
from cb_pgm.session.settings import STOPS
from cb_pgm.session.setup import Beginning, Setup
from cb_pgm.wording import listed
from discovery.documents import toml_content
from discovery.table.rows import find_reward

__all__ = ["prepare"]


def prepare(setup: Setup) -> Beginning:
    """Read the inputs, estimate the graph and gaps if the policy needs them, and choose the earlier rows.

    Starting a session from the returned value raises no further errors about the inputs.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If a file or a setting isn't valid.
    OSError
        If a file can't be read.
    """
    _check(setup)
    return _from_states(setup) if setup.data is None else from_table(setup, setup.data)


def _check(setup: Setup) -> None:
    kind = policy_kind(setup.policy)
    if kind.is_oracle:
        raise SessionError(
            f"Expected a policy for a real experiment but found {setup.policy}, which must know the true "
            f"system: choose another one"
        )
    if (setup.data is None) == (setup.states is None):
        found = "neither" if setup.data is None else "both"
        raise SessionError(
            f"Expected either observations or the states of the variables but found {found}: give --data or "
            f"--states"
        )
    if setup.data is None and kind.needs_graph:
        raise SessionError(
            f"Expected observations for {setup.policy}, which works on a graph, but found only the states of "
            f"the variables: give --data, or choose a policy that needs no graph"
        )
    if setup.horizon < 1:
        raise SessionError(f"Expected a horizon of at least 1 row but found {setup.horizon}")
    if setup.stop not in STOPS:
        raise SessionError(f"Expected stop to be {listed(STOPS, last='or')} but found {setup.stop!r}")
    if not 0 < setup.failure_prob < 1:
        raise SessionError(
            f"Expected a failure probability between 0 and 1 but found {setup.failure_prob}: change "
            f"--failure-prob"
        )
    if setup.reward_range is not None and not setup.reward_range[0] < setup.reward_range[1]:
        raise SessionError(
            f"Expected a reward range from low to high but found {setup.reward_range}: change --reward-range"
        )


def _from_states(setup: Setup) -> Beginning:
    known, reward = _given_states(setup.states or {})
    wanted = setup.reward or reward
    if wanted is None:
        raise SessionError("Expected a reward, COL or COL=STATE, but found none: give --reward")
    names = [*known, wanted.partition("=")[0].strip()]  # a numeric reward has no states
    column, state = find_reward(wanted, names, "the states given")
    states = {variable: values for variable, values in known.items() if variable != column}
    if state is None and column in known:
        raise SessionError(
            f"Expected numbers in the reward column {column!r} but found a list of states: name the state "
            f"to reward, as in --reward {column}=STATE"
        )
    if state is not None and state not in known.get(column, ()):
        raise SessionError(
            f"Expected the states of the reward column {column!r} to hold {state!r} but found "
            f"{listed(known.get(column, ()))}: list them beside those of the variables"
        )
    reward_column = setup.reward_column(column, state, known.get(column, ()))
    scale = setup.scale_of_rewards(reward_column, None)
    return Beginning(setup.settings(reward_column, states, scale), (), ())


def _given_states(
    given: str | os.PathLike[str] | Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], str | None]:
    """Return the states of each column, and the reward if the file names one."""
    reward: Any = None
    source = "the states given"
    if not isinstance(given, Mapping):
        source = repr(os.fspath(given))
        try:
            content = toml_content(Path(given).read_text(encoding="utf-8-sig"))
        except ValueError as error:
            raise SessionError(f"Expected a TOML file but found {source}, which isn't one: {error}") from None
        reward, given = content.get("reward"), content.get("states", {})
        if not isinstance(given, Mapping) or not isinstance(reward, str | None):
            raise SessionError(
                f'Expected a table [states] with lines like drug = ["low", "high"], and perhaps reward = "…" '
                f"above it, but found something else in {source}: write it in this form"
            )
    states = {}
    for variable, values in given.items():
        is_list = isinstance(values, Sequence) and not isinstance(values, str)
        named = tuple(str(value).strip() for value in values) if is_list else ()
        if len(named) < 2 or len(set(named)) < len(named) or "" in named or not variable.strip():
            raise SessionError(
                f"Expected at least two different states for each variable but found {values!r} for "
                f"{variable!r} in {source}: list them as text"
            )
        states[variable.strip()] = named
    if len(states) < 1:
        raise SessionError(f"Expected the variables and their states but found none in {source}: list them")
    return states, reward
