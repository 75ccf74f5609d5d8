"""What every policy is: `ask` for a pull, `tell` what came of it, until whoever runs it stops.

A new policy is one file here: derive from `Policy`, write `_begin`, `_next_pull`, `_learn` and `means`, and
add one line to the conformance test.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.budget import FailureBudget
from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows
from cb_pgm.model.intervention import ArmEstimate, Intervention, Observations, Pull, States
from cb_pgm.policies.arms import single_variable_arms
from cb_pgm.policies.context import PolicyContext

if TYPE_CHECKING:
    from cb_pgm.search.trace import SearchTrace

__all__ = ["Policy"]

# Rows at which intervals are as narrow as can be: few, as bad arms get no more. With 1,000 rows an interval
# is then 7 % wider than it could be, whereas one tuned to 1,000 would be more than twice as wide with 10.
_NARROWEST_AT = 30
_DEFAULT_FAILURE_PROB = 0.05  # of a policy that promises nothing but its intervals


class Policy(ABC):
    """A way to choose interventions from what has been seen so far.

    Parameters
    ----------
    states
        Every variable's states, in the order in which observations code them.
    settable
        The states that can be set, for those variables that can be set at all; None: all of them. A variable
        left out is never asked about and never pulled.
    noise_scale
        σ such that the reward under every arm and under do() is σ-subgaussian about its mean.

    Raises
    ------
    PolicyError
        If `settable` names an unknown variable or state, or `noise_scale` is not positive.
    """

    #: What tables and plots call this policy.
    name: str = "policy"

    #: Whether a row teaches it the same whatever was done in it. Then rows measured without it, and rows
    #: in which another state was taken than asked for, can be told as seen under do().
    learns_from_any_row: bool = False

    _failure_prob = _DEFAULT_FAILURE_PROB

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
        """Make the policy from what is known; `settings` are further keywords of its own.

        A policy that takes more than the states, σ and what can be set writes its own.

        Raises
        ------
        PolicyError
            If the context lacks something that the policy needs.
        """
        made = cls(context.states, noise_scale=context.noise_scale, settable=context.settable, **settings)
        made._failure_prob = context.failure_prob
        return made

    # -- to be written by each policy ------------------------------------------------------------------------

    @abstractmethod
    def _begin(self, rng: np.random.Generator) -> None:
        """Set every field that learning changes to its state before the first round."""

    @abstractmethod
    def _next_pull(self) -> Pull:
        """Choose what to do next; called once per pending pull."""

    @abstractmethod
    def _learn(self, intervention: Intervention, observations: Observations) -> None:
        """Take in the rows seen under `intervention`, asked for or not."""

    @abstractmethod
    def means(self) -> Iterable[tuple[Intervention, int, float]]:
        """Yield (intervention, rows, mean reward) for everything pulled so far that it may recommend.

        Only rows in which the intervention was made count.
        """

    # -- may be written by a policy --------------------------------------------------------------------------

    def means_if_identified(self) -> Iterable[tuple[Intervention, int, float]]:
        """Yield the same for the identified parents' arms, from all rows that had their states."""
        return ()

    @property
    def budget(self) -> FailureBudget:
        """How the failure probability is shared out; by default all of it goes to the intervals."""
        return FailureBudget(intervals=self._failure_prob)

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        """Choose a pull while so many rows of some interventions are still to come; None if none can be."""
        return None

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        """Take in rows measured under `intervention` before the first `ask`; do() counts no rounds.

        Returns
        -------
        bool
            Whether they teach it anything. Rows under do() may not, or may be in its marginals already.
        """
        self._check(observations)
        if self._rng is None:
            self._start()
        if intervention:
            self._learn(intervention, observations)
        return bool(intervention)

    def why(self, pull: Pull) -> str:
        """Say in a few words why `pull`, the last one asked for, was chosen; empty where there's no more."""
        return ""

    @property
    def candidates(self) -> tuple[tuple[str, ...], ...] | None:
        """The sets of variables that may still be the reward's parents; None for one that doesn't look."""
        return None

    @property
    def story(self) -> SearchTrace | None:
        """The questions of its search so far and what came of them; None for one that doesn't ask any."""
        return None

    # -- what a policy has found out -------------------------------------------------------------------------

    @property
    def reward_variables(self) -> tuple[str, ...]:
        """The variables named as the reward's parents so far; empty while, or where, none is named."""
        return ()

    @property
    def grounds(self) -> str | None:
        """On what the identified parents rest; None while none are identified.

        "identified": the rows refute every other candidate, rows in which the parents were set among them.
        "assumed": the parents' states were only seen, or set too seldom to have shown a difference between
        setting and seeing them, so that a hidden common cause isn't excluded.
        """
        return "identified" if self.reward_variables else None

    @property
    def fallback(self) -> str | None:
        """Why the policy gave up its own way and plays all arms; None where it didn't."""
        return None

    def best_arm(self, failure_prob: float | None = None) -> ArmEstimate | None:
        """Return the arm of highest lower bound on its mean, or None before the first pull.

        Among the arms of the identified parents, on the grounds that they are; among all measured ones where
        none are identified.
        """
        known = self.identified(failure_prob) or self.estimates(failure_prob)
        return max(known, key=lambda estimate: estimate.low, default=None)

    def estimates(self, failure_prob: float | None = None) -> tuple[ArmEstimate, ...]:
        """Return the measured mean of everything pulled so far that it may recommend.

        Only rows in which an arm was set count. The intervals cover the true means of all arms at all times
        with probability 1 − `failure_prob` (`anytime_radius`, with a union bound over the arms), by default
        the share of the policy's budget.
        """
        return self._estimates([] if self._rng is None else self.means(), failure_prob, "measured")

    def identified(self, failure_prob: float | None = None) -> tuple[ArmEstimate, ...]:
        """Return the same for the identified parents' arms from all rows that had their states, set or seen.

        The intervals hold if the parents are those identified; empty where none are.
        """
        return self._estimates(
            [] if self._rng is None else self.means_if_identified(), failure_prob, "identified"
        )

    def _estimates(
        self, means: Iterable[tuple[Intervention, int, float]], failure_prob: float | None, grounds: str
    ) -> tuple[ArmEstimate, ...]:
        failure_prob = self.budget.intervals if failure_prob is None else failure_prob
        seen = [known for known in means if known[1]]
        if not seen:
            return ()
        share = failure_prob / max(len(single_variable_arms(self.settable)), len(seen))
        mixing_rows = best_mixing_rows(_NARROWEST_AT, share)
        estimates = []
        for intervention, rows, mean in seen:
            radius = anytime_radius(rows, share, self.noise_scale, mixing_rows)
            estimates.append(ArmEstimate(intervention, mean, mean - radius, mean + radius, rows, grounds))
        return tuple(estimates)

    # -- the same for all ------------------------------------------------------------------------------------

    def fresh(self, rng: np.random.Generator) -> Self:
        """Return a copy that has seen nothing and draws from `rng`; this policy is left as it is."""
        twin = copy.copy(self)
        twin._pending = None
        twin._rng = rng
        twin._begin(rng)
        return twin

    def ask(self) -> Pull:
        """Return the pull to make next; the same one until it is told."""
        if self._pending is None:
            if self._rng is None:
                self._start()
            self._pending = self._next_pull()
        return self._pending

    def ask_beside(self, outstanding: Iterable[Pull]) -> Pull | None:
        """Return a further pull to make while `outstanding` ones are still being made.

        Parameters
        ----------
        outstanding
            The pulls under way, each of the size that is still to come; without any it is the same as `ask`.

        Returns
        -------
        Pull or None
            None where what to do next depends on what comes of those under way.
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
        """Report the rows seen under ``pull.intervention``: as many as asked, fewer, or more.

        Raises
        ------
        PolicyError
            If the rows have another shape than [m, n] codes and [m] rewards, or hold a code or reward that
            can't be.
        """
        self._check(observations)
        if self._rng is None:
            self._start()
        self._pending = None
        self._learn(pull.intervention, observations)

    def _start(self) -> None:
        self._rng = np.random.default_rng(0)
        self._begin(self._rng)

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
