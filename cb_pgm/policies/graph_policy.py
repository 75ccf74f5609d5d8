"""Base class of the policies that work on a graph: their settings, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.base import Evidence, Requirements
from cb_pgm.evidence.fixed import FixedEvidence
from cb_pgm.evidence.sequential import SequentialEvidence
from cb_pgm.model.intervention import States
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.wording import listed

if TYPE_CHECKING:
    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["EVIDENCE", "GraphPolicy"]

#: What the answers to a search's questions may rest on, by name.
EVIDENCE: Mapping[str, type[Evidence]] = {"fixed": FixedEvidence, "sequential": SequentialEvidence}


class GraphPolicy(Policy):
    """A policy that searches an essential graph for the reward's parents.

    Parameters
    ----------
    graph
        The essential graph over the variables, the reward left out; true or estimated.
    states
        Every variable's states, in the order in which observations code them.
    marginals
        P(X) from observations, exact or estimated.
    reward_gap, effect_gap
        Δ of Assumption 3 and ε of Assumption 2.
    failure_prob
        δ: the probability with which a wrong variable may be identified.
    noise_scale
        σ, as in `Policy`.
    evidence
        "fixed" is the paper's B pulls an arm; "sequential", with the same guarantee, stops as soon as an
        answer is certain.
    max_parents
        The largest number of parents that are looked for.
    settable
        As in `Policy`.
    priority
        The order in which to search chain components that the graph leaves open.

    Raises
    ------
    PolicyError
        If the graph, states and marginals don't hold the same variables, or a setting is out of range.
    """

    def __init__(
        self,
        graph: EssentialGraph,
        states: States,
        marginals: Marginals,
        *,
        reward_gap: float,
        effect_gap: float,
        failure_prob: float = 0.05,
        noise_scale: float = 1.0,
        evidence: str = "sequential",
        max_parents: int = 1,
        settable: States | None = None,
        priority: Sequence[str] | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        for other in (graph.nodes, marginals.probabilities):
            odd = sorted(set(self.states) ^ set(other))
            if odd:
                raise PolicyError(
                    f"Expected the graph, the states and the marginals to hold the same variables but "
                    f"{listed(map(repr, odd), most=5)} isn't in all of them"
                )
        if evidence not in EVIDENCE:
            raise PolicyError(f"Expected evidence to be {listed(EVIDENCE, last='or')} but found {evidence!r}")
        if max_parents < 1:
            raise PolicyError(f"Expected max_parents of at least 1 but found {max_parents}")
        self.graph = graph
        self.marginals = marginals
        self.requirements = Requirements(reward_gap, effect_gap, failure_prob, self.noise_scale)
        self.evidence = evidence
        self.max_parents = max_parents
        self.priority = priority

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        graph, marginals = context.known_graph(cls.name)
        reward_gap, effect_gap = context.known_gaps(cls.name)
        known = {"reward_gap": reward_gap, "effect_gap": effect_gap}
        return cls(
            graph,
            context.states,
            marginals,
            failure_prob=context.failure_prob,
            noise_scale=context.noise_scale,
            max_parents=context.max_parents,
            settable=context.settable,
            **(known | settings),
        )
