"""The interface of all policies: `ask` for a pull and `tell` the rows observed, until the caller stops.

A new policy is one file in this package: derive from `Policy`, implement `begin`, `next_pull`, `learn` and
`means`, and add a line to `registry`, whose policies the conformance test goes through.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows, bounded_intervals
from cb_pgm.evidence.stopping import Basis, Shortfall, shortfall_of
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, Pull, States
from cb_pgm.policies.arms import single_variable_arms
from cb_pgm.policies.context import PolicyContext

if TYPE_CHECKING:
    from cb_pgm.evidence.hypotheses import Beliefs
    from cb_pgm.search.trace import SearchTrace

__all__ = ["Policy"]

# The number of rows at which intervals are narrowest. It is small because bad arms get few rows: with 1,000
# rows an interval is 7 % wider than it could be, whereas one tuned to 1,000 would be more than twice as wide
# with 10. Those of rewards in [0, 1], which end at 0 and 1 whatever the rows, are narrowest later.
_NARROWEST_AT = 30
_BOUNDED_NARROWEST_AT = 150
_DEFAULT_FAILURE_PROB = 0.05  # of a policy whose intervals are its only guarantee


class Policy(ABC):
    """Choose interventions from the rows observed so far.

    A policy of your own is a subclass with four methods:

    * ``begin(rng)`` sets up what learning changes; draw from `rng` alone;
    * ``next_pull()`` returns the `Pull` to make next, one of ``self.possible_arms`` for example;
    * ``learn(intervention, observations)`` learns from rows;
    * ``means()`` yields (intervention, rows, mean reward) of what it may recommend.

    Others call ``ask`` and ``tell``. Everything else may be overridden and need not be.

    Parameters
    ----------
    states
        Every variable's states, in the order in which observations code them.
    settable
        The settable states of each settable variable; None: all states of all variables. The policy never
        intervenes on a variable that is left out.
    noise_scale
        σ, in units of the reward, such that the reward is σ-subgaussian about its mean under every arm and
        under do().

    Raises
    ------
    PolicyError
        If `settable` contains an unknown variable or state, or `noise_scale` is not positive.
    """

    #: The name of this policy in tables and plots.
    name: str = "policy"

    #: Whether the policy learns the same from a row under any intervention. Then rows recorded without it,
    #: and rows with another state than the requested one, can be given to `tell` as rows under do().
    learns_from_any_row: bool = False

    #: Whether the policy can learn from the reward of a row alone, where states of variables that weren't set
    #: are unknown (`tell_rewards`).
    takes_unknown_fields: bool = False

    #: Whether do() is an arm. It isn't where a log has no rows of it, or every unit has to get something.
    plays_do: bool = True

    _failure_prob = _DEFAULT_FAILURE_PROB

    #: Writes a mean reward in the reasons for pulls (`why`), in a person's unit where that is another one.
    mean_text: Callable[[float], str] = "{:.4g}".format

    def __init__(self, states: States, *, noise_scale: float = 1.0, settable: States | None = None) -> None:
        self.states: dict[str, tuple[str, ...]] = {
            variable: tuple(values) for variable, values in states.items()
        }
        self.settable = _checked_settable(self.states, settable)
        if not (np.isfinite(noise_scale) and noise_scale > 0):
            raise PolicyError(
                f"Expected a positive noise_scale but found {noise_scale}: give the σ of the rewards"
            )
        self.noise_scale = float(noise_scale)
        self._pending: Pull | None = None
        self._rng: np.random.Generator | None = None

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        """Construct the policy from `context`; `settings` are further keyword arguments of its class.

        A policy that needs more than the states, σ and the settable states overrides this method.

        Raises
        ------
        PolicyError
            If the context lacks something that the policy needs.
        """
        made = cls(
            states=context.states, noise_scale=context.noise_scale, settable=context.settable, **settings
        )
        made._failure_prob, made.plays_do = context.failure_prob, context.plays_do
        return made

    # -- every policy implements these -----------------------------------------------------------------------

    @abstractmethod
    def begin(self, rng: np.random.Generator) -> None:
        """Initialise every attribute that learning changes."""

    @abstractmethod
    def next_pull(self) -> Pull:
        """Choose the next pull; called once per pending pull."""

    @abstractmethod
    def learn(self, intervention: Intervention, observations: Observations) -> None:
        """Learn from the rows observed under `intervention`, whether or not the policy asked for them."""

    @abstractmethod
    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        """Yield (intervention, rows, mean reward) of every intervention so far that it may recommend.

        do() is one of them. Only rows in which the intervention was made on request count, so those of a
        table don't count for do(): they may have been selected.
        """

    # -- a policy may override these -------------------------------------------------------------------------

    def means_if_identified(self) -> Iterable[tuple[Intervention, int, float]]:
        """Yield the same for the identified parents' arms, from all rows with their states."""
        return ()

    @property
    def budget(self) -> FailureBudget:
        """The shares of the failure probability; by default all of it goes to the intervals."""
        return FailureBudget(intervals=self._failure_prob)

    def _learn_rewards(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Learn from rows of which only the rewards are known; all states have the code −1."""
        nothing = np.full((len(rewards), len(self.states)), -1, dtype=np.int16)
        self.learn(intervention, Observations(nothing, rewards))

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        """Choose a further pull while rows are pending; None if the choice depends on those rows.

        `under_way` has the number of pending rows of each intervention.
        """
        return None

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        """Learn from rows recorded under `intervention` before the first `ask`.

        By default those under do() aren't used: rows of a table may have been selected.

        Returns
        -------
        bool
            Whether the policy uses these rows.
        """
        self._check(observations)
        if self._rng is None:
            self._start()
        if intervention:
            self.learn(intervention, observations)
        return bool(intervention)

    def why(self, pull: Pull) -> str:
        """Return a short reason for `pull`, the last one that `ask` returned; empty if there is none."""
        return ""

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...] | None:
        """The sets of variables that may still be the reward's parents; None if it doesn't identify any."""
        return None

    def beliefs(self, most: int = 5) -> Beliefs | None:
        """Return the posterior over what the reward depends on, with the `most` likeliest sets of variables.

        None for a policy that has none.
        """
        return None

    @property
    def story(self) -> SearchTrace | None:
        """The queries of its search so far with their answers; None for a policy without a search."""
        return None

    @property
    def sets_several(self) -> bool:
        """Whether it may set several variables in one pull."""
        return False

    # -- what a policy has identified ------------------------------------------------------------------------

    @property
    def reward_variables(self) -> tuple[str, ...]:
        """The variables identified as the reward's parents so far; empty while there are none."""
        return ()

    @property
    def grounds(self) -> str | None:
        """The evidence for the identified parents; None while none are identified.

        "identified": the rows refute every other candidate, and would have refuted this one had it been
        wrong. "assumed": they couldn't have, as `assumption` says.
        """
        if not self.reward_variables:
            return None
        return "assumed" if self.assumption else "identified"

    @property
    def assumption(self) -> str | None:
        """What the rows couldn't have shown of the identified parents; None if they show everything.

        The parents' states were only observed, or set too seldom to have shown a difference between setting
        and observing them, so a hidden common cause isn't excluded; or other variables varied too little
        beside them to have shown an effect of their own.
        """
        return None

    @property
    def fallback(self) -> str | None:
        """Why the policy gave up its own method, usually to play all arms; None if it didn't."""
        return None

    def best_arm(self, failure_prob: float | None = None) -> ArmEstimate | None:
        """Return the arm with the highest lower confidence bound on its mean; None before the first pull.

        It is do(), as measured, or one of the identified parents' arms, whose intervals assume that these are
        the parents. While none are identified it is one of all measured arms.
        """
        known = self.estimates(failure_prob)
        if identified := self.identified(failure_prob):
            known = (*identified, *(measured for measured in known if not measured.intervention))
        return max(known, key=lambda estimate: estimate.low, default=None)

    def estimates(self, failure_prob: float | None = None) -> tuple[ArmEstimate, ...]:
        """Return the measured mean of every intervention so far that the policy may recommend.

        Only rows in which an arm was set count. By a union bound over arms, the intervals (`anytime_radius`,
        of rewards in [0, 1] `bounded_intervals`) cover the true means of all arms at all times with
        probability ≥ 1 − `failure_prob`, by default the intervals' share of the policy's `budget`. They get
        wider as arms on several variables join.
        """
        return self._estimates([] if self._rng is None else self.means(), failure_prob, "measured")

    def shortfall(self, basis: Basis = "experimental") -> Shortfall:
        """Return which arm looks best, and the most by which another one may be better, at 1 − δ at any time.

        Parameters
        ----------
        basis
            "experimental" compares the arms by rows in which they were set. "identified" assumes that the
            reward has at most `max_parents` parents and no hidden one; a policy that identifies none has
            nothing to say on it.
        """
        if basis == "experimental":
            return shortfall_of(self.estimates(), self.possible_arms)
        return Shortfall(None, None, math.inf, missing=f"{self.name} identifies no causes")

    def identified(self, failure_prob: float | None = None) -> tuple[ArmEstimate, ...]:
        """Return the same for the identified parents' arms, from all rows with their states, set or observed.

        The intervals are valid if the identified variables are the reward's parents. The result is empty
        while none are identified.
        """
        return self._estimates(
            [] if self._rng is None else self.means_if_identified(),
            failure_prob,
            self.grounds or "identified",
        )

    def _estimates(
        self, means: Iterable[tuple[Intervention, int, float]], failure_prob: float | None, grounds: str
    ) -> tuple[ArmEstimate, ...]:
        failure_prob = self.budget.intervals if failure_prob is None else failure_prob
        seen = [known for known in means if known[1]]
        if not seen:
            return ()
        n_arms = len(self.possible_arms)
        share = failure_prob / n_arms
        narrowest = _BOUNDED_NARROWEST_AT if self._has_unit_rewards else _NARROWEST_AT
        mixing_rows = best_mixing_rows(narrowest, share)
        if self.sets_several:
            # With A arms on one variable the k-th arm to be pulled has the share δ/2A for k ≤ A, and δA/2k²
            # beyond. All intervals take the smallest share so far, which widens them.
            share *= 0.5 * (n_arms / max(n_arms, len(seen))) ** 2
        rows, means = [rows for _, rows, _ in seen], np.array([mean for *_, mean in seen])
        if self._has_unit_rewards:
            lows, highs = bounded_intervals(rows, means, share, mixing_rows)
        else:
            radii = [anytime_radius(m, share, self.noise_scale, mixing_rows) for m in rows]
            lows, highs = means - radii, means + radii
        return tuple(
            ArmEstimate(intervention, mean, float(low), float(high), rows, grounds)
            for (intervention, rows, mean), low, high in zip(seen, lows, highs, strict=True)
        )

    @property
    def _has_unit_rewards(self) -> bool:
        """Whether σ is that of rewards in [0, 1], and none so far lies outside."""
        return False

    # -- common to all policies -----------------------------------------------------------------------------

    @property
    def possible_arms(self) -> tuple[Intervention, ...]:
        """All interventions on one variable that can be made, in variable order, then do() if it is an arm.

        do() can be the best arm: where a hidden variable causes both the reward and what can be set, nature
        may choose better than any fixed state.
        """
        return self._with_do(single_variable_arms(self.settable))

    def _with_do(self, arms: Iterable[Intervention]) -> tuple[Intervention, ...]:
        return (*arms, Intervention()) if self.plays_do else tuple(arms)

    def fresh(self, rng: np.random.Generator) -> Self:
        """Return a copy without any rows that draws from `rng`; this policy stays unchanged."""
        twin = copy.copy(self)
        twin._pending = None
        twin._rng = rng
        twin.begin(rng)
        return twin

    def ask(self) -> Pull:
        """Return the pull to make next; repeated calls return the same pull until `tell` is called."""
        if self._pending is None:
            if self._rng is None:
                self._start()
            self._pending = self.next_pull()
        return self._pending

    def ask_beside(self, outstanding: Iterable[Pull]) -> Pull | None:
        """Return a further pull to make while the rows of `outstanding` pulls are pending.

        Parameters
        ----------
        outstanding
            The pending pulls, each with the number of rows still to come. If there are none, the result is
            that of `ask`.

        Returns
        -------
        Pull or None
            None if the next pull depends on the pending rows.
        """
        under_way: dict[Intervention, int] = {}
        for pull in outstanding:
            under_way[pull.intervention] = under_way.get(pull.intervention, 0) + pull.size
        if not under_way:
            return self.ask()
        if self._rng is None:
            self._start()
        return self._pull_beside(under_way)

    def tell(self, pull: Pull, observations: Observations) -> None:
        """Report the rows observed under ``pull.intervention``: as many as requested, fewer, or more.

        Raises
        ------
        PolicyError
            If the rows don't have shape [m, n] for the codes and [m] for the rewards.
        """
        self._check(observations)
        if self._rng is None:
            self._start()
        self._pending = None
        self.learn(pull.intervention, observations)

    def tell_rewards(self, intervention: Intervention, rewards: NDArray[np.float64]) -> None:
        """Report rows of `intervention` in which other variables' states are unknown, by their rewards.

        Only policies that take unknown fields have a use for them.
        """
        if self._rng is None:
            self._start()
        self._pending = None
        self._learn_rewards(intervention, rewards)

    def _start(self) -> None:
        self._rng = np.random.default_rng(0)
        self.begin(self._rng)

    def _check(self, observations: Observations) -> None:
        size, n = observations.codes.shape
        if n != len(self.states) or len(observations.rewards) != size:
            raise PolicyError(
                f"Expected codes [m, {len(self.states)}] and rewards [m] but found codes [{size}, {n}] and "
                f"rewards [{len(observations.rewards)}]: one column per variable, one reward per row"
            )


def _checked_settable(
    states: dict[str, tuple[str, ...]], settable: States | None
) -> dict[str, tuple[str, ...]]:
    if settable is None:
        return dict(states)
    for variable, values in settable.items():
        unknown = [value for value in values if value not in states.get(variable, ())]
        if variable not in states or unknown:
            what = f"states {unknown} of {variable!r}" if variable in states else f"variable {variable!r}"
            raise PolicyError(f"Expected settable states out of the known ones but found unknown {what}")
    return {variable: tuple(settable[variable]) for variable in states if settable.get(variable)}
