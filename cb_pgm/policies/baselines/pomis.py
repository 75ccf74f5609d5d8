"""Anytime MOSS by an oracle that knows the causal diagram with its hidden common causes.

Source: Lee & Bareinboim, "Structural causal bandits: where to intervene?" (NeurIPS 2018). It plays the
interventions on the possibly-optimal minimal intervention sets (`cb_pgm.search.intervention_sets`), among
which a best one is in every system with this diagram.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import Intervention, States
from cb_pgm.model.system import CausalSystem
from cb_pgm.policies.arms import joint_arms
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.index_policies import MOSS
from cb_pgm.search.intervention_sets import CausalDiagram, pomis_sets

__all__ = ["POMISBandit", "diagram_of_system", "pomis_arms"]

_MOST_ARMS = 200_000  # a round takes some nanoseconds an arm
_MOST_PARTLY_SETTABLE = 10  # of which every subset is tried


def diagram_of_system(system: CausalSystem) -> CausalDiagram:
    """Return the causal diagram over the observed variables and the reward, `system.reward_node`.

    Hidden variables are projected out: what they pass on becomes a directed edge, and two observed variables,
    or one and the reward, that hidden paths from a hidden variable lead to get a bidirected edge.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> diagram = diagram_of_system(instances.confounded(seed=0))
    >>> sorted(diagram.parents["reward"]), sorted(diagram.spouses["reward"])
    (['Z'], ['X'])
    """
    model, reward = system.model, system.reward_node
    names = model.variables
    edges = [(names[parent], names[child]) for child, above in enumerate(model.parents) for parent in above]
    edges += [(names[parent], reward) for parent in system.reward.parents]
    diagram = CausalDiagram.of((*names, reward), edges)
    for name in system.hidden:
        diagram = diagram.without(name)
    return diagram


def pomis_arms(
    diagram: CausalDiagram, reward: str, states: States, settable: States
) -> tuple[Intervention, ...]:
    """Return interventions with a best one among them, whatever system with this diagram is played.

    Variables that can't be set are projected out. A variable of which only some states can be set is either
    set to one of these, as part of every intervention, or projected out.

    Raises
    ------
    PolicyError
        If there are more than 200,000 interventions, or more than 10 partly settable variables.
    """
    free = [name for name, values in states.items() if set(settable.get(name, ())) == set(values)]
    partly = [name for name in states if name not in free and settable.get(name)]
    if len(partly) > _MOST_PARTLY_SETTABLE:
        raise PolicyError(
            f"Expected at most {_MOST_PARTLY_SETTABLE} variables with only some states settable for pomis "
            f"but found {len(partly)}: leave them out of the settable ones or let all their states be set"
        )
    sets = {
        tuple(name for name in states if name in chosen)
        for held in _subsets(partly)
        for chosen in _sets_with(diagram, reward, free, held)
    }
    size = sum(math.prod(len(settable[name]) for name in names) for names in sets)
    if size > _MOST_ARMS:
        raise PolicyError(
            f"Expected at most {_MOST_ARMS:,} interventions on possibly-optimal sets but found {size:,}: "
            f"play another policy"
        )
    place = {name: number for number, name in enumerate(states)}
    ordered = sorted(sets, key=lambda names: (len(names), [place[name] for name in names]))
    return tuple(arm for names in ordered for arm in joint_arms(settable, names))


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(len(names) + 1):
        yield from itertools.combinations(names, size)


def _sets_with(
    diagram: CausalDiagram, reward: str, free: Sequence[str], held: Sequence[str]
) -> Iterator[frozenset[str]]:
    """Yield the POMISs of the diagram while `held` are set, each with those of `held` that then matter."""
    cut = diagram.cut(held)
    for name in diagram.parents:
        if name not in free and name not in held and name != reward:
            cut = cut.without(name)
    # A variable that is set is a constant, so it may belong to a border but isn't a choice.
    for names in pomis_sets(cut, reward):
        chosen = frozenset(names) | frozenset(held)
        yield chosen & cut.cut(chosen).ancestors({reward})


class POMISBandit(MOSS):
    """Play anytime MOSS on the interventions on all possibly-optimal minimal intervention sets.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`.
    diagram
        The causal diagram over the variables and the reward.
    reward
        The reward's name in the diagram.

    Raises
    ------
    PolicyError
        If the diagram isn't over the variables and the reward, or there are too many interventions
        (`pomis_arms`).

    Notes
    -----
    do() is among the arms if the empty set is possibly optimal. O(arms) a round.
    """

    name = "pomis"

    def __init__(
        self,
        states: States,
        diagram: CausalDiagram,
        reward: str,
        *,
        noise_scale: float = 1.0,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        if set(diagram.parents) != {*self.states, reward} or reward in self.states:
            raise PolicyError(
                f"Expected a diagram over the {len(self.states)} variables and the reward {reward!r} but "
                f"found another one: give the one of the system"
            )
        self.diagram = diagram
        self._chosen = pomis_arms(diagram, reward, self.states, self.settable)

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        truth = context.known_truth(cls.name)
        known = {"diagram": diagram_of_system(truth), "reward": truth.reward_node}
        return super().from_context(context, **(known | settings))

    @property
    def intervention_sets(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables that are set at once, smallest first; () is do()."""
        return tuple(dict.fromkeys(tuple(arm) for arm in self._chosen))

    def _chosen_arms(self) -> Sequence[Intervention]:
        return [arm for arm in self._chosen if arm or self.plays_do]
