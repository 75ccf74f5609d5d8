"""Screening, then MOSS: rule out sets of variables by all rows until only the reward's parents are left.

It needs neither a graph nor gaps, only that each row has all variables and the reward (the feedback of Lu,
Meisami & Tewari 2021). The test and its proof are in `cb_pgm.evidence.screening`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.evidence.cover import Cover
from cb_pgm.evidence.invariance import InvarianceScreening
from cb_pgm.evidence.screening import Screening
from cb_pgm.evidence.separation import RecentRows
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arms import ArmTotals, joint_arms, single_variable_arms
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.identified_play import IdentifiedPlay
from cb_pgm.policies.question_cost import QuestionCost

__all__ = ["ScreeningUCB"]

# Rows of one pull that are tested: thousands under one arm teach little more, and leaving some out, by a rule
# that doesn't look at them, keeps the test valid.
_MOST_TESTED = 256
# The difference between setting and seeing, in units of the rewards' range (2σ), that the rows must have been
# able to show before parents count as identified rather than assumed.
_DIFFERENCE = 0.1
# Times √(arms · rounds), beyond as many as there are arms: the most rounds spent on telling sets apart; over
# max_parents, so that more sizes of sets cost no more.
_SHARE = 1.5
# Rounds per arm during which only the survivors' arms are played; all arms are if several sets last longer.
_PATIENCE = 32
# The largest cost of separating pulls, relative to what an index policy is going to pay.
_TEST_SHARE = 0.5
# The largest cost of questions once no set is left, relative to that of all other rounds, and of those that
# will be answered at a cost below the second share.
_COST_SHARE, _COST_SHARE_TO_END = 0.3, 0.6
_ASK_AGAIN = 1.02  # growth of the rows after which a question that wasn't affordable is considered again
# Growth of the rows during which the last set has to survive alone before it is identified: false ones fall
# one after the other, and the last of them is no better than those before it.
_ALONE = 2.0


class ScreeningUCB(Policy):
    """Rule out every set of variables that can't be the reward's parents; play MOSS on the remaining one.

    While several sets are left, it pulls the arm that best separates, for its cost, the leader (the surviving
    set that predicts best) from the challenger (the surviving set that is hardest to rule out), as long as
    this pays: in as many rounds as there are arms, which MOSS would need for its first pass anyway, and later
    whenever the rounds still needed are fewer than those played. In all other rounds it plays anytime MOSS
    over the survivors' arms, or over all arms once there have been 32 rounds per arm or if a survivor has
    states that can't be set. If no set explains the reward, separating pulls need not have the expected
    effect. Therefore, beyond a first pass, at most 1.5√(arms · t)/max_parents of t rounds are separating
    pulls, and they cost at most half of what an index policy is going to pay (`QuestionCost`).

    Once one set is left, its arms are played by all rows with its states, set or observed. It is the only set
    of its size that could explain the reward alone. Other arms may stay open (`IdentifiedPlay`), and the test
    goes on. If the last set is ruled out too, rows in which a state was only observed no longer count:
    anytime MOSS goes on over all arms, including do(), each by the rows in which it was set.
    The likely reason is a hidden cause of the reward that other variables show. So invariance screening
    (`cb_pgm.evidence.invariance`) looks for the set of `max_parents` variables that explains everything that
    interventions change. If one is left, and each of its variables was set often enough to have shown a
    difference between setting and seeing it, it is identified and `fallback` says so; the arms are played as
    before. Until then about a quarter of the regret, at most, is paid for pulls that tell apart what is left,
    or three eighths where an answer is within reach (`QuestionCost`). The result is right as long as the
    reward has that many observed parents, and no hidden cause of the reward reaches them or their ancestors.

    Parameters
    ----------
    states, settable
        As in `Policy`.
    failure_prob
        δ, shared out by `budget`: half bounds the probability that screening ever rules out the true parents,
        in equal shares for each size of set; an eighth is for invariance screening, an eighth for closing
        arms and a quarter for the intervals.
    noise_scale
        σ of the reward under every arm.
    parent_noise_scale
        σ of the reward given its parents, which may be smaller than `noise_scale`; None: `noise_scale`.
    max_parents
        The largest number of parents to consider: sets of two are screened once all single variables are
        ruled out, and so on. Every row counts for every size.

    Raises
    ------
    PolicyError
        If `max_parents` is out of range, or there are too many sets to screen (`Screening`).

    Notes
    -----
    O(n^p) a round for sets of p variables; about 5 µs at n = 100 and single variables.
    """

    name = "screening"
    learns_from_any_row = True
    takes_unknown_fields = True

    # Whether invariance screening follows once no set is left. Where a search on the graph follows, it
    # doesn't, and screening has its share of δ.
    _follows_by_invariance = True

    def __init__(
        self,
        states: States,
        *,
        failure_prob: float = 0.05,
        noise_scale: float = 1.0,
        parent_noise_scale: float | None = None,
        max_parents: int = 1,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        if not 1 <= max_parents <= len(self.states):
            raise PolicyError(
                f"Expected max_parents from 1 to {len(self.states)} variables but found {max_parents}"
            )
        eighth = failure_prob / 8
        self._budget = FailureBudget(
            identification=4 * eighth,
            invariance=eighth if self._follows_by_invariance else 0.0,
            verification=eighth if self._follows_by_invariance else 2 * eighth,
            intervals=2 * eighth,
        )
        self.parent_noise_scale = (
            self.noise_scale if parent_noise_scale is None else float(parent_noise_scale)
        )
        self.max_parents = max_parents
        self._variables = tuple(self.states)
        self._n_states = [len(values) for values in self.states.values()]
        self._new_screening(max_parents)  # refuses here what would be refused in the middle of a run

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        known = {"max_parents": context.max_parents, "parent_noise_scale": context.parent_noise_scale}
        return super().from_context(context, failure_prob=context.failure_prob, **(known | settings))

    @property
    def budget(self) -> FailureBudget:
        return self._budget

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return self._named

    @property
    def grounds(self) -> str | None:
        if not self._named:
            return None
        if self._invariance is not None:
            return "identified"  # it isn't before it was set often enough
        position = int(np.flatnonzero(self.screening.surviving)[0])
        shown = _would_show(self.screening.set_rows(position), self.screening.threshold)
        return "identified" if shown else "assumed"

    @property
    def fallback(self) -> str | None:
        return self._fallback

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables not ruled out, of the size under test."""
        test = self._invariance or self.screening
        return tuple(self._names(row) for row in test.candidates[test.surviving])

    def rules_out(self, variables: Collection[str]) -> bool:
        """Return whether the rows seen rule out that these variables hold all the reward's parents."""
        screening = self.screening
        if len(variables) != screening.set_size:
            # Larger sets come up once all smaller ones are ruled out; nothing is known of those to come.
            return len(variables) < screening.set_size
        wanted = sorted(self._variables.index(variable) for variable in variables)
        position = int(np.flatnonzero((screening.candidates == wanted).all(axis=1))[0])
        return not screening.surviving[position]

    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        for totals in (self._arms, self._joint_arms):
            for arm, rows, mean in totals:
                if arm:
                    yield arm, rows, mean

    def means_if_identified(self) -> Iterable[tuple[Intervention, int, float]]:
        if self._play is None:
            return
        for arm, rows, mean in self._play.arms:
            if not self._play.is_outsider(arm):
                yield arm, rows, mean

    # -- state -----------------------------------------------------------------------------------------------

    def _begin(self, rng: np.random.Generator) -> None:
        arms = single_variable_arms(self.settable)
        self._arms = ArmTotals(arms)
        self._pulls = [Pull(arm) for arm in arms]
        self._codes_of = {arm: self._coded(arm) for arm in arms}
        self._pull_of = {self._codes_of[pull.intervention]: pull for pull in self._pulls}
        self._settable_codes = np.zeros((len(self.states), max(self._n_states)), dtype=np.bool_)
        codes = np.array(list(self._codes_of.values()), dtype=np.int64).reshape(-1, 2)
        self._arm_codes = codes[:, 0], codes[:, 1]  # of the arms in their order
        self._settable_codes[self._arm_codes] = True
        self._recent = RecentRows(self._n_states)
        self.screening = self._new_screening(1)
        self._telling: set[Intervention] = set()  # arms last asked for to tell sets apart
        self._telling_rounds = 0
        self._tests = QuestionCost(_TEST_SHARE, self.noise_scale)  # while sets are left
        self._questions = QuestionCost(_COST_SHARE, self.noise_scale, _COST_SHARE_TO_END)  # once none is
        self._left = -1
        self._told_apart: tuple[tuple[int, ...], tuple[int, ...]] | None = None
        self._named: tuple[str, ...] = ()
        self._fallback: str | None = None
        self._no_set_explains = ""  # what `fallback` says first
        self._invariance: InvarianceScreening | None = None
        self._alone_at = 0  # rows after which invariance screening had a single set left
        self._ask_again_at = 0.0
        self._arm_numbers: dict[tuple[tuple[int, ...], int], int] = {}  # by variables and states set
        self._set_rows: NDArray[np.int64] = np.zeros(len(self.states), dtype=np.int64)  # per variable
        self._play: IdentifiedPlay | None = None
        self._joint_arms = ArmTotals(())  # of the parents, by the rows in which they were set
        self._observed = ArmTotals((Intervention(),))
        self._open_arms: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None

    def _new_screening(self, set_size: int) -> Screening:
        return Screening(self._n_states, set_size, self._naming_share, self.parent_noise_scale)

    @property
    def _naming_share(self) -> float:
        return self._budget.identification / self.max_parents

    def _coded(self, arm: Intervention) -> tuple[int, int]:
        ((variable, state),) = arm.items()
        return self._variables.index(variable), self.states[variable].index(state)

    def _set_in(self, intervention: Intervention) -> tuple[int, ...]:
        """Return the positions of the variables that it sets, in ascending order."""
        known = self._codes_of.get(intervention)
        if known is not None:
            return (known[0],)
        return tuple(sorted(self._variables.index(name) for name in intervention))

    def _names(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._variables[position] for position in positions)

    # -- choosing --------------------------------------------------------------------------------------------

    def _next_pull(self) -> Pull:
        return self.telling_apart({}) or self._playing()

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        pull = self.telling_apart(under_way)
        if pull is not None:
            return pull
        with (self._play or self._arms).counting(under_way):
            return self._playing()

    def _playing(self) -> Pull:
        if self._play is not None:
            pull = self._pull_for[self._play.next_arm()]
        else:
            patient = self._arms.rounds < _PATIENCE * len(self._pulls)
            open_arms = self._open_arms if patient else None
            pull = self._pulls[self._arms.highest_moss(self.noise_scale, open_arms)]
        self._telling.discard(pull.intervention)
        return pull

    def telling_apart(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        """Return the pull that best tells leader from challenger; None where that doesn't pay."""
        self._told_apart = None
        if self._invariance is not None:
            return self._telling_causes(self._invariance, under_way)
        if self._left < 1 or (self._left == 1 and self.max_parents == 1):
            return None
        rounds, arms = self._arms.rounds, len(self._pulls)
        if self._telling_rounds > arms + _SHARE / self.max_parents * math.sqrt(arms * rounds):
            return None
        pair = self._leader_and_challenger()
        if pair is None:
            return None
        leader, challenger = pair
        screening = self.screening
        first, second = screening.expert(leader), screening.expert(challenger)
        gaps, typical = self._tests.cautious_gaps(self._arms)
        # With the typical gap added, an arm that may be the best one isn't asked however little it tells.
        costs = self._costs(gaps + typical)
        arm, by_cost = self._recent.best_arm(
            list(dict.fromkeys((*first, *second))),
            self._settable_codes,
            (first, screening.predictions(leader)),
            (second, screening.predictions(challenger)),
            costs,
        )
        difference = by_cost * float(costs[arm])
        missing = (screening.threshold - screening.margins()[challenger]) * 2.0 * self.parent_noise_scale**2
        if missing > difference * max(rounds, arms):
            return None
        pull = self._pull_of[arm]
        if under_way and missing <= difference * under_way.get(pull.intervention, 0):
            return None  # what is under way will do
        if not self._tests.below_index(pull, self._arms):
            return None
        self._told_apart = first, second
        self._telling.add(pull.intervention)
        return pull

    def _telling_causes(
        self, test: InvarianceScreening, under_way: Mapping[Intervention, int]
    ) -> Pull | None:
        """Return the pull that best tells apart, for its cost, what invariance screening has left.

        None once a set is identified, where no arm tells the sets apart, or where it isn't affordable.
        """
        if self._named or test.rows < self._ask_again_at:
            return None
        left = np.flatnonzero(test.surviving)
        leader = int(left[np.argmin(test.fits()[left])])
        others = left[left != leader]
        challenger = int(others[np.argmin(test.margins()[others])]) if len(others) else leader
        costs = self._costs(self._questions.likely_gaps(self._arms))
        to_end = math.inf
        first, second = (tuple(int(v) for v in test.candidates[place]) for place in (leader, challenger))
        if challenger == leader:
            # Only rows in which its variables are set are missing.
            allowed = np.where(self._settable_codes, costs, np.inf)[list(first)]
            if not np.isfinite(allowed).any():
                return None
            row, cheapest = divmod(int(np.argmin(allowed)), allowed.shape[1])
            arm = first[row], cheapest
        else:
            arm, worth = self._recent.best_arm(
                list(dict.fromkeys((*first, *second))),
                self._settable_codes,
                (first, test.predictions(leader)),
                (second, test.predictions(challenger)),
                costs,
            )
            if worth > 0:
                missing = test.threshold - float(test.margins()[challenger])
                to_end = missing * 2.0 * self.noise_scale**2 / worth
        pull = self._pull_of.get(arm)
        if pull is None or not self._questions.affords(pull, self._arms, to_end):
            self._ask_again_at = _ASK_AGAIN * test.rows
            return None
        if pull.intervention in under_way:
            return None
        self._told_apart = first, second
        self._telling.add(pull.intervention)
        return pull

    def _costs(self, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what a round of each arm costs, float64 [n, K], positive, from the gaps of all arms."""
        costs = np.ones(self._settable_codes.shape)
        costs[self._arm_codes] = np.maximum(gaps[: len(self._codes_of)], 1e-9 * self.noise_scale)
        return costs

    def affords(self, pull: Pull) -> bool:
        """Return whether another question costs little enough beside the rounds that aren't questions."""
        return self._questions.affords(pull, self._arms)

    def charge(self, intervention: Intervention, rows: int) -> None:
        """Count rows of a question that another policy on the same rows asked."""
        self._questions.add(intervention, rows)

    def why(self, pull: Pull) -> str:
        if self._told_apart is not None:
            first, second = (" and ".join(self._names(positions)) for positions in self._told_apart)
            if first == second:
                return f"to set {first}, the only cause left, often enough"
            return f"it best tells {first}, the likeliest cause, from {second}, the likeliest other one"
        arms = self._play.arms if self._play is not None else self._arms
        text = f"the highest upper confidence bound: {arms.describe(pull.intervention, self.mean_text)}"
        if self._play is not None and self._play.is_outsider(pull.intervention):
            text += f"; {' and '.join(pull.intervention)} may still move the reward"
        return text

    def _leader_and_challenger(self) -> tuple[int, int] | None:
        """Return the experts to tell apart, as positions in `Screening.losses`."""
        screening = self.screening
        left = np.flatnonzero(screening.surviving)
        losses = screening.losses()
        if len(left) == 1:
            # One is left: only a larger set that predicts better can still rule it out.
            leader = int(np.argmin(losses))
            return (leader, int(left[0])) if leader >= len(screening.surviving) else None
        leader = int(left[np.argmin(losses[left])])
        others = left[left != leader]
        return leader, int(others[np.argmin(screening.margins()[others])])

    # -- learning --------------------------------------------------------------------------------------------

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        tested = _MOST_TESTED if super().warm_start(intervention, observations) else 0
        if not intervention:
            self._observed.add(intervention, observations.rewards)
        self._test(intervention, observations.codes[tested:], observations.rewards[tested:])
        return True

    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        self._learn_rewards(intervention, observations.rewards)
        codes, rewards = observations.codes, observations.rewards
        if len(rewards) > _MOST_TESTED:
            codes, rewards = codes[:_MOST_TESTED], rewards[:_MOST_TESTED]
        self._test(intervention, codes, rewards)

    def _learn_rewards(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Count rows for their arm; without every variable's state they aren't tested."""
        self._arms.add(intervention, rewards)
        if not intervention:
            self._observed.add(intervention, rewards)
        elif len(intervention) > 1:
            self._joint_arms.add(intervention, rewards)
        if self._play is not None:
            self._play.add(intervention, rewards)
        if intervention in self._telling:
            if self._fallback is None:
                self._telling_rounds += len(rewards)
                self._tests.add(intervention, len(rewards))
            else:
                self._questions.add(intervention, len(rewards))

    def _test(
        self, intervention: Intervention, codes: NDArray[np.int16], rewards: NDArray[np.float64]
    ) -> None:
        if self._fallback is not None:
            if self._invariance is not None:
                if not self._named:
                    self._recent.add(codes, self._codes_of.get(intervention))
                set_variables = self._set_in(intervention)
                self._set_rows[list(set_variables)] += len(rewards)
                arms = self._numbered_arms(set_variables, codes)
                self._test_invariance(self._invariance, codes, rewards, arms)
            return
        if self._left != 1 or self.max_parents > 1:  # else nothing is left to be told apart
            self._recent.add(codes, self._codes_of.get(intervention))
        self.screening.observe(codes, rewards, self._set_in(intervention))
        if self.screening.left != self._left:
            self._take_stock()

    def _take_stock(self) -> None:
        """Name the set that is left, go on with larger sets when none is, or give up at the largest."""
        while self.screening.left == 0 and self.screening.set_size < self.max_parents:
            size = self.screening.set_size + 1
            self.screening = self.screening.larger(size, self._naming_share)
        left = self._left = self.screening.left
        self._named = self.candidates[0] if left == 1 else ()
        self._play = self._open_arms = None
        if left == 0:
            self._give_up()
        elif left == 1:
            self._play_parents()
        else:
            open_variables = set(self._names(self.screening.candidates[self.screening.surviving].ravel()))
            if self._all_settable(open_variables):
                self._open_arms = np.array([next(iter(arm)) in open_variables for arm in self._arms.arms])

    def _give_up(self) -> None:
        """Go over to MOSS on all arms and do(), by the rows in which each was done."""
        most = self.max_parents
        sets = "single variable explains" if most == 1 else f"{most} variables explain"
        if self.screening.fell_by_regime:
            reason = "rows in which its states were set differ from those in which they were seen: " + (
                "a hidden common cause, a selection of rows, or a drift"
            )
        else:
            reason = "it has more parents, a hidden cause that other variables show, or a larger noise scale"
        self._fallback = self._no_set_explains = f"no {sets} the reward alone: {reason}"
        before = self._arms
        self._arms = ArmTotals((*before.arms, Intervention()))
        self._arms.rows[:] = np.append(before.rows, self._observed.rows)
        self._arms.totals[:] = np.append(before.totals, self._observed.totals)
        self._arms.rounds = max(before.rounds, int(self._arms.rows.sum()))
        self._arms.in_unit_interval = before.in_unit_interval and self._observed.in_unit_interval
        self._pulls = [*self._pulls, Pull(Intervention())]
        if self._follows_by_invariance:
            self._follow_by_invariance()

    def _follow_by_invariance(self) -> None:
        """Begin invariance screening, with the rows that screening has kept."""
        codes, rewards, was_set = self.screening.log()
        settings, set_variables = self.screening.log_settings()
        arms = np.empty(len(rewards), dtype=np.int64)
        for number, variables in enumerate(set_variables):
            rows = np.flatnonzero(settings == number)
            arms[rows] = self._numbered_arms(variables, codes[rows])
        # σ given the parents may leave out what the hidden cause adds, so it is that under every arm.
        self._invariance = InvarianceScreening(
            self._n_states, self.max_parents, self._budget.invariance, self.noise_scale
        )
        self._set_rows = was_set.sum(axis=0)
        self._test_invariance(self._invariance, codes, rewards, arms)

    def _numbered_arms(self, variables: tuple[int, ...], codes: NDArray[np.int16]) -> NDArray[np.int64]:
        """Return the number of each row's arm, int64 [m], where `variables` were set in all rows."""
        states = np.zeros(len(codes), dtype=np.int64)
        for variable in variables:
            states = states * max(self._n_states) + codes[:, variable]
        numbers = np.empty(len(codes), dtype=np.int64)
        for state in np.unique(states):
            key = variables, int(state)
            numbers[states == state] = self._arm_numbers.setdefault(key, len(self._arm_numbers))
        return numbers

    def _test_invariance(
        self,
        test: InvarianceScreening,
        codes: NDArray[np.int16],
        rewards: NDArray[np.float64],
        arms: NDArray[np.int64],
    ) -> None:
        left = test.left
        test.observe(codes, rewards, arms)
        if left > 1 == test.left:
            self._alone_at = test.rows
        if test.left == 0:
            self._named, self._fallback, self._invariance = (), self._no_set_explains, None
        elif test.left == 1 and not self._named and test.rows >= _ALONE * self._alone_at:
            (left,) = test.candidates[test.surviving]
            # A variable that shows the hidden cause may be left for want of rows in which it was set.
            if _would_show(int(self._set_rows[left].min()), test.threshold):
                self._named = self._names(left)
                only = "is the only variable" if len(self._named) == 1 else "are the only variables"
                explain = f"{' and '.join(self._named)} {only} whose states explain what interventions change"
                self._fallback = f"{self._no_set_explains}; {explain}"

    def _all_settable(self, variables: Iterable[str]) -> bool:
        """Return whether all states of `variables` can be set.

        A state that can't be set may be reached through other variables, so that all arms stay open.
        """
        return all(len(self.settable.get(name, ())) == len(self.states[name]) for name in variables)

    def _play_parents(self) -> None:
        """Go over to the parents' joint states; every row that had them counts, whatever was done."""
        if not self._all_settable(self._named):
            return
        position = int(np.flatnonzero(self.screening.surviving)[0])
        counts, totals = self.screening.seen(position)
        known = {arm: arm for arm in self._arms.arms}  # the same objects: look-ups needn't compare contents
        arms = [known.get(arm, arm) for arm in joint_arms(self.states, self._named)]
        parents = ArmTotals(arms)
        stride = max(self._n_states)
        for index, arm in enumerate(arms):
            states = [self.states[name].index(arm[name]) for name in self._named]
            cell = sum(state * stride**power for power, state in enumerate(states))
            parents.rows[index], parents.totals[index] = int(counts[cell]), totals[cell]
        parents.rounds = max(self._arms.rounds, int(parents.rows.sum()))
        parents.in_unit_interval = self._arms.in_unit_interval and self._observed.in_unit_interval
        if len(self._named) > 1:
            self._joint_arms = ArmTotals(arms)
        self._play = self.play_on(self._named, parents)
        self._pull_for = {arm: Pull(arm) for arm in (*arms, *self._arms.arms)}

    def play_on(self, variables: Sequence[str], parent_arms: ArmTotals) -> IdentifiedPlay:
        """Return the play on the arms of identified variables, with the cover that the rows tested give."""
        parents = [self._variables.index(name) for name in variables]
        share = self._budget.verification
        cover = Cover(self._n_states, parents, share, self.parent_noise_scale)
        screening, covered = self.screening, 0
        gaps, _ = self._questions.cautious_gaps(self._arms)

        def refresh() -> None:
            nonlocal covered
            codes, rewards, was_set = screening.log(covered)
            cover.add(codes, rewards, was_set)
            covered += len(rewards)

        return IdentifiedPlay(
            parent_arms,
            self._arms,
            np.column_stack(self._arm_codes),
            parents,
            cover,
            refresh,
            share,
            self.noise_scale,
            float(gaps @ self._arms.rows),
        )


def _would_show(set_rows: int, threshold: float) -> bool:
    """Return whether so many set rows would show a difference of `_DIFFERENCE` from rows seen.

    A difference d is worth d²/2σ² nats a row set.
    """
    return set_rows * _DIFFERENCE**2 * 2.0 >= threshold
