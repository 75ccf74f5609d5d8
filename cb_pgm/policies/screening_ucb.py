"""Screening, then MOSS: rule out sets of variables by all rows until only the reward's parents are left.

It needs neither a graph nor gaps, only that each row has all variables and the reward (the feedback of Lu,
Meisami & Tewari 2021). The test and its proof are in `cb_pgm.evidence.screening`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.evidence.cover import Cover
from cb_pgm.evidence.likelihoods import SetLikelihoods
from cb_pgm.evidence.records import total_of
from cb_pgm.evidence.screening import Screening
from cb_pgm.evidence.separation import RecentRows
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE, ArmTotals, SingleArms, joint_arms
from cb_pgm.policies.base import Policy
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.identified_play import IdentifiedPlay
from cb_pgm.policies.invariance_follow_up import InvarianceFollowUp, would_show
from cb_pgm.policies.likely_play import LikelyPlay
from cb_pgm.policies.question_cost import QuestionCost
from cb_pgm.policies.separating_pulls import SeparatingPulls, ToldApart
from discovery.wording import listed

__all__ = ["ScreeningUCB"]

# Rows of one pull that are tested: thousands under one arm teach little more, and leaving some out, by a rule
# that doesn't look at them, keeps the test valid.
_MOST_TESTED = 256
# The largest cost of questions once no set is left, relative to that of all other rounds, and of those that
# will be answered at a cost below the second share.
_COST_SHARE, _COST_SHARE_TO_END = 0.2, 0.5
_MOST_QUESTIONS = 7 / 8  # of all rounds
_QUERY_SHARE = 0.15  # and that up to which another policy on the same rows may add questions of its own


class ScreeningUCB(Policy):
    """Rule out every set of variables that can't be the reward's parents; play MOSS on the remaining one.

    While several sets are left, most rounds play the best cell of a likely set (`LikelyPlay`): with
    `max_parents` above 1 that sets up to so many variables at once. Some rounds are pulls that best separate
    the set that explains the rewards best from the surviving one that is hardest to rule out, as long as this
    pays (`SeparatingPulls`).

    Once one set is left, its arms are played by all rows with its states, set or observed. It is the only set
    of its size that could explain the reward alone. Other arms may stay open (`IdentifiedPlay`), and the test
    goes on. If the last set is ruled out too, rows in which a state was only observed no longer count:
    anytime MOSS goes on over all arms, including do(), each by the rows in which it was set.
    The likely reason is a hidden cause of the reward that other variables show. So invariance screening
    (`cb_pgm.evidence.invariance`) looks for the set of `max_parents` variables that explains everything that
    interventions change. If one is left, and each of its variables was set often enough to have shown a
    difference between setting and seeing it, it is identified and `fallback` says so; the arms are played as
    before. Until then about a sixth of the regret, at most, is paid for pulls that tell apart what is left,
    or a third where an answer is within reach (`QuestionCost`). The result is right as long as the
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
        σ of the reward given its parents, which may be smaller than `noise_scale`; None: `noise_scale`. With
        ½ rewards are expected in [0, 1] and have the logarithmic loss until one lies outside.
    max_parents
        The largest number of parents to consider: sets of two are screened once all single variables are
        ruled out, and so on. Every row counts for every size.

    Raises
    ------
    PolicyError
        If `max_parents` is out of range, or there are too many sets to screen (`Screening`).

    Notes
    -----
    O(n^p) a round for sets of up to p variables; `scripts/results --only bench` measures it.
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
    def sets_several(self) -> bool:
        return self.max_parents > 1

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return self._named

    @property
    def assumption(self) -> str | None:
        if not self._named:
            return None
        if self._follow_up is not None:
            unshown = self._follow_up.unshown()
            return self._too_little(unshown, f"{'was' if len(unshown) == 1 else 'were'} set too seldom")
        return self.assumption_of(self._named)

    def assumption_of(self, variables: Sequence[str]) -> str | None:
        """Return what the rows tested couldn't have shown had these variables not been the reward's parents.

        None if they would have shown a difference of a tenth of the rewards' range between setting and
        observing the variables, and as large a mean effect of any state of another variable. The mean is over
        the rows: an effect beside states of these variables that hardly any row has may be missed.
        """
        screening = self.screening
        positions = [self._variables.index(name) for name in variables]
        cover = self._cover_of(tuple(positions))
        cover.catch_up(screening)
        if not would_show(cover.set_rows, screening.threshold):
            return "seen, not set often enough to exclude a hidden common cause"
        contrasts = cover.contrasts()
        unshown = [
            variable
            for variable, states in enumerate(self._n_states)
            if variable not in positions
            and not would_show(float(contrasts[variable, :states].min()), screening.threshold)
        ]
        return self._too_little(unshown, "varied too little")

    def _too_little(self, positions: Sequence[int], what: str) -> str | None:
        if not positions:
            return None
        names, beside = listed(self._names(positions), most=6), " and ".join(self._named)
        return f"{names} {what} to show an effect of a tenth of the rewards' range beside {beside}"

    @property
    def fallback(self) -> str | None:
        return self._fallback

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...]:
        """The sets of variables not ruled out, of the size under test."""
        test = self.screening if self._follow_up is None else self._follow_up.test
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
        for arm, rows, mean in self._arms:
            if arm:
                yield arm, rows, mean
        for arm, (rows, total) in self._joint_rows.items():
            yield arm, rows, total / rows

    def means_if_identified(self) -> Iterable[tuple[Intervention, int, float]]:
        if self._play is None:
            return
        for arm, rows, mean in self._play.arms:
            if not self._play.is_outsider(arm):
                yield arm, rows, mean

    # -- state -----------------------------------------------------------------------------------------------

    def _begin(self, rng: np.random.Generator) -> None:
        self._singles = SingleArms(self.states, self.settable)
        self._arms = ArmTotals(self._singles.arms)
        self._recent = RecentRows(self._n_states)
        self.screening = self._new_screening(1)
        self._likelihoods = SetLikelihoods(
            self._n_states,
            self.max_parents,
            self.parent_noise_scale,
            in_unit_interval=self._in_unit_interval,
        )
        # None once no set but the one that is left can be drawn.
        self._likely: LikelyPlay | None = LikelyPlay(
            self.states, self.noise_scale, self._likelihoods, self._singles
        )
        self._separating = SeparatingPulls(
            self._singles,
            self._recent,
            self._likelihoods,
            self._likely,
            self.max_parents,
            self.noise_scale,
        )
        # Of questions once no set is left.
        self._questions = QuestionCost(_COST_SHARE, self.noise_scale, _COST_SHARE_TO_END)
        self._asked: set[Intervention] = set()  # arms last asked for to tell sets apart
        self._told_apart: ToldApart | None = None
        self._drawn: tuple[str, ...] = ()  # the set of which a cell was chosen last
        self._left = -1
        self._named: tuple[str, ...] = ()
        self._fallback: str | None = None
        self._no_set_explains = ""  # what `fallback` says first
        self._follow_up: InvarianceFollowUp | None = None
        self._play: IdentifiedPlay | None = None
        self._cover: tuple[tuple[int, ...], Cover] | None = None  # given the variables at these positions
        self._joint_rows: dict[Intervention, tuple[int, float]] = {}  # rows and total of each joint arm set
        self._observed = ArmTotals((Intervention(),))

    def _new_screening(self, set_size: int) -> Screening:
        return Screening(
            self._n_states,
            set_size,
            self._naming_share,
            self.parent_noise_scale,
            in_unit_interval=self._in_unit_interval,
        )

    @property
    def _in_unit_interval(self) -> bool:
        """Whether rewards are expected in [0, 1]."""
        return self.parent_noise_scale == UNIT_INTERVAL_SCALE

    @property
    def _naming_share(self) -> float:
        return self._budget.identification / self.max_parents

    def _set_in(self, intervention: Intervention) -> tuple[int, ...]:
        """Return the positions of the variables that it sets, in ascending order."""
        known = self._singles.code_of.get(intervention)
        if known is not None:
            return (known[0],)
        return tuple(sorted(self._variables.index(name) for name in intervention))

    def _names(self, positions: Iterable[int]) -> tuple[str, ...]:
        return tuple(self._variables[position] for position in positions)

    # -- choosing --------------------------------------------------------------------------------------------

    def _next_pull(self) -> Pull:
        return self.telling_apart({}) or self._playing({})

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        pull = self.telling_apart(under_way)
        if pull is not None:
            return pull
        with (self._play or self._arms).counting(under_way):
            return self._playing(under_way)

    def _playing(self, under_way: Mapping[Intervention, int]) -> Pull:
        self._drawn = ()
        if self._likely is not None:
            self._drawn = self._names(self._likely.draw(self._arms.rounds))
        if self._likely is not None and self._drawn and self._drawn != self._named:
            pull = Pull(self._likely.next_arm(self._arms, under_way))
        elif self._play is not None:
            self._drawn = ()
            pull = self._pull_for[self._play.next_arm()]
        else:
            pull = Pull(self._arms.arms[self._arms.highest_moss(self.noise_scale)])
        self._asked.discard(pull.intervention)
        return pull

    def telling_apart(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        """Return the pull that best tells apart what is left; None where that doesn't pay."""
        if self._follow_up is not None:
            ask = self._may_ask
            self._told_apart = self._follow_up.next(self._arms, self._questions, under_way) if ask else None
        elif self._fallback is None:
            self._told_apart = self._separating.next(self.screening, self._arms, under_way)
        else:
            self._told_apart = None
        if self._told_apart is None:
            return None
        self._asked.add(self._told_apart.pull.intervention)
        return self._told_apart.pull

    def affords(self, pull: Pull) -> bool:
        """Return whether another policy's question costs little enough beside all other rounds."""
        return self._may_ask and self._questions.affords(pull, self._arms, share=_QUERY_SHARE)

    @property
    def _may_ask(self) -> bool:
        """Whether questions took few enough rounds: even free ones would crowd out an arm that is better."""
        return self._questions.rows <= _MOST_QUESTIONS * self._arms.rounds

    def charge(self, intervention: Intervention, rows: int) -> None:
        """Count rows of a question that another policy on the same rows asked."""
        self._questions.add(intervention, rows, self._arms)

    def why(self, pull: Pull) -> str:
        if self._told_apart is not None:
            sets = (self._told_apart.first, self._told_apart.second)
            first, second = (" and ".join(self._names(positions)) for positions in sets)
            if first == second:
                return f"to set {first}, the only cause left, often enough"
            return f"it best tells {first}, the likeliest cause, from {second}, the likeliest other one"
        if self._drawn and pull.intervention.keys() == set(self._drawn):
            names, a_cause = (
                " and ".join(self._drawn),
                "a likely cause" if len(self._drawn) == 1 else "likely causes",
            )
            return f"the highest upper confidence bound if the reward depends on {names} alone, {a_cause}"
        arms = self._play.arms if self._play is not None else self._arms
        text = f"the highest upper confidence bound: {arms.describe(pull.intervention, self.mean_text)}"
        if self._play is not None and self._play.is_outsider(pull.intervention):
            text += f"; {' and '.join(pull.intervention)} may still move the reward"
        return text

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
            known_rows, total = self._joint_rows.get(intervention, (0, 0.0))
            self._joint_rows[intervention] = known_rows + len(rewards), total + total_of(rewards)
        if self._likely is not None:
            self._likely.add(intervention, rewards, self._arms.rounds)
        if self._play is not None:
            self._play.add(self._parents_arm(intervention), rewards)
        if intervention in self._asked:
            if self._fallback is None:
                self._separating.add(intervention, len(rewards), self._arms)
            else:
                self._questions.add(intervention, len(rewards), self._arms)

    def _parents_arm(self, intervention: Intervention) -> Intervention:
        """Return what an intervention sets the identified variables to, if it sets them all; else itself."""
        if len(intervention) <= len(self._named) or not set(self._named) <= intervention.keys():
            return intervention
        return Intervention({name: intervention[name] for name in self._named})

    def _test(
        self, intervention: Intervention, codes: NDArray[np.int16], rewards: NDArray[np.float64]
    ) -> None:
        if self._follow_up is not None:
            self._follow_up.observe(
                codes, rewards, self._set_in(intervention), self._singles.code_of.get(intervention)
            )
            self._heed_follow_up(self._follow_up)
        if self._fallback is not None:
            return
        predicted = None
        if self._likely is not None:
            self._recent.add(codes, self._singles.code_of.get(intervention))
            predicted = self._likelihoods.add(codes, rewards)
        self.screening.observe(codes, rewards, self._set_in(intervention), predicted)
        if self.screening.left != self._left:
            self._take_stock()

    def _take_stock(self) -> None:
        """Name the set that is left, go on with larger sets when none is, or give up at the largest."""
        while self.screening.left == 0 and self.screening.set_size < self.max_parents:
            size = self.screening.set_size + 1
            self.screening, self._cover = self.screening.larger(size, self._naming_share), None
        left = self._left = self.screening.left
        self._named = self.candidates[0] if left == 1 else ()
        self._play = None
        if self._likely is not None:
            self._likely.follow(self.screening)
        if left == 0:
            self._give_up()
        elif left == 1:
            self._play_parents()
        if left == 0 or (left == 1 and self.screening.set_size == self.max_parents):
            self._likely = None

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
        self._arms.rounds = before.rounds  # rows of a table under do() cost no rounds
        self._arms.in_unit_interval = before.in_unit_interval and self._observed.in_unit_interval
        if self._follows_by_invariance:
            # σ given the parents may leave out what the hidden cause adds, so it is that under every arm.
            self._follow_up = InvarianceFollowUp(
                self._n_states,
                self.max_parents,
                self._budget.invariance,
                self.noise_scale,
                self._singles,
                self._recent,
                self.screening,
            )
            self._heed_follow_up(self._follow_up)

    def _heed_follow_up(self, follow_up: InvarianceFollowUp) -> None:
        """Name what invariance screening has identified; give up if it has nothing left."""
        if follow_up.test.left == 0:
            self._named, self._fallback, self._follow_up = (), self._no_set_explains, None
        elif follow_up.identified and not self._named:
            self._named = self._names(follow_up.identified)
            only = "is the only variable" if len(self._named) == 1 else "are the only variables"
            explain = f"{' and '.join(self._named)} {only} whose states explain what interventions change"
            self._fallback = f"{self._no_set_explains}; {explain}"

    def _play_parents(self) -> None:
        """Go over to the parents' joint states; every row that had them counts, whatever was done."""
        position = int(np.flatnonzero(self.screening.surviving)[0])
        if not self._singles.whole[list(self.screening.expert(position))].all():
            return
        counts, totals = self.screening.seen(position)
        known = {arm: arm for arm in self._arms.arms}  # the same objects: look-ups needn't compare contents
        arms = [known.get(arm, arm) for arm in joint_arms(self.states, self._named)]
        parents = ArmTotals(arms)
        cells = self._cells_of(arms, self._named)
        parents.rows[:], parents.totals[:] = counts[cells], totals[cells]
        parents.rounds = max(self._arms.rounds, int(parents.rows.sum()))
        parents.in_unit_interval = self._arms.in_unit_interval and self._observed.in_unit_interval
        self._play = self.play_on(self._named, parents)
        self._pull_for = {arm: Pull(arm) for arm in (*arms, *self._arms.arms)}

    def play_on(self, variables: Sequence[str], parent_arms: ArmTotals) -> IdentifiedPlay:
        """Return the play on the arms of identified variables, with the cover that the rows tested give."""
        parents = [self._variables.index(name) for name in variables]
        cover, screening = self._cover_of(tuple(parents)), self.screening
        gaps, _ = self._questions.cautious_gaps(self._arms)
        return IdentifiedPlay(
            parent_arms,
            self._cells_of(parent_arms.arms, variables),
            self._arms,
            np.column_stack(self._singles.codes),
            parents,
            cover,
            lambda: cover.catch_up(screening),
            self._budget.verification,
            self.noise_scale,
            float(gaps @ self._arms.rows),
        )

    def _cells_of(self, arms: Sequence[Intervention], variables: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of each arm that sets `variables` among their joint states, int64 [arms]."""
        strides = max(self._n_states) ** np.arange(len(variables))
        states = [[self.states[name].index(arm[name]) for name in variables] for arm in arms]
        cells: NDArray[np.int64] = np.array(states, dtype=np.int64).reshape(-1, len(variables)) @ strides
        return cells

    def _cover_of(self, parents: tuple[int, ...]) -> Cover:
        """Return the cover given the variables at these positions; the last one is kept."""
        if self._cover is None or self._cover[0] != parents:
            cover = Cover(self._n_states, parents, self._budget.verification, self.parent_noise_scale)
            self._cover = parents, cover
        return self._cover[1]
