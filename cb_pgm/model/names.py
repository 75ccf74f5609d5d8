"""Translate the names that a person writes into numbers: rewards, settable states, interventions.

A reward is a leaf's state, or a mean for each joint state of its parents. An error about an unknown name
suggests the nearest known one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    _check(state, model.states[node], f"a state of {node!r}")
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
        _check(name, model.variables, "a reward variable")
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
        _check(variable, states, "variables in settable")
        for state in values:
            _check(state, states[variable], f"a state of {variable!r} in settable")
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
        _check(name, model.variables, "variables in hidden")
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
    codes = {}
    for variable, state in do.items():
        if variable in hidden or variable not in model.index:
            _check(variable, [name for name in model.variables if name not in hidden], "a variable")
        v = model.index[variable]
        if state not in model.codes[v]:
            _check(state, model.states[variable], f"a state of {variable!r}")
        codes[v] = model.codes[v][state]
    return codes


def _check(name: str, known: Collection[str], expected: str) -> None:
    if name not in known:
        raise CausalSystemError(f"Expected {expected} but found {name!r}: {did_you_mean(name, known)}")


def _node_and_state(model: DiscreteModel, text: str) -> tuple[str, str]:
    """Split "node=state" at that equals sign before which a node is named."""
    places = [place for place, letter in enumerate(text) if letter == "="]
    splits = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    if not splits:
        raise CausalSystemError(
            f"Expected a reward of the form node=state but found {text!r}: name a leaf and its state"
        )
    node, state = next((split for split in splits if split[0] in model.index), splits[0])
    _check(node, model.variables, "a node of the network as the reward")
    return node, state


def _joint_state(model: DiscreteModel, names: tuple[str, ...], key: Any) -> tuple[int, ...]:
    """Return the codes of a key of reward_means: a tuple of states, or a single variable's state."""
    states = key if isinstance(key, tuple) else (key,)
    if len(states) != len(names):
        raise CausalSystemError(
            f"Expected reward_means by states of {listed(names)} but found the key {key!r}"
        )
    codes = []
    for name, state in zip(names, map(str, states), strict=True):
        _check(state, model.states[name], f"a state of {name!r} in reward_means")
        codes.append(model.codes[model.index[name]][state])
    return tuple(codes)


def _in_variable_order(parents: tuple[int, ...], means: np.ndarray, noise: float | None) -> Reward:
    order = sorted(range(len(parents)), key=parents.__getitem__)
    return Reward(
        tuple(parents[axis] for axis in order), np.ascontiguousarray(np.transpose(means, order)), noise
    )
