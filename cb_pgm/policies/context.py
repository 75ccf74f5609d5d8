"""What is known when a policy is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import States

if TYPE_CHECKING:  # networkx and pandas come with them; policies without a graph do without
    from cb_pgm.model.system import CausalSystem
    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["PolicyContext"]


@dataclass(frozen=True)
class PolicyContext:
    """What is known when a policy is made; each policy takes what it needs (`Policy.from_context`).

    Attributes
    ----------
    states, settable, noise_scale
        As in `Policy`.
    failure_prob
        δ, for policies with a guarantee.
    graph, marginals
        The essential graph over the variables and P(X); None for policies that need no graph.
    reward_gap, effect_gap
        Δ and ε for fixed budgets; None where unknown.
    max_parents
        The largest number of parents that the reward may have.
    parent_noise_scale
        σ of the reward given its parents, where it is known to be smaller than `noise_scale`.
    truth
        The system itself, for oracles: policies that know what the others have to find out.
    """

    states: States
    noise_scale: float
    settable: States | None = None
    failure_prob: float = 0.05
    graph: EssentialGraph | None = None
    marginals: Marginals | None = None
    reward_gap: float | None = None
    effect_gap: float | None = None
    max_parents: int = 1
    parent_noise_scale: float | None = None
    truth: CausalSystem | None = None

    @classmethod
    def of_system(
        cls,
        system: CausalSystem,
        graph: EssentialGraph | None,
        marginals: Marginals | None,
        gaps: tuple[float, float],
    ) -> PolicyContext:
        """Return what holds of a system, with the graph and P(X) to play on, and the gaps Δ and ε."""
        reward_gap, effect_gap = gaps
        return cls(
            states=system.states,
            noise_scale=system.noise_scale,
            settable=system.settable,
            graph=graph,
            marginals=marginals,
            reward_gap=reward_gap,
            effect_gap=effect_gap,
            max_parents=max(1, len(system.reward_parents)),
            truth=system,
        )

    def known_graph(self, policy: str) -> tuple[EssentialGraph, Marginals]:
        """Return graph and marginals, or raise PolicyError where there are none."""
        if self.graph is None or self.marginals is None:
            raise PolicyError(
                f"Expected a graph and marginals for {policy} but found none: estimate or give them"
            )
        return self.graph, self.marginals

    def known_gaps(self, policy: str) -> tuple[float, float]:
        """Return Δ and ε, or raise PolicyError where one of them is missing."""
        if self.reward_gap is None or self.effect_gap is None:
            raise PolicyError(
                f"Expected a reward gap and an effect gap for {policy} but found none: give both"
            )
        return self.reward_gap, self.effect_gap

    def known_truth(self, policy: str) -> CausalSystem:
        """Return the system, or raise PolicyError where it isn't known."""
        if self.truth is None:
            raise PolicyError(
                f"Expected a known truth for {policy}, an oracle that knows the reward's parents, but found "
                f"none: use it in studies and rehearsals only"
            )
        return self.truth
