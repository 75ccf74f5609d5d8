"""CN-UCB: find the reward variable by interventions on central nodes, then play UCB on it alone.

Source: Lu, Meisami & Tewari (2021), Algorithm 1 (trees), the forest algorithm of the appendix, and Algorithm
2. The searches are in `cb_pgm.search`, what their answers cost in `cb_pgm.evidence`; this policy joins the
two.

The guard is ours. Graphs are estimated and gaps are guessed, so the result may be wrong. The pulls already
made tell, at no cost, whether the variable named can be the reward's only parent
(`cb_pgm.evidence.screening`). Once they say no, with failure probability δ, the policy says so and goes on by
screening, which knows all that was seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from cb_pgm import search
from cb_pgm.errors import PolicyError
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arms import ArmTotals, joint_arms, single_variable_arms
from cb_pgm.policies.graph_policy import EVIDENCE, GraphPolicy
from cb_pgm.policies.screening_ucb import ScreeningUCB
from cb_pgm.search.trace import QueryRecord, SearchTrace
from cb_pgm.wording import listed

if TYPE_CHECKING:
    from discovery.estimation.marginals import Marginals
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["CNUCB"]


class CNUCB(GraphPolicy):
    """Central Node UCB.

    Parameters
    ----------
    graph
        The essential graph over the variables, the reward left out; true or estimated.
    states
        Every variable's states, in the order in which observations code them.
    marginals
        P(X) from observations, exact or estimated.
    reward_gap, effect_gap
        Δ of Assumption 3 and ε of Assumption 2. Where the reward variable's own chain component and those not
        upstream of it can be set, the effective gaps are enough (`CausalSystem.effective_gaps`).
    failure_prob
        δ: the probability with which a wrong variable may be named.
    noise_scale
        σ, as in `Policy`.
    evidence
        "fixed" is the paper's B pulls an arm; "sequential", with the same guarantee, stops as soon as an
        answer is certain: on random trees after about a tenth of the pulls.
    variant
        "sound" searches trees and forests by the paper's mended algorithms and everything else by the search
        that is right on every graph; "paper" keeps to Algorithm 2, mended, which ends in a clique.
    max_parents
        More than one: go on after the first reward variable until no further one is found
        (`search.multiple`), then play UCB over their joint states.
    settable
        As in `Policy`.
    priority
        The order in which to search chain components that the graph leaves open.

    Raises
    ------
    PolicyError
        If the graph, states and marginals don't hold the same variables, or a setting is out of range.
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
        evidence: Literal["fixed", "sequential"] = "sequential",
        variant: Literal["sound", "paper"] = "sound",
        max_parents: int = 1,
        settable: States | None = None,
        priority: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            graph,
            states,
            marginals,
            reward_gap=reward_gap,
            effect_gap=effect_gap,
            failure_prob=failure_prob,
            noise_scale=noise_scale,
            evidence=evidence,
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

    @property
    def reward_variables(self) -> tuple[str, ...]:
        if self._guarding:
            return self.result.reward_variables if self.result is not None else ()
        return self._guard.reward_variables

    @property
    def fallback(self) -> str | None:
        return self._fallback

    @property
    def story(self) -> SearchTrace:
        return SearchTrace.of(self._asked, self.result, self.graph)

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        if not self._guarding:
            yield from self._guard.means()
        elif self._arms is not None:
            yield from self._arms
        else:
            for intervention, record in self._evidence.records:
                if intervention:
                    yield intervention, record.rows, record.mean

    def _begin(self, rng: np.random.Generator) -> None:
        self.result: search.SearchResult | None = None
        self._fallback: str | None = None
        self._arms: ArmTotals | None = None
        self._rounds = 0
        self._asked: list[QueryRecord] = []
        self._asked_until = 0
        self._guard = ScreeningUCB(
            self.states,
            failure_prob=self.requirements.failure_prob,
            noise_scale=self.noise_scale,
            max_parents=self.max_parents,
            settable=self.settable,
        ).fresh(rng)
        self._guarding = True
        self._evidence = EVIDENCE[self.evidence](
            self.states, self.settable, self.marginals, self.requirements
        )
        self._search = self._chosen_search()
        impossible = self._evidence.impossible()
        if impossible is not None:
            self._play_ucb(single_variable_arms(self.settable), impossible)
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
        """Give the search its answer and take up its next query, or its result."""
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

    def _next_pull(self) -> Pull:
        while self._arms is None:
            pull = self._evidence.next_pull()
            if pull is not None:
                return pull
            self._advance(self._evidence.probe())
        if not self._guarding:
            return self._guard.ask()
        return self._pulls[self._arms.highest_moss(self.noise_scale)]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        wanted = self._next_pull()  # takes up the next query if what was told since has answered the last one
        if self._arms is None:
            missing = wanted.size - under_way.get(wanted.intervention, 0)
            if missing > 0:
                return Pull(wanted.intervention, missing)
            return self._evidence.next_pull_beside(under_way)
        if not self._guarding:
            return self._guard.ask_beside(Pull(arm, size) for arm, size in under_way.items())
        with self._arms.counting(under_way):
            return self._pulls[self._arms.highest_moss(self.noise_scale)]

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        if not super().warm_start(intervention, observations):
            # The marginals hold these rows already; the guard can still learn from them.
            self._guard.warm_start(intervention, observations)
        return True

    def why(self, pull: Pull) -> str:
        if not self._guarding:
            return self._guard.why(pull)
        if self._arms is not None:
            return f"the highest upper confidence bound: {self._arms.describe(pull.intervention)}"
        query = self._query
        text = f"to see whether {query.variable} moves the reward"
        if query.undecided:
            text += f", and which of its neighbours: {listed(query.undecided)}"
        return text + (f", with {listed(query.fixed)} held" if query.fixed else "")

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...] | None:
        if not self._guarding or self.result is None:
            return self._guard.candidates
        named = self.result.reward_variables
        return (named,) if named else tuple((candidate,) for candidate in self.result.candidates)

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._rounds += len(observations)
        if self._arms is None:
            self._evidence.add(intervention, observations)
        else:
            self._arms.add(intervention, observations.rewards)
        self._guard.tell(Pull(intervention), observations)
        if self._guarding and self.result is not None and self._contradicted(self.result):
            self._guarding = False
            names = " and ".join(self.result.reward_variables or self.result.candidates)
            self._fallback = (
                f"the rewards seen can't come from {names} alone, so the graph or a gap is wrong: screening"
            )

    def _contradicted(self, result: search.SearchResult) -> bool:
        """Return whether the guard rules out all that the search left: one set, or each single candidate."""
        named = result.reward_variables
        sets = [named] if named else [(candidate,) for candidate in result.candidates]
        return bool(sets) and all(self._guard.rules_out(chosen) for chosen in sets)

    def _finish(self, result: search.SearchResult) -> None:
        self.result = result
        if len(result.reward_variables) > 1:
            self._play_ucb(joint_arms(self.settable, result.reward_variables), None)
            return
        playable = self._playable(result.reward_variables or result.candidates)
        if playable:
            self._play_ucb(single_variable_arms({name: self.settable[name] for name in playable}), None)
        else:
            reason = result.note or "the answers left no candidate for the reward variable"
            self._play_ucb(single_variable_arms(self.settable), reason)

    def _playable(self, candidates: Sequence[str]) -> tuple[str, ...]:
        """Return the variables whose arms must hold the best one, in variable order.

        A candidate's own states, and, where one of them can't be set, those of all its possible ancestors:
        they may be the only way to reach it.
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

    def _play_ucb(self, arms: Sequence[Intervention], fallback: str | None) -> None:
        """Go over to UCB on `arms`, what was seen of them counted."""
        self._fallback = fallback
        self._arms = ArmTotals.of(arms, self._evidence.records, self._rounds)
        self._pulls = [Pull(arm) for arm in self._arms.arms]
