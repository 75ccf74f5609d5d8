"""CN-UCB: identify the reward's parents by interventions on central nodes, with the play of screening.

Source: Lu, Meisami & Tewari (2021), Algorithm 1 (trees), the forest algorithm of the appendix, and Algorithm
2. The searches are in `cb_pgm.search`, and `cb_pgm.evidence` decides their answers from rows.

The search asks; its rows are rows like any others, and its answers are facts: the sets that they rule out
leave the posterior (`cb_pgm.evidence.hypotheses`), by which the policy plays. The graph may be estimated
and the gaps guessed, so a fact may be wrong. Once the rows refute every set that the facts leave, the facts
are dropped, and `fallback` says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from cb_pgm import search
from cb_pgm.errors import PolicyError
from cb_pgm.evidence.base import Requirements
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.evidence.hypotheses import Drawn
from cb_pgm.evidence.stopping import Basis
from cb_pgm.evidence.tuned import Tuned
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.graph_policy import EVIDENCE, checked_graph
from cb_pgm.policies.posterior import ScreeningUCB
from cb_pgm.search.trace import QueryRecord, SearchTrace

if TYPE_CHECKING:
    import networkx as nx

    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["CNUCB"]


class CNUCB(ScreeningUCB):
    """Central Node UCB.

    Parameters
    ----------
    graph
        The essential graph over the variables without the reward; true or estimated.
    states
        Every variable's states, in the order in which observations code them.
    marginals
        P(X) of every variable without intervention, exact or estimated.
    reward_gap, effect_gap
        Δ of Assumption 3, in units of the reward, and ε of Assumption 2, a difference of probabilities. If
        all variables are settable in the reward variable's chain component and in those not upstream of it,
        the effective gaps suffice (`CausalSystem.effective_gaps`).
    failure_prob
        δ, shared out by `budget`.
    noise_scale
        σ, as in `Policy`.
    evidence
        "screening" asks only what the likeliest set expects to cost nothing; most answers come from rows of
        other pulls. "sequential" asks first, each query until its answer is certain. "fixed" pulls each arm
        of a query B times, as in the paper; it has the same guarantee and needs several times the pulls.
    variant
        "sound" uses the paper's algorithms for trees and forests, corrected, and a search that is correct on
        every graph otherwise. "paper" uses Algorithm 2, corrected, which ends in a clique.
    max_parents
        The largest number of parents. With more than one, the search goes on after the first parent until it
        finds no further one (`search.multiple`).
    settable
        As in `Policy`.
    priority
        The order in which to search chain components, where the graph doesn't determine it.
    parent_noise_scale, explore, basis, tuned
        As in `ScreeningUCB`.

    Raises
    ------
    PolicyError
        If the graph, states and marginals don't have the same variables, a setting is out of range, or
        variant="paper" is used with a variable that can't be set or with more than one parent.
    """

    name = "cn-ucb"
    learns_from_any_row = False  # a query compares rows of its arms with rows under do()
    takes_unknown_fields = False

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
        evidence: Literal["screening", "sequential", "fixed"] = "screening",
        variant: Literal["sound", "paper"] = "sound",
        max_parents: int = 1,
        settable: States | None = None,
        priority: Sequence[str] | None = None,
        parent_noise_scale: float | None = None,
        explore: Literal["regret", "identify", "best-arm"] = "regret",
        basis: Basis = "identified",
        tuned: Tuned = Tuned(),  # noqa: B008  # frozen
    ) -> None:
        super().__init__(
            states,
            failure_prob=failure_prob,
            noise_scale=noise_scale,
            parent_noise_scale=parent_noise_scale,
            max_parents=max_parents,
            explore=explore,
            basis=basis,
            settable=settable,
            tuned=tuned,
        )
        self.graph = checked_graph(self.states, graph, marginals)
        self.evidence = "sequential" if evidence == "screening" else evidence
        if self.evidence not in EVIDENCE:
            raise PolicyError(
                f"Expected evidence to be screening, sequential or fixed but found {evidence!r}"
            )
        if variant not in ("sound", "paper"):
            raise PolicyError(f"Expected variant to be sound or paper but found {variant!r}")
        if variant == "paper" and (self.settable != self.states or max_parents > 1):
            raise PolicyError(
                'Expected every variable settable and one parent with variant="paper": use variant="sound"'
            )
        self.marginals, self.variant, self.priority = marginals, variant, priority
        self.asks_first = evidence != "screening"
        eighth = failure_prob / 8
        self._budget = FailureBudget(
            identification=2 * eighth, invariance=eighth, search=3 * eighth, intervals=2 * eighth
        )
        self.requirements = Requirements(reward_gap, effect_gap, self._budget.search, self.noise_scale)

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        graph, marginals = context.known_graph(cls.name)
        reward_gap, effect_gap = context.known_gaps(cls.name)
        known = {
            "graph": graph,
            "marginals": marginals,
            "reward_gap": reward_gap,
            "effect_gap": effect_gap,
        }
        return super().from_context(context, **(known | settings))

    @property
    def story(self) -> SearchTrace:
        return SearchTrace.of(self._asked, self.result, self.graph)

    # -- state -----------------------------------------------------------------------------------------------

    def begin(self, rng: np.random.Generator) -> None:
        super().begin(rng)
        self.result: search.SearchResult | None = None
        self._asked: list[QueryRecord] = []
        self._asked_until, self._ask_again_at = 0, 0.0
        self._evidence = EVIDENCE[self.evidence](
            self.states, self.settable, self.marginals, self.requirements
        )
        self._fallback = self._evidence.impossible()
        self._search: search.Search | None = None
        if self._fallback is None:
            self._search = self._chosen_search()
            self._advance(None)

    def _chosen_search(self) -> search.Search:
        if self.variant == "paper":
            return search.general(self.graph)
        settable: Collection[str] | None = (
            None if len(self.settable) == len(self.states) else tuple(self.settable)
        )
        if self.max_parents > 1:
            return search.multiple(self.graph, settable=settable, priority=self.priority)
        if settable is None and not self.graph.background and search.is_forest(self.graph):
            return search.forest(self.graph, priority=self.priority)
        return search.sound(self.graph, settable=settable, priority=self.priority)

    def _advance(self, probe: search.Probe | None) -> None:
        """Send the search the answer to its last query, and begin its next query or take its result."""
        if self._search is None:
            return
        try:
            query = next(self._search) if probe is None else self._search.send(probe)
        except StopIteration as end:
            self._search, self.result = None, end.value
            self._take_result(end.value)
        else:
            self._query: search.Query = query
            self._evidence.begin(query)

    def _answer(self, probe: search.Probe) -> None:
        rounds, change = self._arms.rounds, self._evidence.reward_change(self._query)
        self._asked.append(QueryRecord(self._query, probe, rounds - self._asked_until, change))
        self._asked_until = rounds
        if self.max_parents == 1 or not probe.is_ancestor:
            # After a yes about one parent another one may still be anywhere.
            self._exclude(self.story.questions[-1].ruled_out)
        self._advance(probe)

    # -- facts -----------------------------------------------------------------------------------------------

    def _exclude(self, names: Collection[str]) -> None:
        """Leave out the sets that hold one of these variables, since the answers rule it out as a parent."""
        self._facts |= {self._variables.index(name) for name in names}
        holds_one = np.isin(self.hypotheses.sets, [*self._facts])
        self.hypotheses.exclude(np.asarray(holds_one.any(axis=1)))
        self._take_stock()

    def _take_result(self, result: search.SearchResult) -> None:
        left = result.reward_variables or (result.candidates if self.max_parents == 1 else ())
        if left:
            self._exclude([name for name in self._variables if name not in left])
        else:
            self._fallback = self._fallback or result.note

    def _take_stock(self) -> None:
        self.screening.update()
        if not self.screening.left and self._facts:
            # The facts leave only what the rows refute: the graph or a gap is wrong.
            names = " and ".join(self._names(v for v in range(len(self._variables)) if v not in self._facts))
            self._search, self._facts = None, set()
            self.hypotheses.include_all()
            self._fallback = (
                f"the rewards observed can't depend on {names or 'what the search left'} alone, so the graph "
                f"or a gap is wrong: screening goes on"
            )
        super()._take_stock()

    # -- choosing --------------------------------------------------------------------------------------------

    def next_pull(self) -> Pull:
        return self._query_pull({}) or super().next_pull()

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        pull = self._query_pull(under_way)
        if pull is None and self.asks_first and self._search is not None:
            return None  # the next query depends on the pending rows
        return pull or super()._pull_beside(under_way)

    def _query_pull(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        """Return the next pull of the search; None if it has ended, or asks for what would cost something."""
        while self._search is not None and (self.asks_first or self._wants_answers()):
            pull = self._evidence.next_pull()
            if pull is None:
                self._answer(self._evidence.probe())
                continue
            if under_way:
                missing = pull.size - under_way.get(pull.intervention, 0)
                pull = (
                    Pull(pull.intervention, missing)
                    if missing > 0
                    else self._evidence.next_pull_beside(under_way)
                )
            if pull is None:
                return None
            states = tuple((v, self._code(v, pull.intervention)) for v in self._number(pull.intervention)[1])
            if self.asks_first or self._questions.costs_nothing(states, self._arms.rounds):
                self._drawn = Drawn("query", states)
                return pull if self.asks_first else Pull(pull.intervention)  # weighed row by row
            self._ask_again_at = 1.02 * self._arms.rounds + 1  # rows of other pulls may answer it by then
        return None

    def _wants_answers(self) -> bool:
        return self.screening.left > 1 and self._arms.rounds >= self._ask_again_at

    def why(self, pull: Pull) -> str:
        if self._drawn.kind != "query":
            return super().why(pull)
        query = self._query
        text = f"to see whether {query.variable} has an effect on the reward"
        if query.undecided:
            text += f", and on which of its neighbours: {', '.join(query.undecided)}"
        return text + (f", with {', '.join(query.fixed)} held fixed" if query.fixed else "")

    # -- learning --------------------------------------------------------------------------------------------

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self._evidence.add(intervention, observations)
        super().learn(intervention, observations)
