"""CN-UCB: identify the reward's parents by interventions on central nodes, then play their arms.

Source: Lu, Meisami & Tewari (2021), Algorithm 1 (trees), the forest algorithm of the appendix, and Algorithm
2. The searches are in `cb_pgm.search`, and `cb_pgm.evidence` decides their answers from rows; this policy
combines the two.

Screening (`cb_pgm.evidence.screening`) can use all rows of the search, so both run on the same rows, each
with its share of δ. With evidence="screening", whichever is certain first identifies the parents. Screening
chooses the pulls that best separate the candidate sets while this pays, and the queries of the search get at
most ¼√(A·t) of t rounds for A arms. Once screening has ruled out every set, the reward has more parents than
allowed or a hidden cause, and the search goes on. Its answers compare rows in which a variable was set with
rows under do(), and need no assumption about hidden causes of the reward.

With the other kinds of evidence the search comes first, as in the paper, and screening is a guard. The graph
may be estimated and the gaps guessed, so the result of the search may be wrong. Once the rows contradict it,
`fallback` says so and the policy goes on by screening.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from cb_pgm import search
from cb_pgm.errors import PolicyError
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arms import ArmTotals, joint_arms, single_variable_arms
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.graph_policy import EVIDENCE, GraphPolicy
from cb_pgm.policies.identified_play import IdentifiedPlay
from cb_pgm.policies.screening_ucb import ScreeningUCB
from cb_pgm.search.trace import QueryRecord, SearchTrace

if TYPE_CHECKING:
    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["CNUCB"]

# Times √(arms · rounds): the largest number of rounds on the search's queries while screening has sets left.
_SHARE = 0.25
_ASK_AGAIN = 1.02  # growth of the rounds after which a query that wasn't affordable is tried again


class _Guard(ScreeningUCB):
    """Screening as a guard of a search on the graph, which goes on where screening rules out every set."""

    _follows_by_invariance = False


class CNUCB(GraphPolicy):
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
        δ, divided as in `budget`.
    noise_scale
        σ, as in `Policy`.
    evidence
        "screening" runs screening and the search on the same rows, with sequential evidence for the queries.
        "sequential" runs the search first, each query until its answer is certain. "fixed" pulls each arm of
        a query B times, as in the paper; it has the same guarantee and needs about ten times the pulls on
        random trees.
    variant
        "sound" uses the paper's algorithms for trees and forests, corrected, and a search that is correct on
        every graph otherwise. "paper" uses Algorithm 2, corrected, which ends in a clique.
    max_parents
        The largest number of parents. With more than one, the search goes on after the first parent until it
        finds no further one (`search.multiple`), and then their joint states are played.
    settable
        As in `Policy`.
    priority
        The order in which to search chain components, where the graph doesn't determine it.
    parent_noise_scale
        As in `ScreeningUCB`.

    Raises
    ------
    PolicyError
        If the graph, states and marginals don't have the same variables, a setting is out of range, or
        variant="paper" is used with a variable that can't be set or with more than one parent.
    """

    name = "cn-ucb"

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
        evidence: Literal["screening", "sequential", "fixed"] = "screening",
        variant: Literal["sound", "paper"] = "sound",
        max_parents: int = 1,
        settable: States | None = None,
        priority: Sequence[str] | None = None,
        parent_noise_scale: float | None = None,
    ) -> None:
        super().__init__(
            graph,
            states,
            marginals,
            reward_gap=reward_gap,
            effect_gap=effect_gap,
            failure_prob=failure_prob,
            noise_scale=noise_scale,
            evidence="sequential" if evidence == "screening" else evidence,
            max_parents=max_parents,
            settable=settable,
            priority=priority,
        )
        if variant not in ("sound", "paper"):
            raise PolicyError(f"Expected variant to be sound or paper but found {variant!r}")
        if variant == "paper" and (self.settable != self.states or max_parents > 1):
            raise PolicyError(
                'Expected every variable settable and one parent with variant="paper": use variant="sound"'
            )
        self.variant = variant
        self.parent_noise_scale = parent_noise_scale
        self.screens = evidence == "screening"
        eighth = failure_prob / 8
        if self.screens:
            self._budget = FailureBudget(
                identification=2 * eighth,
                invariance=eighth / 2,
                search=2 * eighth,
                verification=eighth / 2,
                intervals=3 * eighth,
            )
        else:
            self._budget = FailureBudget(
                search=4 * eighth, guard=2 * eighth, verification=eighth, intervals=eighth
            )
        self.requirements = replace(self.requirements, failure_prob=self._budget.search)

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        known = {"parent_noise_scale": context.parent_noise_scale}
        return super().from_context(context, **(known | settings))

    @property
    def budget(self) -> FailureBudget:
        return self._budget

    @property
    def sets_several(self) -> bool:
        return self.max_parents > 1

    @property
    def reward_variables(self) -> tuple[str, ...]:
        if self._result_stands and self.result is not None and not self._guard.reward_variables:
            return self.result.reward_variables
        if self.screens or not self._result_stands:
            return self._guard.reward_variables
        return self.result.reward_variables if self.result is not None else ()

    @property
    def assumption(self) -> str | None:
        named = self.reward_variables
        if not named or not self.screens:
            return super().assumption
        return (
            self._guard.assumption
            if named == self._guard.reward_variables
            else self._guard.assumption_of(named)
        )

    @property
    def fallback(self) -> str | None:
        return self._fallback or (None if self._searching and not self.screens else self._guard.fallback)

    @property
    def story(self) -> SearchTrace:
        return SearchTrace.of(self._asked, self.result, self.graph)

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        for intervention, record in self._evidence.records:
            if intervention:
                yield intervention, record.rows, record.mean

    def means_if_identified(self) -> Iterable[tuple[Intervention, int, float]]:
        return self._guard.means_if_identified() if self.screens or not self._result_stands else ()

    # -- state -----------------------------------------------------------------------------------------------

    def _begin(self, rng: np.random.Generator) -> None:
        self.result: search.SearchResult | None = None
        self._fallback: str | None = None
        self._arms: ArmTotals | None = None  # to be played if the search left several candidates
        self._play: IdentifiedPlay | None = None  # if the search identified the reward's parents
        self._rounds = 0
        self._asked: list[QueryRecord] = []
        self._asked_until = 0
        self._asking = False
        self._query_rounds = 0
        self._ask_again_at = 0
        self._guard = (ScreeningUCB if self.screens else _Guard)(
            self.states,
            failure_prob=2 * (self._budget.identification or self._budget.guard),
            noise_scale=self.noise_scale,
            parent_noise_scale=self.parent_noise_scale,
            max_parents=self.max_parents,
            settable=self.settable,
        ).fresh(rng)
        self._result_stands = True
        self._evidence = EVIDENCE[self.evidence](
            self.states, self.settable, self.marginals, self.requirements
        )
        self._n_arms = len(single_variable_arms(self.settable))
        self._search = self._chosen_search()
        self._searching = True
        impossible = self._evidence.impossible()
        if impossible is not None:
            self._searching = False
            self._fallback = impossible
            self._arms = ArmTotals(self.possible_arms)
        else:
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
        if probe is not None:
            pulls, change = self._rounds - self._asked_until, self._evidence.reward_change(self._query)
            self._asked.append(QueryRecord(self._query, probe, pulls, change))
            self._asked_until = self._rounds
        try:
            query = next(self._search) if probe is None else self._search.send(probe)
        except StopIteration as end:
            self._finish(end.value)
        else:
            self._query: search.Query = query
            self._evidence.begin(query)

    # -- choosing --------------------------------------------------------------------------------------------

    def _next_pull(self) -> Pull:
        self._asking = False
        if self.screens:
            return self._pull_of_both()
        while self._searching:
            pull = self._evidence.next_pull()
            if pull is not None:
                self._asking = True
                return pull
            self._advance(self._evidence.probe())
        return self._playing() if self._plays_result else self._guard.ask()

    def _pull_of_both(self) -> Pull:
        """Return the next pull when screening and the search share the rows."""
        guard = self._guard
        if self._searching and not guard.reward_variables:
            pull = guard.telling_apart({})
            if pull is not None:
                return pull
            while self._searching and self._rounds >= self._ask_again_at:
                pull = self._evidence.next_pull()
                if pull is None:
                    self._advance(self._evidence.probe())
                elif self._affords(pull):
                    self._asking = True
                    return pull
                else:
                    # The rows of other pulls may answer the query by then.
                    self._ask_again_at = math.ceil(_ASK_AGAIN * self._rounds) + 1
        return self._playing() if self._plays_result else guard.ask()

    def _affords(self, pull: Pull) -> bool:
        """Return whether a query's pull costs little enough beside all other rounds.

        While screening has sets left, it is likely to be certain first, so queries get few rounds, too.
        """
        most = _SHARE * math.sqrt(self._n_arms * self._rounds)
        if self._guard.screening.left and self._query_rounds + pull.size > most:
            return False
        return self._guard.affords(pull)

    @property
    def _plays_result(self) -> bool:
        """Whether to play the arms that the search found.

        They aren't played if screening has ruled out every set, since the rows of all arms decide then, nor,
        when the two share the rows, once screening has identified a set.
        """
        guard = self._guard
        if not self.screens:
            return self._result_stands and (guard.screening.left > 0 or self.result is None)
        found = self.result is not None and bool(self.result.reward_variables)
        return found and self._result_stands and guard.screening.left > 1

    def _playing(self) -> Pull:
        if self._play is not None:
            return Pull(self._play.next_arm())
        if self._arms is None:
            raise PolicyError("Expected arms to play once the search has ended but found none")
        return Pull(self._arms.arms[self._arms.highest_moss(self.noise_scale)])

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        if self.screens and not self._plays_result:
            return self._guard.ask_beside(Pull(arm, size) for arm, size in under_way.items())
        asking = self._asking  # of the pending pull, whose rows are still to be counted
        wanted = self._next_pull()  # begins the next query if the rows since have answered the last one
        self._asking = asking
        if self._searching:
            missing = wanted.size - under_way.get(wanted.intervention, 0)
            if missing > 0:
                return Pull(wanted.intervention, missing)
            return self._evidence.next_pull_beside(under_way)
        playing = self._play or self._arms
        if not self._plays_result or playing is None:
            return self._guard.ask_beside(Pull(arm, size) for arm, size in under_way.items())
        with playing.counting(under_way):
            return self._playing()

    def why(self, pull: Pull) -> str:
        if self._asking:
            query = self._query
            text = f"to see whether {query.variable} moves the reward"
            if query.undecided:
                text += f", and which of its neighbours it moves: {', '.join(query.undecided)}"
            return text + (f", with {', '.join(query.fixed)} held fixed" if query.fixed else "")
        if not self._plays_result:
            self._guard.mean_text = self.mean_text
            return self._guard.why(pull)
        arms = self._play.arms if self._play is not None else self._arms
        described = arms.describe(pull.intervention, self.mean_text) if arms is not None else ""
        return f"the highest upper confidence bound: {described}"

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...] | None:
        if not self._result_stands or self.result is None or self._guard.reward_variables:
            return self._guard.candidates
        named = self.result.reward_variables
        return (named,) if named else tuple((candidate,) for candidate in self.result.candidates)

    # -- learning --------------------------------------------------------------------------------------------

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        if not super().warm_start(intervention, observations):
            # The marginals include these rows already, but the guard can still learn from them.
            self._guard.warm_start(intervention, observations)
        return True

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._rounds += len(observations)
        if self._asking:
            self._query_rounds += len(observations)
            self._guard.charge(intervention, len(observations))
        self._evidence.add(intervention, observations)
        playing = self._play or self._arms
        if playing is not None:
            playing.add(intervention, observations.rewards)
        self._guard.tell(Pull(intervention), observations)
        if self._result_stands and self.result is not None and self._contradicted(self.result):
            self._result_stands = False
            names = " and ".join(self.result.reward_variables or self.result.candidates)
            self._fallback = (
                f"the rewards observed can't depend on {names} alone, so the graph or a gap is wrong: "
                f"screening goes on"
            )

    def _contradicted(self, result: search.SearchResult) -> bool:
        """Return whether the guard rules out the search's result: its parents, or every candidate left.

        If the guard rules out every set, its own assumptions are wrong, which doesn't contradict the search.
        """
        if not self._guard.screening.left:
            return False
        named = result.reward_variables
        sets = [named] if named else [(candidate,) for candidate in result.candidates]
        return bool(sets) and all(self._guard.rules_out(chosen) for chosen in sets)

    def _finish(self, result: search.SearchResult) -> None:
        self.result = result
        self._searching = False
        named = result.reward_variables
        playable = named if len(named) > 1 else self._playable(named or result.candidates)
        if not playable:
            self._fallback = result.note or "the answers left no candidate for the reward variable"
            playable = tuple(self.settable)
        if len(named) > 1:
            arms = joint_arms(self.settable, named)
        else:
            arms = single_variable_arms({name: self.settable[name] for name in playable})
        totals = ArmTotals.of(arms, self._evidence.records, self._rounds)
        if named == tuple(playable):
            self._play = self._guard.play_on(named, totals)
        else:
            self._arms = totals

    def _playable(self, candidates: Sequence[str]) -> tuple[str, ...]:
        """Return the variables whose arms include the best one, in variable order.

        These are the candidates and, if a state of a candidate can't be set, all its possible ancestors: an
        intervention on one of them may be the only way to reach that state.
        """
        unsettable = [
            name for name in candidates if len(self.settable.get(name, ())) < len(self.states[name])
        ]
        graph = self.graph.closure()
        return tuple(
            name
            for name in self.settable
            if name in candidates
            or (unsettable and not graph.possible_descendants(name).isdisjoint(unsettable))
        )
