"""Baseline that learns the whole graph by interventions first; it measures the pulls that CN-UCB saves.

Single-variable interventions orient every undirected edge of the essential graph
(`cb_pgm.search.orientation`). Then the search for the reward's parents on the oriented graph needs queries
about the reward only. Finally anytime MOSS is played on the parents' arms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from cb_pgm import search
from cb_pgm.evidence.base import Evidence, Requirements
from cb_pgm.model import gaps
from cb_pgm.model.exact import ExactInference
from cb_pgm.model.intervention import Pull
from cb_pgm.policies.arms import ArmTotals
from cb_pgm.policies.baselines.exploration import ExploreThenUCB, asked
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.graph_policy import EVIDENCE, GraphPolicy
from cb_pgm.search.orientation import orient

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["LearnGraphThenUCB"]

T = TypeVar("T")


class LearnGraphThenUCB(GraphPolicy, ExploreThenUCB):
    """Orient the essential graph, identify the reward's parents on it, and play MOSS on their arms.

    Parameters
    ----------
    graph, states, marginals, noise_scale, settable, priority
        As in `CNUCB`.
    reward_gap
        Δ of Assumption 3, in units of the reward.
    effect_gap
        ε of Assumption 2, a difference of probabilities, over all undirected edges of the graph, since the
        policy orients every one of them.
    failure_prob
        δ: half of it for orienting the graph and half for the search.
    evidence
        "sequential" or "fixed", as in `CNUCB`.
    max_parents
        The largest number of parents. With more than one, the search goes on after the first parent until
        it finds no further one.

    Attributes
    ----------
    learnt
        The oriented graph, with the directions found as background knowledge; None until it is known.

    Raises
    ------
    PolicyError
        If the graph, states and marginals don't have the same variables, or a setting is out of range.
    """

    name = "learn-graph"

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        if context.truth is not None:
            graph, _ = context.known_graph(cls.name)
            _, effect_gap = context.known_gaps(cls.name)
            known = {"effect_gap": min(effect_gap, _effect_gap_over_undirected(context.truth, graph))}
            return super().from_context(context, **(known | settings))
        return super().from_context(context, **settings)

    def _highest(self, arms: ArmTotals) -> int:
        return arms.highest_moss(self.noise_scale)

    def begin(self, rng: np.random.Generator) -> None:
        super().begin(rng)
        self.learnt: EssentialGraph | None = None

    def _explore(self, rng: np.random.Generator) -> Iterator[Pull]:
        needs = replace(self.requirements, failure_prob=self.requirements.failure_prob / 2)
        # The part of an answer that isn't used gets an infinite gap, so that it needs hardly any pulls.
        for_graph = self._new_evidence(replace(needs, reward_gap=np.inf))
        for_reward = self._new_evidence(replace(needs, effect_gap=np.inf))
        has_lines = bool(self.graph.undirected)
        self._fallback = (for_graph.impossible() if has_lines else None) or for_reward.impossible()
        if self._fallback is not None:
            return
        why = "to see which of its neighbours {} moves"
        self.learnt = yield from asked(orient(self.graph, settable=self.settable), for_graph, why)
        why = "to see whether {} moves the reward"
        result = yield from asked(self._search(self.learnt), for_reward, why)
        self._found = result.reward_variables
        if not self._found:
            self._fallback = result.note or "the answers left no candidate for the reward variable"

    def _new_evidence(self, needs: Requirements) -> Evidence:
        evidence = EVIDENCE[self.evidence](self.states, self.settable, self.marginals, needs)
        evidence.records = self._records
        return evidence

    def _search(self, graph: EssentialGraph) -> search.Search:
        if self.max_parents > 1:
            return search.multiple(graph, settable=tuple(self.settable), priority=self.priority)
        return search.sound(graph, settable=tuple(self.settable), priority=self.priority)


def _effect_gap_over_undirected(truth: CausalSystem, graph: EssentialGraph) -> float:
    """Return ε over the graph's undirected edges that exist in the truth, the gap for orienting them."""
    model, undirected = truth.model, {frozenset(edge) for edge in graph.undirected}
    names = model.variables
    edges = [(a, b) for a, b in gaps.all_edges(model) if frozenset((names[a], names[b])) in undirected]
    every_state = {variable: range(states) for variable, states in enumerate(model.cards)}
    return gaps.effect_gap(ExactInference(model), edges, every_state)
