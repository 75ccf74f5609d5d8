"""Sequential evidence: the same answers as with the fixed budget, stopping as soon as they are certain.

Every mean has a radius that holds at all times simultaneously (`confidence.anytime_radius`), so the evidence
may look after each pull. The answer is yes as soon as the interval of a difference excludes 0. It is no as
soon as the interval excludes a gap of Δ (ε for neighbours) for every state. The failure probability δ is
spent as follows.

=========  ==================================================================================================
share      spent on
=========  ==================================================================================================
a quarter  the mean reward under do()
a quarter  the marginals, by a union bound over the K states of the n variables (nothing if they are exact)
half       the queries: the j-th gets (δ/2)/(j(j+1)), half of it for the reward under its K arms, half for the
           frequencies, K² of them per undecided neighbour
=========  ==================================================================================================

An arm keeps the first share that it got. If the arm had rows before that, they may have influenced which
query came j-th. They then count at a share n times smaller, by a union bound over the variables that could
have been queried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.evidence.base import Contrast, Evidence, contrasts
from cb_pgm.evidence.confidence import anytime_radius, best_mixing_rows
from cb_pgm.model.intervention import Intervention, Pull
from cb_pgm.search.query import Probe, Query

__all__ = ["SequentialEvidence"]

_FIRST_BATCH = 8
_GROWTH = 1 / 16  # each further batch of an arm, as a share of its rows: overshoot is at most this
_INDICATOR_SCALE = 0.5  # an indicator is ½-subgaussian


class SequentialEvidence(Evidence):
    """Pulls the arm with the largest radius among those still undecided, until the answer is certain."""

    def _set_up(self) -> None:
        self._queries = 0
        self._reward_shares: dict[Intervention, float] = {}
        self._effect_shares: dict[tuple[str, str], float] = {}
        self._open: Sequence[Intervention] = ()
        self._children: set[str] = set()

    def impossible(self) -> str | None:
        needs = self.requirements
        if needs.reward_gap > 0 and needs.effect_gap > 0:
            return None
        which = "reward gap" if needs.reward_gap == 0 else "effect gap"
        return f"the {which} is 0, so no number of pulls is enough for a no"

    def begin(self, query: Query) -> None:
        super().begin(query)
        self._children = set()
        self._queries += 1
        self._give_shares(query)

    def next_pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        def rows(arm: Intervention) -> float:
            return self._base_mean(arm)[0] + under_way.get(arm, 0)

        arm = min(self._open, key=rows)
        return self._batch(arm, under_way.get(arm, 0))

    def probe(self) -> Probe:
        self._begun()
        return Probe(self._moves, self._children)

    # -- failure probabilities -------------------------------------------------------------------------------

    def _give_shares(self, query: Query) -> None:
        share = self.requirements.failure_prob / 2 / (self._queries * (self._queries + 1))
        plan = contrasts(query, self.settable)
        # Under held variables the base is sampled for this query alone and is paid out of its share.
        arms = [
            arm for contrast in plan for arm in (*contrast.arms, *([contrast.base] if contrast.base else []))
        ]
        for arm in arms:
            self._reward_shares.setdefault(arm, self._discounted(arm, share / 2 / len(arms)))
        values = max(1, self._n_states**2 * len(query.undecided))
        for other in query.undecided:
            for state in self.settable[query.variable]:
                arm = Intervention({query.variable: state})
                key = (query.variable, other)
                self._effect_shares[key] = min(
                    self._effect_shares.get(key, 1.0), self._discounted(arm, share / 2 / values)
                )

    def _discounted(self, arm: Intervention, share: float) -> float:
        return share / len(self.states) if self.records[arm].rows else share

    # -- rewards ---------------------------------------------------------------------------------------------

    def _reward_radius(self, arm: Intervention) -> float:
        needs = self.requirements
        if arm:
            rows, share = float(self.records[arm].rows), self._reward_shares[arm]
        else:
            rows, share = self._base_mean(arm)[0], needs.failure_prob / 4
        if math.isinf(rows):
            return 0.0
        mixing = best_mixing_rows(
            8 * (needs.noise_scale / needs.reward_gap) ** 2 * -2 * math.log(share), share
        )
        return anytime_radius(rows, share, needs.noise_scale, mixing)

    def _differs(self, contrast: Contrast) -> bool | None:
        """Return whether the contrast shows a difference; None while this is uncertain."""
        _, base = self._base_mean(contrast.base)
        base_radius = self._reward_radius(contrast.base)
        undecided = False
        for arm in contrast.arms:
            radius = base_radius + self._reward_radius(arm)
            if math.isinf(radius):
                undecided = True
                continue
            difference = abs(self.records[arm].mean - base)
            if difference > radius:
                return True
            undecided |= difference + radius >= self.requirements.reward_gap
        return None if undecided else False

    def _undecided(self, contrast: Contrast) -> dict[Intervention, float]:
        """Return the base and the arms that are still undecided, each with its radius."""
        _, base = self._base_mean(contrast.base)
        base_radius = self._reward_radius(contrast.base)
        radii = {contrast.base: base_radius}
        for arm in contrast.arms:
            radius = self._reward_radius(arm)
            if math.isinf(radius + base_radius) or (
                abs(self.records[arm].mean - base) + radius + base_radius >= self.requirements.reward_gap
            ):
                radii[arm] = radius
        return radii

    # -- neighbours ------------------------------------------------------------------------------------------

    def _marginal(self, other: str) -> tuple[NDArray[np.float64], float]:
        """Return P(other) under do(), float64 [K], and its radius; rows of do() count as observations."""
        expected = self.marginals.probabilities[other]
        if self.marginals.rows is None:
            return expected, 0.0
        record = self.records[Intervention()]
        rows = self.marginals.rows + record.rows
        pooled = (
            self.marginals.rows * expected + record.counts[self._position[other]][: len(expected)]
        ) / rows
        share = self.requirements.failure_prob / 4 / (len(self.states) * self._n_states)
        return pooled, anytime_radius(
            rows, share, _INDICATOR_SCALE, best_mixing_rows(max(self.marginals.rows, 1), share)
        )

    def _effect_radius(self, variable: str, other: str, arm: Intervention) -> float:
        share = self._effect_shares[variable, other]
        expected_rows = 8 * (_INDICATOR_SCALE / self.requirements.effect_gap) ** 2 * -2 * math.log(share)
        return anytime_radius(
            self.records[arm].rows, share, _INDICATOR_SCALE, best_mixing_rows(expected_rows, share)
        )

    def _moved(self, variable: str, other: str) -> tuple[bool | None, list[Intervention]]:
        """Return whether `other` moves (None while uncertain), and the arms that are still undecided."""
        expected, marginal_radius = self._marginal(other)
        open_arms = []
        for state in self.settable[variable]:
            arm = Intervention({variable: state})
            radius = self._effect_radius(variable, other, arm)
            if math.isinf(radius):
                open_arms.append(arm)
                continue
            seen = self.records[arm].frequencies(self._position[other])[: len(expected)]
            difference = float(np.abs(seen - expected).max())
            if difference > radius + marginal_radius:
                return True, []
            if difference + radius + marginal_radius >= self.requirements.effect_gap:
                open_arms.append(Intervention() if marginal_radius > radius else arm)
        return (None, open_arms) if open_arms else (False, [])

    # -- pulls -----------------------------------------------------------------------------------------------

    def _pulls(self, query: Query) -> Iterator[Pull]:
        """Yield pulls until the query is answered: first for the neighbours, as the reward uses them too."""
        for other in query.undecided:
            while True:
                moved, self._open = self._moved(query.variable, other)
                if moved is not None:
                    break
                yield self._batch(min(self._open, key=lambda arm: self.records[arm].rows))
            if moved:
                self._children.add(other)
        for contrast in contrasts(query, self.settable):
            while (differs := self._differs(contrast)) is None:
                radii = self._undecided(contrast)
                self._open = tuple(radii)
                yield self._batch(max(radii, key=lambda arm: radii[arm]))
            if differs:
                self._moves = True
                return

    def _batch(self, arm: Intervention, under_way: int = 0) -> Pull:
        return Pull(arm, max(_FIRST_BATCH, math.ceil((self.records[arm].rows + under_way) * _GROWTH)))
