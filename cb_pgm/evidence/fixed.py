"""The paper's evidence: B pulls of every arm, then a comparison with half the gap.

Source: Lu, Meisami & Tewari (2021), Theorem 1 (B) and Algorithms 1, 3 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from cb_pgm.evidence.base import Contrast, Evidence, contrasts
from cb_pgm.model.intervention import Intervention, Pull
from cb_pgm.search.query import Probe, Query
from cb_pgm.theory.bounds import batch_size

__all__ = ["FixedEvidence"]


class FixedEvidence(Evidence):
    """Pulls every arm of a query B times and compares means with half the gap.

    By a union bound over arms, all answers are correct with probability ≥ 1 − δ. An arm that was pulled B
    times for one query isn't pulled again for another.

    Attributes
    ----------
    batch
        B, in pulls per arm. It is infinite if a gap is 0, or if the sampling error of the marginals is at
        least half the effect gap.
    """

    def _set_up(self) -> None:
        self.batch = self._batch(1)
        self._wanted: list[tuple[Intervention, float]] = []

    def impossible(self) -> str | None:
        if math.isfinite(self.batch):
            return None
        needs = self.requirements
        if needs.reward_gap > 0 and needs.effect_gap > 0:
            return (
                f"marginals from {self.marginals.rows} observations are too coarse for an effect gap of "
                f"{needs.effect_gap:.4g}: more observations are needed"
            )
        which = "reward gap" if needs.reward_gap == 0 else "effect gap"
        return f"the {which} is 0, so no number of pulls is enough"

    def next_pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        for intervention, batch in self._wanted:
            missing = batch - self._rows(intervention) - under_way.get(intervention, 0)
            if missing > 0:
                return Pull(intervention, int(missing))
        return None

    def probe(self) -> Probe:
        query = self._begun()
        return Probe(self._moves, [other for other in query.undecided if self._moved(query.variable, other)])

    def _pulls(self, query: Query) -> Iterator[Pull]:
        """Yield pulls until every arm has its B rows; stop at the first contrast that shows a difference."""
        own = [Intervention({query.variable: state}) for state in self.settable[query.variable]]
        self._wanted = [(arm, self.batch) for arm in own] if query.undecided else []
        for contrast in contrasts(query, self.settable):
            joint_states = math.prod(len(self.settable[held]) for held in contrast.base)
            batch = self._batch(joint_states)
            self._wanted += [(arm, batch) for arm in (contrast.base, *contrast.arms)]
            yield from self._fill()
            if self._differs(contrast):
                self._moves = True
                return
            self._wanted = []

    def _fill(self) -> Iterator[Pull]:
        # A pull may return fewer rows than requested, so continue until all are there.
        for intervention, batch in self._wanted:
            while (missing := batch - self._rows(intervention)) > 0:
                yield Pull(intervention, int(missing))

    def _rows(self, intervention: Intervention) -> float:
        # The observations count as rows under do().
        return self.records[intervention].rows if intervention else self._base_mean(intervention)[0]

    def _batch(self, joint_states: int) -> float:
        """Return B with the union bound over all arms at `joint_states` joint states of the held variables.

        1 means that no variable is held. Under held variables only rewards are compared, so effects and
        marginals put no demand on B there.
        """
        needs = self.requirements
        batch: float = batch_size(
            len(self.states) * joint_states,
            self._n_states,
            needs.reward_gap,
            needs.effect_gap if joint_states == 1 else 1.0,
            needs.failure_prob,
            noise_scale=needs.noise_scale,
            marginal_rows=self.marginals.rows if joint_states == 1 else None,
        )
        return batch

    def _differs(self, contrast: Contrast) -> bool:
        _, base = self._base_mean(contrast.base)
        threshold = self.requirements.reward_gap / 2
        return any(abs(self.records[arm].mean - base) > threshold for arm in contrast.arms)

    def _moved(self, variable: str, other: str) -> bool:
        position, threshold = self._position[other], self.requirements.effect_gap / 2
        expected = self.marginals.probabilities[other]
        for state in self.settable[variable]:
            seen = self.records[Intervention({variable: state})].frequencies(position)
            if np.abs(seen[: len(expected)] - expected).max() > threshold:
                return True
        return False
