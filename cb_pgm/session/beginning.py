"""Prepare a session: turn a `Setup` into a `Beginning`, and refuse settings that can't work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cb_pgm.errors import SessionError
from cb_pgm.policies.registry import policy_kind
from cb_pgm.session.from_table import from_table
from cb_pgm.session.settings import check_states
from cb_pgm.session.setup import Beginning, Setup
from discovery.documents import toml_content
from discovery.table.roles import find_reward

__all__ = ["given_states", "prepare"]


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
    setup = setup.with_export()
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


def _from_states(setup: Setup) -> Beginning:
    known, reward = given_states(setup.states or {})
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
    reward_column = setup.reward_column(column, state, known.get(column, ()))
    scale = setup.scale_of_rewards(reward_column, None)
    return Beginning(setup.settings(reward_column, states, scale), (), ())


def given_states(
    given: str | os.PathLike[str] | Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], str | None]:
    """Return the states of each column, and the reward if the file names one.

    Raises
    ------
    SessionError
        If these aren't states.
    OSError
        If the file can't be read.
    """
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
    if not given:
        raise SessionError(f"Expected the variables and their states but found none in {source}: list them")
    states = {}
    for variable, values in given.items():
        is_list = isinstance(values, Sequence) and not isinstance(values, str)
        states[variable.strip()] = tuple(str(value).strip() for value in values) if is_list else ()
    check_states(states)
    return states, reward
