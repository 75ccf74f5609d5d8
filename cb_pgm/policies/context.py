"""The inputs from which policies are constructed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.stopping import Basis
from cb_pgm.model.intervention import States

if TYPE_CHECKING:  # these import networkx and pandas, which policies without a graph don't need
    from cb_pgm.model.system import CausalSystem
    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["PolicyContext"]


@dataclass(frozen=True)
class PolicyContext:
    """The inputs for constructing any policy; each takes what it needs (`Policy.from_context`).

    Attributes
    ----------
    states, settable, noise_scale
        As in `Policy`.
    failure_prob
        δ, the probability with which any claim of the policy may be wrong.
    graph, marginals
        The essential graph over the variables and P(X); None suffices for policies that need no graph.
    reward_gap, effect_gap
        Δ, in units of the reward, and ε, a difference of probabilities; None if unknown.
    max_parents
        The largest number of parents that the reward may have.
    parent_noise_scale
        σ of the reward given its parents, if it is known to be smaller than `noise_scale`; else None.
    plays_do
        Whether do() is an arm, as in `Policy`.
    stop_on
        The basis on which the experiment ends once the best arm is known; None if it has a horizon alone.
    truth
        The true system, for oracles.
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
    plays_do: bool = True
    stop_on: Basis | None = None
    truth: CausalSystem | None = None

    @classmethod
    def of_system(
        cls,
        system: CausalSystem,
        graph: EssentialGraph | None,
        marginals: Marginals | None,
        gaps: tuple[float, float],
    ) -> PolicyContext:
        """Return the context of a known system, with a graph, P(X), and the gaps Δ and ε."""
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
        """Return graph and marginals, or raise PolicyError if one is missing."""
        if self.graph is None or self.marginals is None:
            raise PolicyError(
                f"Expected a graph and marginals for {policy} but found none: estimate or give them"
            )
        return self.graph, self.marginals

    def known_gaps(self, policy: str) -> tuple[float, float]:
        """Return Δ and ε, or raise PolicyError if one is missing."""
        if self.reward_gap is None or self.effect_gap is None:
            raise PolicyError(
                f"Expected a reward gap and an effect gap for {policy} but found none: give both"
            )
        return self.reward_gap, self.effect_gap

    def known_truth(self, policy: str) -> CausalSystem:
        """Return the true system, or raise PolicyError if it is unknown."""
        if self.truth is None:
            raise PolicyError(
                f"Expected a known truth for {policy}, an oracle that knows the reward's parents, but found "
                f"none: use it in studies and rehearsals only"
            )
        return self.truth
