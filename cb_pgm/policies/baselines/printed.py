"""CN-UCB as Lu, Meisami & Tewari (2021) print it: Algorithm 1 on trees, 5 on forests, 2 on other graphs.

Nothing is mixed in: the search with its B pulls of each arm comes first, all of δ is its own, and then comes
plain UCB on the arms of what it ended in, until the horizon. Only errors without which it would return
nothing, or never end, are corrected (`cb_pgm/README.md`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from cb_pgm import search
from cb_pgm.evidence.fixed import FixedEvidence
from cb_pgm.model.intervention import Intervention, Pull
from cb_pgm.policies.arms import single_variable_arms
from cb_pgm.policies.baselines.exploration import ExploreThenUCB, asked
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.graph_policy import GraphPolicy

__all__ = ["PrintedCNUCB"]


class PrintedCNUCB(GraphPolicy, ExploreThenUCB):
    """Search by fixed budgets, then play UCB on the K arms of X_R, or on those of a clique.

    Parameters
    ----------
    graph, states, marginals, reward_gap, effect_gap, failure_prob, noise_scale, settable, priority
        As in `GraphPolicy`. The algorithms set every variable, so where a state can't be set UCB over all
        arms is played, as where nothing was found.
    """

    name = "cn-ucb-printed"

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        return super().from_context(context, **({"evidence": "fixed"} | settings))

    def begin(self, rng: np.random.Generator) -> None:
        self._clique: tuple[str, ...] = ()
        super().begin(rng)

    def _explore(self, rng: np.random.Generator) -> Iterator[Pull]:
        evidence = FixedEvidence(self.states, self.settable, self.marginals, self.requirements)
        evidence.records = self._records
        self._fallback = evidence.impossible()
        if self.settable != self.states:
            self._fallback = "the printed algorithms set all states of all variables"
        if self._fallback is None:
            asking = search.general(self.graph, priority=self.priority)
            result = yield from asked(asking, evidence, "to see whether {} moves the reward")
            self._found, self._clique = result.reward_variables, result.candidates

    def _chosen_arms(self) -> tuple[Intervention, ...]:
        """Return the arms of stage 3; do() isn't one of them."""
        names = self._found or self._clique
        if not names:
            self._fallback = self._fallback or "the answers left no candidate for the reward variable"
            return self.possible_arms
        return single_variable_arms({name: self.settable[name] for name in names})
