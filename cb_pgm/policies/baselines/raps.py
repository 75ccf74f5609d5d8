"""RAPS: identify the reward's parents by interventions on random variables, without a graph.

Source: Konobeev, Etesami & Kiyavash, "Causal bandits without graph learning" (2023). A variable drawn from
the candidates is set to each of its states, which shows its descendants and whether it is an ancestor of the
reward. If it is an ancestor, only its descendants stay candidates; otherwise it and its descendants are
removed. When no candidate is left, the last ancestor found is a parent. The search is repeated with the
identified parents held at each of their joint states, until it finds no further parent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Generator, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.base import Requirements
from cb_pgm.model.intervention import Intervention, Pull, States
from cb_pgm.policies.baselines.exploration import ExploreThenUCB
from cb_pgm.policies.context import PolicyContext

__all__ = ["RAPS", "Reply", "parent_search", "raps_batch_size"]


class Reply(NamedTuple):
    """The answer to an intervention on a variable.

    Attributes
    ----------
    is_ancestor
        Whether the reward changes, so that the variable is an ancestor of the reward.
    descendants
        The variables whose distributions change; they may include the variable itself.
    """

    is_ancestor: bool
    descendants: Collection[str]


def parent_search(candidates: Sequence[str], rng: np.random.Generator) -> Generator[str, Reply, str | None]:
    """Yield each variable to set, receive its `Reply`, and return a parent of the reward; None if none is.

    This is the pure search, without rows, as in `cb_pgm.search`.
    """
    left = list(candidates)
    deepest = None
    while left:
        variable = left[int(rng.integers(len(left)))]
        reply = yield variable
        if reply.is_ancestor:
            deepest = variable
        left = [
            other for other in left if other != variable and (other in reply.descendants) == reply.is_ancestor
        ]
    return deepest


def raps_batch_size(
    n: int,
    n_states: int,
    reward_gap: float,
    effect_gap: float,
    failure_prob: float,
    *,
    noise_scale: float = 1.0,
    max_parents: int | None = None,
) -> float:
    """Return B, the number of pulls of each arm in each context: an integer, or infinity if a gap is 0.

    Parameters
    ----------
    n, n_states
        The number of variables and the largest number of states, n and K.
    reward_gap, effect_gap, failure_prob, noise_scale
        Δ, ε, δ and σ; the paper has σ = 1.
    max_parents
        The number of parents at which the search stops; None: it stops only when it finds no further one.

    Notes
    -----
    ::

        B = max{⌈32σ²/Δ² · log(8nK·C/δ)⌉, ⌈8/ε² · log(8n²K²·C/δ)⌉}

    C is the number of contexts in the union bound: the joint states at which a set of identified parents may
    be held. With any set of variables at any of its joint states C = (K+1)ⁿ, as printed, so B grows with n.
    If the search stops at p parents, at most p − 1 are ever held, and C = Σ_{i<p} (n choose i)·Kⁱ.

    Examples
    --------
    >>> raps_batch_size(20, 2, 0.3, 0.3, 0.05)
    10929
    >>> raps_batch_size(20, 2, 0.3, 0.3, 0.05, max_parents=1)
    3117
    """
    if reward_gap <= 0 or effect_gap <= 0:
        return math.inf
    held = n if max_parents is None else min(max_parents - 1, n)
    contexts = sum(math.comb(n, size) * n_states**size for size in range(held + 1))
    log_contexts = math.log(contexts)  # of an integer of any size
    arms = n * n_states
    for_rewards = 32 * noise_scale**2 / reward_gap**2 * (math.log(8 * arms / failure_prob) + log_contexts)
    for_effects = 8 / effect_gap**2 * (math.log(8 * arms**2 / failure_prob) + log_contexts)
    return math.ceil(max(for_rewards, for_effects))


class RAPS(ExploreThenUCB):
    """Randomised parent search with B pulls of each arm, then UCB on the joint states of the parents.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`. The search covers settable variables only, so an identified variable may be an
        ancestor of a parent that can't be set, in place of that parent.
    reward_gap, effect_gap
        Δ, the smallest effect of any ancestor on the mean reward, and ε, the smallest effect of any variable
        on the probabilities of any descendant, in every context. Descendants that aren't children count too.
    failure_prob
        δ: the probability with which a wrong variable may be identified.
    max_parents
        Stop at this number of parents, and compute B from the contexts that can then occur
        (`raps_batch_size`); None: no limit, and B as printed. The search that finds no further parent is then
        the last one.

    Attributes
    ----------
    batch
        B, the pulls of each arm in each context. It isn't capped, and is very large for many variables or
        small gaps.

    Raises
    ------
    PolicyError
        If a gap is negative, δ is not inside (0, 1), or `max_parents` is less than 1.

    Notes
    -----
    A parent counts as identified when the search that found it ends, before the next search begins.
    """

    name = "raps"

    def __init__(
        self,
        states: States,
        *,
        reward_gap: float,
        effect_gap: float,
        failure_prob: float = 0.05,
        noise_scale: float = 1.0,
        max_parents: int | None = None,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        if max_parents is not None and max_parents < 1:
            raise PolicyError(f"Expected max_parents of at least 1 but found {max_parents}")
        self.requirements = Requirements(reward_gap, effect_gap, failure_prob, self.noise_scale)
        self.max_parents = max_parents
        self.batch = raps_batch_size(
            len(self.states),
            max(map(len, self.states.values())),
            reward_gap,
            effect_gap,
            failure_prob,
            noise_scale=self.noise_scale,
            max_parents=max_parents,
        )

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        reward_gap, effect_gap = context.known_gaps(cls.name)
        if context.truth is not None:  # it may set any variable, for which the effective gaps don't suffice
            reward_gap = min(reward_gap, context.truth.reward_gap())
            effect_gap = min(effect_gap, context.truth.effect_gap())
        known = {"reward_gap": reward_gap, "effect_gap": effect_gap, "max_parents": context.max_parents}
        return super().from_context(context, failure_prob=context.failure_prob, **(known | settings))

    def _explore(self, rng: np.random.Generator) -> Iterator[Pull]:
        if math.isinf(self.batch):
            which = "reward gap" if self.requirements.reward_gap <= 0 else "effect gap"
            self._fallback = f"the {which} is 0, so no number of pulls is enough"
            return
        most = self.max_parents or len(self.settable)
        below: set[str] = set()  # descendants of the parents found, none of which is a parent
        while len(self._found) < most:
            candidates = [name for name in self.settable if name not in self._found and name not in below]
            contexts = self._contexts()
            for context in contexts:
                yield from self._fill(context, "reference rows for comparison")
            search = parent_search(candidates, rng)
            reply, descendants = None, {}
            while True:
                try:
                    variable = next(search) if reply is None else search.send(reply)
                except StopIteration as end:
                    parent = end.value
                    break
                for arm in self._arms_in(contexts, variable):
                    yield from self._fill(arm, f"to see which variables {variable} moves, and if the reward")
                reply = self._reply(contexts, variable)
                descendants[variable] = reply.descendants
            if parent is None:
                return
            self._found = (*self._found, parent)
            below.update(descendants[parent])

    def _contexts(self) -> list[Intervention]:
        """Return do(identified parents = z) for each of their joint states z; do() while there are none."""
        choices = itertools.product(*(self.settable[name] for name in self._found))
        return [Intervention(dict(zip(self._found, chosen, strict=True))) for chosen in choices]

    def _arms_in(self, contexts: Sequence[Intervention], variable: str) -> Iterator[Intervention]:
        for context in contexts:
            for state in self.settable[variable]:
                yield Intervention({variable: state, **context})

    def _fill(self, arm: Intervention, why: str) -> Iterator[Pull]:
        # A pull may return fewer rows than requested, so repeat it until they are complete.
        while (missing := int(self.batch) - self._records[arm].rows) > 0:
            yield Pull(arm, missing, why)

    def _reply(self, contexts: Sequence[Intervention], variable: str) -> Reply:
        """Compare each arm with its context: mean rewards at Δ/2, frequencies of every state at ε/2."""
        needs = self.requirements
        is_ancestor, moved = False, np.zeros(len(self.states), dtype=np.bool_)
        for context in contexts:
            base = self._records[context]
            for state in self.settable[variable]:
                record = self._records[Intervention({variable: state, **context})]
                is_ancestor |= abs(record.mean - base.mean) > needs.reward_gap / 2
                difference = np.abs(record.counts / record.rows - base.counts / base.rows)
                moved |= difference.max(axis=1) > needs.effect_gap / 2
        return Reply(is_ancestor, {name for name, moves in zip(self.states, moved, strict=True) if moves})
