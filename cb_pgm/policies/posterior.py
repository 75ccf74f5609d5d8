"""Posterior sampling over what the reward depends on, and a test that names it.

It needs neither a graph nor gaps, only that each row has all variables and the reward (the feedback of Lu,
Meisami & Tewari 2021). The hypotheses are in `cb_pgm.evidence.hypotheses`, the test and its proof in
`cb_pgm.evidence.screening`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.evidence.hypotheses import Beliefs, Drawn, Hypotheses
from cb_pgm.evidence.invariance import InvarianceFollowUp
from cb_pgm.evidence.records import total_of
from cb_pgm.evidence.screening import Screening, has_power, told_apart
from cb_pgm.evidence.stopping import BASES, Basis, Shortfall, compare_states
from cb_pgm.evidence.tuned import SETS_ALONE, Tuned
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, Pull, States
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE, ArmTotals, joint_arms
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.discriminating import DiscriminatingPulls
from discovery.wording import listed

__all__ = ["PosteriorSampling", "ScreeningUCB"]

_EXPLORE = ("regret", "identify", "best-arm")


class PosteriorSampling(Policy):
    """Draw a set of parents from its posterior, draw mean rewards given its states, and play the best state.

    Thompson sampling as the model has it that the reward depends on one set of at most `max_parents`
    variables and nothing is hidden. Where that holds, hardly any policy loses less; where it doesn't, it
    may lose without end, since what it believes is never tested.

    Parameters
    ----------
    states, settable
        As in `Policy`.
    noise_scale
        σ of the reward under every arm.
    parent_noise_scale
        σ of the reward given its parents, which may be smaller than `noise_scale`; None: `noise_scale`. With
        ½ rewards are expected in [0, 1] and have the logarithmic loss until one lies outside.
    max_parents
        The largest number of parents to consider.
    tuned
        The prior odds of all kinds of hypotheses, and other numbers.

    Attributes
    ----------
    hypotheses
        The posterior (`Hypotheses`); there once the policy has begun.

    Raises
    ------
    PolicyError
        If `max_parents` is out of range, or there are too many variables or joint states (`Hypotheses`).

    Notes
    -----
    O(n^p) a round for sets of up to p variables; `scripts/bench` measures it.
    """

    name = "posterior-sampling"
    learns_from_any_row = True
    takes_unknown_fields = True

    def __init__(
        self,
        states: States,
        *,
        noise_scale: float = 1.0,
        parent_noise_scale: float | None = None,
        max_parents: int = 1,
        settable: States | None = None,
        tuned: Tuned = SETS_ALONE,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        if not 1 <= max_parents <= len(self.states):
            raise PolicyError(
                f"Expected max_parents from 1 to {len(self.states)} variables but found {max_parents}"
            )
        self.parent_noise_scale = (
            self.noise_scale if parent_noise_scale is None else float(parent_noise_scale)
        )
        self.max_parents, self.tuned = max_parents, tuned
        self._variables = tuple(self.states)
        self._new_hypotheses(1)  # refuses here what would be refused in the middle of a run

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        known = {"max_parents": context.max_parents, "parent_noise_scale": context.parent_noise_scale}
        return super().from_context(context, **(known | settings))

    @property
    def sets_several(self) -> bool:
        return self.max_parents > 1

    def _new_hypotheses(self, n_arms: int) -> Hypotheses:
        return Hypotheses(
            [len(values) for values in self.states.values()],
            self.max_parents,
            n_arms,
            self.parent_noise_scale,
            in_unit_interval=self.parent_noise_scale == UNIT_INTERVAL_SCALE,
            tuned=self.tuned,
        )

    def begin(self, rng: np.random.Generator) -> None:
        self._draws, self._seeds = rng, list[int]()
        self._can_be_set = np.array(
            [state in self.settable.get(name, ()) for name, values in self.states.items() for state in values]
            + [self.plays_do]
        )
        self._arms = ArmTotals(self.possible_arms)
        self._arm_pulls = [Pull(arm) for arm in self._arms.arms]
        self._pull_of: dict[Drawn, Pull] = {}
        # The number of each intervention met, arms first, and the positions of the variables that it sets.
        self._numbers: dict[Intervention, tuple[int, tuple[int, ...]]] = {}
        for arm in self._arms.arms:
            self._number(arm)
        self._joint_rows: dict[Intervention, tuple[int, float]] = {}
        self.hypotheses = self._new_hypotheses(len(self._arms.arms))
        self._drawn = Drawn("arms")

    # -- choosing --------------------------------------------------------------------------------------------

    def next_pull(self) -> Pull:
        if not self._seeds:
            self._seeds = self._draws.integers(2**32, size=1024).tolist()
        self._drawn = self.hypotheses.draw(self._seeds.pop(), self._can_be_set)
        return self._pull(self._drawn)

    def _pull(self, drawn: Drawn) -> Pull:
        if drawn.kind == "arms":
            return self._arm_pulls[self._arms.highest_moss(self.noise_scale)]
        pull = self._pull_of.get(drawn)
        if pull is None:
            names = self._variables
            states = {names[place]: self.states[names[place]][state] for place, state in drawn.states}
            pull = self._pull_of[drawn] = Pull(Intervention(states))
        return pull

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        pull = self.next_pull()
        if self._drawn.states:
            return pull  # a further draw spreads by itself
        with self._arms.counting(under_way):
            return self._pull(self._drawn)

    def why(self, pull: Pull) -> str:
        if self._drawn.kind == "arms" or not pull.intervention:
            described = self._arms.describe(pull.intervention, self.mean_text)
            return f"the highest upper confidence bound: {described}"
        state = "these states have" if len(pull.intervention) > 1 else "this state has"
        return f"likely causes: {self.beliefs(3).causes}; {state} the highest draw"

    # -- learning --------------------------------------------------------------------------------------------

    def _number(self, intervention: Intervention) -> tuple[int, tuple[int, ...]]:
        known = self._numbers.get(intervention)
        if known is None:
            positions = tuple(sorted(self._variables.index(name) for name in intervention))
            known = self._numbers[intervention] = len(self._numbers), positions
        return known

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self._arms.add(intervention, observations.rewards)
        if len(intervention) > 1:
            known_rows, total = self._joint_rows.get(intervention, (0, 0.0))
            rows = len(observations.rewards)
            self._joint_rows[intervention] = known_rows + rows, total + total_of(observations.rewards)
        number, positions = self._number(intervention)
        self._add(observations.codes, observations.rewards, positions, number)

    def _learn_rewards(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        codes = np.full((len(rewards), len(self.states)), -1, dtype=np.int16)
        for name, state in intervention.items():
            codes[:, self._variables.index(name)] = self.states[name].index(state)
        self.learn(intervention, Observations(codes, rewards))

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        if not super().warm_start(intervention, observations):
            # Rows that nobody asked for may have been selected, so they aren't rows of the arm do().
            self._add(observations.codes, observations.rewards, (), -1)
        return True

    def _add(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        positions: tuple[int, ...],
        number: int,
    ) -> None:
        """Add rows to the posterior: in a random order, since the one in which they arrive may depend on
        them.
        """
        if len(rewards) > 1:
            order = self._draws.permutation(len(rewards))
            codes, rewards = codes[order], rewards[order]
        if self.hypotheses.add(codes, rewards, positions, number):
            self._take_stock()

    def _take_stock(self) -> None:
        """Take in that the rows have refuted sets."""

    @property
    def _has_unit_rewards(self) -> bool:
        return self.noise_scale == UNIT_INTERVAL_SCALE and self._arms.in_unit_interval

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        yield from self._arms
        for arm, (rows, total) in self._joint_rows.items():
            yield arm, rows, total / rows

    def beliefs(self, most: int = 5) -> Beliefs:
        """Return what is believed now, with the `most` likeliest sets."""
        if self._rng is None:
            self._start()
        return self.hypotheses.beliefs(self._variables, most)


class ScreeningUCB(PosteriorSampling):
    """Draw a hypothesis from its posterior, draw mean rewards under it, and play what is best.

    Beside the sets of up to `max_parents` variables on which alone the reward may depend there are
    hypotheses of how they may be wrong (`cb_pgm.evidence.hypotheses`). Where the arms have nothing in
    common, anytime MOSS chooses among those on one variable and do(). Sets that the anytime test
    (`cb_pgm.evidence.screening`) has refuted aren't drawn, so that a good predictor that isn't a cause
    can't be played for ever.

    The test names: a set that is left alone is identified, state by state, and other variables' states
    aren't. What it names doesn't decide what is played. If no set is left, `fallback` says so, and
    invariance screening (`cb_pgm.evidence.invariance`) looks on the same rows for the set that explains
    what interventions change.

    Parameters
    ----------
    states, settable, noise_scale, parent_noise_scale, max_parents
        As in `PosteriorSampling`.
    failure_prob
        δ, shared out by `budget`: half bounds the probability that the test ever rules out the true
        parents, in equal shares for each size of set; a quarter is for invariance screening, a quarter for
        the intervals.
    explore
        "regret" plays as above. "identify" also pulls what best tells the two likeliest sets apart, within
        a share of the regret so far (`DiscriminatingPulls`). "best-arm" plays for the end of the experiment
        at whatever cost: what tells sets apart as long as several are left, then of the arm that looks best
        and the one that may be better by the most (`shortfall`) the one with fewer rows.
    basis
        Of the comparison with explore="best-arm".
    tuned
        As in `PosteriorSampling`.

    Attributes
    ----------
    hypotheses, screening
        The posterior and the test; there once the policy has begun.

    Raises
    ------
    PolicyError
        As `PosteriorSampling`, or if `explore` is unknown.
    """

    name = "screening"

    def __init__(
        self,
        states: States,
        *,
        failure_prob: float = 0.05,
        noise_scale: float = 1.0,
        parent_noise_scale: float | None = None,
        max_parents: int = 1,
        explore: Literal["regret", "identify", "best-arm"] = "regret",
        basis: Basis = "identified",
        settable: States | None = None,
        tuned: Tuned = Tuned(),  # noqa: B008  # frozen
    ) -> None:
        for name, value, known in (("explore", explore, _EXPLORE), ("basis", basis, BASES)):
            if value not in known:
                raise PolicyError(f"Expected {name} to be {listed(known, last='or')} but found {value!r}")
        super().__init__(
            states,
            noise_scale=noise_scale,
            parent_noise_scale=parent_noise_scale,
            max_parents=max_parents,
            settable=settable,
            tuned=tuned,
        )
        self.explore, self.basis = explore, basis
        self._budget = FailureBudget(
            identification=failure_prob / 2, invariance=failure_prob / 4, intervals=failure_prob / 4
        )

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        known: dict[str, Any] = {"failure_prob": context.failure_prob}
        if context.stop_on is not None:
            known |= {"explore": "best-arm", "basis": context.stop_on}
        return super().from_context(context, **(known | settings))

    @property
    def budget(self) -> FailureBudget:
        return self._budget

    def begin(self, rng: np.random.Generator) -> None:
        super().begin(rng)
        self.screening = Screening(self.hypotheses, self.budget.identification)
        self._questions = DiscriminatingPulls(
            self.hypotheses,
            self.screening,
            self._can_be_set,
            joint=self.sets_several,
            share={"regret": 0.0, "identify": self.tuned.question_share, "best-arm": math.inf}[self.explore],
        )
        self._costs: dict[Intervention, float] = {}  # of a row of each question whose rows are to come
        self._named: tuple[str, ...] = ()
        self._facts: set[int] = set()  # positions of variables that are known not to be parents
        self._fallback: str | None = None
        self._follow_up: InvarianceFollowUp | None = None

    # -- choosing --------------------------------------------------------------------------------------------

    def next_pull(self) -> Pull:
        asked = self._question()
        if asked is None:
            return super().next_pull()
        self._drawn = Drawn("question", asked)
        pull = self._pull(self._drawn)
        self._costs[pull.intervention] = self._questions.cost
        return pull

    def _question(self) -> tuple[tuple[int, int], ...] | None:
        """Return what to set to learn rather than to earn, as positions; None to play by the posterior."""
        if self.explore == "regret":
            return None
        if self.explore == "identify" or (self.basis == "identified" and self.screening.left > 1):
            return self._questions.next(self._arms.rounds) or None
        arm = self.shortfall(self.basis).ask
        return None if arm is None else tuple((v, self._code(v, arm)) for v in self._number(arm)[1])

    def _code(self, variable: int, intervention: Intervention) -> int:
        name = self._variables[variable]
        return self.states[name].index(intervention[name])

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        with self._arms.counting(under_way):
            pull = ScreeningUCB.next_pull(self)
            if self._drawn.kind == "question" and pull.intervention in under_way:
                return super().next_pull()  # the rows to come will do
            return pull

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        # A question may be asked for more rows than one, in a batch.
        self._questions.charge(self._costs.pop(intervention, 0.0) * len(observations))
        super().learn(intervention, observations)

    def why(self, pull: Pull) -> str:
        if self._drawn.kind != "question":
            return super().why(pull)
        first, second = (" and ".join(self._names(positions)) for positions in self._questions.told_apart)
        return f"it best tells {first}, the likeliest cause, from {second}, the likeliest other one"

    def _names(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._variables[position] for position in positions)

    # -- what is identified ----------------------------------------------------------------------------------

    def _add(
        self,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        positions: tuple[int, ...],
        number: int,
    ) -> None:
        follow_up, before = self._follow_up, self.hypotheses.rows.size
        super()._add(codes, rewards, positions, number)
        if follow_up is not None:
            follow_up.observe(self.hypotheses.rows, before)
            self._heed(follow_up)

    def _take_stock(self) -> None:
        """Name the set that is left, or give up where none is."""
        self.screening.update()
        left = self.screening.candidates
        self._named = self._names(left[0]) if len(left) == 1 else ()
        if not left and self._follow_up is None:
            self._give_up()

    def _give_up(self) -> None:
        most, beliefs = self.max_parents, self.beliefs(0)
        sets = "single variable explains" if most == 1 else f"{most} variables explain"
        if beliefs.hidden > beliefs.larger:
            reason = "rows in which its states were set differ from those in which they were observed: " + (
                "a hidden common cause, a selection of rows, or a drift"
            )
        else:
            reason = "it has more parents, a hidden cause that other variables show, or a larger noise scale"
        self._fallback = self._no_set_explains = f"no {sets} the reward alone: {reason}"
        arms = [
            (self._variables.index(name), self.states[name].index(state))
            for arm in self._arms.arms
            for name, state in arm.items()
        ]
        # σ given the parents may leave out what the hidden cause adds, so it is that under every arm.
        self._follow_up = InvarianceFollowUp(
            self.hypotheses, self.budget.invariance, self.noise_scale, arms, self.tuned.alone
        )
        self._follow_up.observe(self.hypotheses.rows, 0)
        self._heed(self._follow_up)

    def _heed(self, follow_up: InvarianceFollowUp) -> None:
        """Name what invariance screening has identified; no more once it has nothing left."""
        self._named, self._fallback = self._names(follow_up.identified), self._no_set_explains
        if self._named:
            only = "is the only variable" if len(self._named) == 1 else "are the only variables"
            explain = f"{' and '.join(self._named)} {only} whose states explain what interventions change"
            self._fallback = f"{self._no_set_explains}; {explain}"

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return self._named

    @property
    def fallback(self) -> str | None:
        return self._fallback

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables not ruled out, of the smallest size of which any is left."""
        if self._follow_up is not None:
            return tuple(self._names(row) for row in self._follow_up.left())
        return tuple(self._names(positions) for positions in self.screening.candidates)

    @property
    def _parents(self) -> list[int]:
        return [self._variables.index(name) for name in self._named]

    def rules_out(self, variables: Collection[str]) -> bool:
        """Return whether the rows so far rule out that these variables hold all the reward's parents."""
        place = self.hypotheses.place(sorted(self._variables.index(variable) for variable in variables))
        return place is not None and bool(self.hypotheses.refuted[place])

    def _shown(self) -> NDArray[np.bool_]:
        """Return which joint states of the set named were set often enough to have shown a difference."""
        place = self.hypotheses.place(self._parents)
        return has_power(self.hypotheses.set_rows(place or 0), self.screening.threshold)

    @property
    def assumption(self) -> str | None:
        if not self._named:
            return None
        parents = self._parents
        if self._follow_up is not None:
            unshown = self._follow_up.unshown()
            return self._too_little(unshown, f"{'was' if len(unshown) == 1 else 'were'} set too seldom")
        best = int(self.hypotheses.means(self.hypotheses.place(parents) or 0).argmax())
        if not self._shown()[best]:
            return "observed, not set often enough to exclude a hidden common cause"
        return self._unvaried(parents)

    def _unvaried(self, parents: Sequence[int]) -> str | None:
        """Say which other variables can't have shown an effect beside the parents; None if all can."""
        told = told_apart(self.hypotheses.rows, self.hypotheses.n_states, parents)
        unshown = [
            place
            for place, rows in enumerate(told)
            if place not in parents
            and place not in self._facts
            and not has_power(rows, self.screening.threshold).all()
        ]
        return self._too_little(unshown, "varied too little")

    def _too_little(self, positions: Sequence[int], what: str) -> str | None:
        if not positions:
            return None
        names, beside = listed(self._names(positions), most=6), " and ".join(self._named)
        return f"{names} {what} to show an effect of a tenth of the rewards' range beside {beside}"

    def means_if_identified(self) -> Iterable[tuple[Intervention, int, float]]:
        if not self._named or self._follow_up is not None:
            return
        place = self.hypotheses.place(self._parents)
        rows, totals = self.hypotheses.seen(place or 0)
        for cell, arm in self._parents_arms(self._parents):
            if rows[cell]:
                yield arm, int(rows[cell]), float(totals[cell] / rows[cell])

    def shortfall(self, basis: Basis = "experimental") -> Shortfall:
        """Return which arm looks best, and the most by which another one may be better, at 1 − δ at any time.

        On the basis "identified" the test must have left one set, and the posterior may doubt that a set
        explains the reward by at most δ: as likely as that something hidden acts, or none of the causes
        looked for. Each state that can be set must have occurred. With several parents allowed, other
        variables must have varied enough to show an effect of a tenth of the rewards' range beside the set.
        """
        if basis == "experimental":
            return super().shortfall(basis)
        if self._rng is None:
            return Shortfall(None, None, math.inf, missing="no arm has been pulled yet")
        if self.screening.left != 1:
            missing = self._fallback or f"{self.screening.left} sets of causes are left"
            return Shortfall(None, None, math.inf, missing=missing)
        (parents,) = self.screening.candidates
        known, place = self.hypotheses, self.hypotheses.place(parents) or 0
        arms = dict(self._parents_arms(parents))
        if not arms:
            return Shortfall(None, None, math.inf, missing="a state of the cause can't be set")
        rows, totals = known.seen(place)
        means = np.divide(totals, rows, out=np.zeros_like(totals), where=rows > 0)
        best, rival, most = compare_states(
            rows,
            means,
            self.budget.intervals,
            self.parent_noise_scale,
            in_unit_interval=self._has_unit_rewards,
        )
        untried = self._untried()
        if untried is not None:
            return Shortfall(arms[best], untried, math.inf, untried, f"{untried} was never tried")
        believed = self.beliefs(1)
        if believed.hidden + believed.arms > self.budget.total:
            return Shortfall(arms[best], None, math.inf, missing="something hidden or further causes may act")
        if self.max_parents > 1 and (unvaried := self._unvaried(parents)):
            return Shortfall(arms[best], None, math.inf, missing=unvaried)
        fewer = best if rows[best] <= rows[rival] else rival
        difference, both = float(means[rival] - means[best]), int(rows[best] + rows[rival])
        return Shortfall(arms[best], arms[rival], most, arms[fewer], difference=difference, rows=both)

    def _untried(self) -> Intervention | None:
        """Return an arm whose state is in no row; None if all have occurred."""
        for variable, name in enumerate(self._variables):
            rows, _ = self.hypotheses.seen(variable)
            for state in self.settable.get(name, ()):
                if not rows[self.states[name].index(state)]:
                    return Intervention({name: state})
        return None

    def _parents_arms(self, parents: Sequence[int]) -> list[tuple[int, Intervention]]:
        """Return the arms on these variables, each with the place of its joint state."""
        names = self._names(parents)
        if any(len(self.settable.get(name, ())) < len(self.states[name]) for name in names):
            return []  # a state that can't be set may be reached through other variables
        arms = joint_arms(self.states, names[::-1])  # the first variable's state changes fastest
        return [(cell, Intervention({name: arm[name] for name in names})) for cell, arm in enumerate(arms)]

    def identified(self, failure_prob: float | None = None) -> tuple[ArmEstimate, ...]:
        """Return the same for the identified parents' arms, from all rows with their states.

        An arm is "identified" if its state was set often enough to have shown a difference from rows in which
        it was observed; until then it is "assumed".
        """
        known = super().identified(failure_prob)
        if not known:
            return ()
        shown = dict(zip((arm for _, arm in self._parents_arms(self._parents)), self._shown(), strict=True))
        varied = self._unvaried(self._parents) is None
        return tuple(
            replace(one, grounds="identified" if varied and shown[one.intervention] else "assumed")
            for one in known
        )
