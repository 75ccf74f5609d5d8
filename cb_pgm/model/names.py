"""Translate the names that a person writes into numbers: rewards, settable states, interventions.

A reward is a leaf's state, or a mean for each joint state of its parents. An error about an unknown name
suggests the nearest known one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from discovery.wording import did_you_mean, listed

__all__ = [
    "checked_hidden",
    "checked_settable",
    "codes_of",
    "reward_from_means",
    "split_off_reward_node",
    "standard_deviation",
]


def split_off_reward_node(model: DiscreteModel, text: str) -> tuple[DiscreteModel, Reward]:
    """Take the leaf named in "node=state" out of `model`; the reward is 1 when it has that state.

    Raises
    ------
    CausalSystemError
        If the text has another form, node or state are unknown, or the node has children.
    """
    node, state = _node_and_state(model, text)
    v = model.index[node]
    if state not in model.codes[v]:
        raise CausalSystemError(
            f"Expected a state of {node!r} but found {state!r}: {did_you_mean(state, model.states[node])}"
        )
    if model.children[v]:
        children = listed([model.variables[child] for child in model.children[v]])
        raise CausalSystemError(
            f"Expected a leaf as the reward but {node!r} has children ({children}): choose a node without any"
        )
    rest = DiscreteModel(
        states={name: values for name, values in model.states.items() if name != node},
        parents=tuple(
            tuple(parent - (parent > v) for parent in parents)
            for u, parents in enumerate(model.parents)
            if u != v
        ),
        tables=tuple(table for u, table in enumerate(model.tables) if u != v),
    )
    parents = tuple(parent - (parent > v) for parent in model.parents[v])
    return rest, _in_variable_order(parents, model.tables[v][..., model.codes[v][state]], None)


def reward_from_means(
    model: DiscreteModel, variables: str | Sequence[str], means: Mapping[Any, float], noise: float | str
) -> Reward:
    """Return the reward whose mean depends on the (joint) state of some variables.

    Raises
    ------
    CausalSystemError
        If a variable or state is unknown, a joint state has no mean, or the noise is neither a number nor
        "bernoulli".
    """
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    for name in names:
        if name not in model.index:
            raise CausalSystemError(
                f"Expected a reward variable but found {name!r}: {did_you_mean(name, model.variables)}"
            )
    if len(set(names)) < len(names):
        raise CausalSystemError(f"Expected different reward variables but found one twice in {names}")
    table = np.full([len(model.states[name]) for name in names], np.nan)
    for key, mean in means.items():
        table[_joint_state(model, names, key)] = mean
    if np.isnan(table).any():
        cell = np.argwhere(np.isnan(table))[0]
        missing = [f"{name}={model.states[name][code]}" for name, code in zip(names, cell, strict=True)]
        raise CausalSystemError(
            f"Expected a mean for every state of the reward's parents but found none for {listed(missing)}"
        )
    return _in_variable_order(tuple(model.index[name] for name in names), table, standard_deviation(noise))


def standard_deviation(noise: float | str) -> float | None:
    """Return the noise's standard deviation; None for "bernoulli".

    Raises
    ------
    CausalSystemError
        If the noise is another word.
    """
    if isinstance(noise, str):
        if noise != "bernoulli":
            raise CausalSystemError(f"Expected a number or 'bernoulli' as noise but found {noise!r}")
        return None
    return float(noise)


def checked_settable(
    states: Mapping[str, tuple[str, ...]], settable: Mapping[str, Sequence[str]] | None
) -> dict[str, tuple[str, ...]]:
    """Return the states that can be set, in the order of `states`; variables without any are left out.

    Raises
    ------
    CausalSystemError
        If a variable or state is unknown.
    """
    if settable is None:
        return dict(states)
    for variable, values in settable.items():
        if variable not in states:
            raise CausalSystemError(
                f"Expected variables in settable but found {variable!r}: {did_you_mean(variable, states)}"
            )
        for state in values:
            if state not in states[variable]:
                raise CausalSystemError(
                    f"Expected a state of {variable!r} in settable but found {state!r}: "
                    f"{did_you_mean(state, states[variable])}"
                )
    return {
        variable: tuple(state for state in values if state in settable[variable])
        for variable, values in states.items()
        if settable.get(variable)
    }


def checked_hidden(model: DiscreteModel, hidden: Sequence[str]) -> frozenset[str]:
    """Return the names of the hidden variables; a single one may be given as text.

    Raises
    ------
    CausalSystemError
        If a variable is unknown.
    """
    names = (hidden,) if isinstance(hidden, str) else tuple(hidden)
    for name in names:
        if name not in model.index:
            raise CausalSystemError(
                f"Expected variables in hidden but found {name!r}: {did_you_mean(name, model.variables)}"
            )
    return frozenset(names)


def codes_of(
    model: DiscreteModel, do: Mapping[str, str], hidden: frozenset[str] = frozenset()
) -> dict[int, int]:
    """Return the numbers of the variables and states of an intervention.

    Raises
    ------
    CausalSystemError
        If a variable or state is unknown, or the variable is hidden.
    """
    if hidden.isdisjoint(do):
        try:
            return {(v := model.index[variable]): model.codes[v][state] for variable, state in do.items()}
        except KeyError:
            pass  # the first unknown name goes into the message below
    known = {name: states for name, states in model.states.items() if name not in hidden}
    variable, state = next((v, x) for v, x in do.items() if x not in known.get(v, ()))
    if variable not in known:
        raise CausalSystemError(
            f"Expected a variable but found {variable!r}: {did_you_mean(variable, tuple(known))}"
        )
    raise CausalSystemError(
        f"Expected a state of {variable!r} but found {state!r}: {did_you_mean(state, known[variable])}"
    )


def _node_and_state(model: DiscreteModel, text: str) -> tuple[str, str]:
    """Split "node=state" at that equals sign before which a node is named."""
    places = [place for place, letter in enumerate(text) if letter == "="]
    splits = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    for node, state in splits:
        if node in model.index:
            return node, state
    if not splits:
        raise CausalSystemError(
            f"Expected a reward of the form node=state but found {text!r}: name a leaf and its state"
        )
    node = splits[0][0]
    raise CausalSystemError(
        f"Expected a node of the network as the reward but found {node!r}: "
        f"{did_you_mean(node, model.variables)}"
    )


def _joint_state(model: DiscreteModel, names: tuple[str, ...], key: Any) -> tuple[int, ...]:
    """Return the codes of a key of reward_means: a tuple of states, or a single variable's state."""
    states = key if isinstance(key, tuple) else (key,)
    if len(states) != len(names):
        raise CausalSystemError(
            f"Expected reward_means by states of {listed(names)} but found the key {key!r}"
        )
    codes = []
    for name, state in zip(names, map(str, states), strict=True):
        if state not in model.states[name]:
            raise CausalSystemError(
                f"Expected a state of {name!r} in reward_means but found {state!r}: "
                f"{did_you_mean(state, model.states[name])}"
            )
        codes.append(model.codes[model.index[name]][state])
    return tuple(codes)


def _in_variable_order(parents: tuple[int, ...], means: np.ndarray, noise: float | None) -> Reward:
    order = sorted(range(len(parents)), key=parents.__getitem__)
    return Reward(
        tuple(parents[axis] for axis in order), np.ascontiguousarray(np.transpose(means, order)), noise
    )
