"""Base class of policies that search an essential graph; it validates their settings."""

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
from discovery.wording import listed

if TYPE_CHECKING:
    import networkx as nx

    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["EVIDENCE", "GraphPolicy", "checked_graph"]

#: The kinds of evidence that can answer a search's queries, by name.
EVIDENCE: Mapping[str, type[Evidence]] = {"fixed": FixedEvidence, "sequential": SequentialEvidence}


class GraphPolicy(Policy):
    """A policy that searches an essential graph for the reward's parents.

    Parameters
    ----------
    graph
        The essential graph over the variables without the reward; true or estimated. A DAG of networkx or
        pgmpy stands for its equivalence class.
    states
        Every variable's states, in the order in which observations code them.
    marginals
        P(X) of every variable without intervention, exact or estimated.
    reward_gap, effect_gap
        Δ of Assumption 3, in units of the reward, and ε of Assumption 2, a difference of probabilities.
    failure_prob
        δ: the probability with which a wrong variable may be identified.
    noise_scale
        σ, as in `Policy`.
    evidence
        "fixed" pulls each arm of a query B times, as in the paper. "sequential" has the same guarantee and
        stops once the answer is certain.
    max_parents
        The largest number of parents to identify.
    settable
        As in `Policy`.
    priority
        The order in which to search chain components, where the graph doesn't determine it.

    Raises
    ------
    PolicyError
        If the graph, states and marginals don't have the same variables, or a setting is out of range.
    """

    def __init__(
        self,
        graph: EssentialGraph | nx.Graph[str],
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
        self.graph = checked_graph(self.states, graph, marginals)
        if evidence not in EVIDENCE:
            raise PolicyError(f"Expected evidence to be {listed(EVIDENCE, last='or')} but found {evidence!r}")
        if max_parents < 1:
            raise PolicyError(f"Expected max_parents of at least 1 but found {max_parents}")
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
        made = cls(
            graph,
            context.states,
            marginals,
            failure_prob=context.failure_prob,
            noise_scale=context.noise_scale,
            max_parents=context.max_parents,
            settable=context.settable,
            **(known | settings),
        )
        made.plays_do = context.plays_do
        return made


def checked_graph(
    states: States, graph: EssentialGraph | nx.Graph[str], marginals: Marginals
) -> EssentialGraph:
    """Return the essential graph over the variables of the states and the marginals.

    Raises
    ------
    PolicyError
        If the three don't have the same variables.
    GraphError
        If the graph isn't one (`EssentialGraph.of`).
    """
    from discovery.graphs.essential_graph import EssentialGraph  # late: it imports networkx

    known = EssentialGraph.of(graph)
    for other in (known.nodes, marginals.probabilities):
        odd = sorted(set(states) ^ set(other))
        if odd:
            raise PolicyError(
                f"Expected the graph, the states and the marginals to hold the same variables but "
                f"{listed(map(repr, odd), most=5)} isn't in all of them"
            )
    return known
