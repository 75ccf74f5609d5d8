"""The reward's parents, given or found, and the arms that hold the best one because of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import Intervention, States
from cb_pgm.policies.base import joint_arms, single_variable_arms

__all__ = ["checked_parents", "parent_arms"]


def parent_arms(
    states: States, settable: States, parents: Sequence[str]
) -> tuple[tuple[Intervention, ...], str | None]:
    """Return the arms that hold the best one if `parents` are the reward's; and why they are all arms.

    The parents' joint states; but where a state of theirs can't be set, another variable may be the only way
    to it: then all single-variable arms, and the reason. The reason is None otherwise.

    Examples
    --------
    >>> states = {"A": ("0", "1"), "B": ("0", "1")}
    >>> [str(arm) for arm in parent_arms(states, states, ["B"])[0]]
    ['do(B = 0)', 'do(B = 1)']
    >>> parent_arms(states, {"A": ("0", "1")}, ["B"])[1]
    'the reward depends on B, and B = 0 can not be set: UCB over all arms'
    """
    for parent in parents:
        for state in states[parent]:
            if state not in settable.get(parent, ()):
                reason = f"the reward depends on {parent}, and {parent} = {state} can not be set"
                return single_variable_arms(settable), f"{reason}: UCB over all arms"
    return joint_arms(settable, parents), None


def checked_parents(states: States, parents: Collection[str]) -> tuple[str, ...]:
    """Return `parents` in variable order, or raise PolicyError if there is none or an unknown one."""
    unknown = [name for name in parents if name not in states]
    if unknown or not parents:
        found = f"unknown {unknown[0]!r}" if unknown else "none"
        raise PolicyError(f"Expected the reward's parents among the variables but found {found}")
    return tuple(name for name in states if name in parents)
