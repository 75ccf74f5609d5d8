"""The base class of evidence: it turns a query of a search into contrasts between arms.

A query asks whether setting a variable moves the reward, and which of its neighbours it moves. Evidence
decides how often each arm is pulled for the answer, and when the answer is certain.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.records import Records
from cb_pgm.model.intervention import Intervention, Observations, Pull
from cb_pgm.search.query import Probe, Query
from discovery.estimation.marginals import Marginals

__all__ = ["Contrast", "Evidence", "Requirements", "contrasts"]


@dataclass(frozen=True)
class Requirements:
    """The assumptions under which answers must be correct.

    Attributes
    ----------
    reward_gap, effect_gap
        Δ of Assumption 3, in units of the reward, and ε of Assumption 2, a difference of probabilities. With
        a gap of 0 no number of pulls gives an answer.
    failure_prob
        δ, the probability that any answer of a search is wrong.
    noise_scale
        σ such that the reward under every arm is σ-subgaussian about its mean.

    Raises
    ------
    PolicyError
        If a gap is negative or δ is not inside (0, 1).
    """

    reward_gap: float
    effect_gap: float
    failure_prob: float
    noise_scale: float

    def __post_init__(self) -> None:
        for name in ("reward_gap", "effect_gap"):
            if not getattr(self, name) >= 0:
                raise PolicyError(f"Expected {name} to be 0 or more but found {getattr(self, name)}")
        if not 0 < self.failure_prob < 1:
            raise PolicyError(f"Expected failure_prob between 0 and 1 but found {self.failure_prob}")


@dataclass(frozen=True)
class Contrast:
    """Does the mean reward under any of `arms` differ from that under `base`?"""

    base: Intervention
    arms: tuple[Intervention, ...]


def contrasts(query: Query, settable: Mapping[str, Sequence[str]]) -> list[Contrast]:
    """Return the contrasts that answer the reward part of `query`: one per joint state of the held variables.

    The variable moves the reward iff one of the contrasts shows a difference. Held variables that can't be
    set are ignored.

    Examples
    --------
    >>> states = {"A": ("0", "1"), "B": ("0", "1")}
    >>> [str(arm) for arm in contrasts(Query("A"), states)[0].arms]
    ['do(A = 0)', 'do(A = 1)']
    >>> [str(contrast.base) for contrast in contrasts(Query("A", fixed={"B": None}), states)]
    ['do(B = 0)', 'do(B = 1)']
    """
    choices = [
        [(variable, state) for state in ((state,) if state is not None else settable[variable])]
        for variable, state in query.fixed.items()
        if settable.get(variable)
    ]
    found = []
    for held in itertools.product(*choices):
        base = Intervention(dict(held))
        arms = tuple(Intervention({query.variable: state, **base}) for state in settable[query.variable])
        found.append(Contrast(base, arms))
    return found


class Evidence(ABC):
    """Turns one query at a time into pulls and decides when its answer is certain.

    The caller starts a query with `begin`, plays the pulls of `next_pull` and passes their rows to `add`
    until `next_pull` returns None, then reads the answer from `probe`.

    Parameters
    ----------
    states, settable
        As in `Policy`.
    marginals
        P(X) under do(), exact or estimated from `marginals.rows` observations. Its `reward_mean`, if known,
        comes from the same rows.
    requirements
        Gaps, δ and σ.
    """

    def __init__(
        self,
        states: Mapping[str, Sequence[str]],
        settable: Mapping[str, Sequence[str]],
        marginals: Marginals,
        requirements: Requirements,
    ) -> None:
        self.states = states
        self.settable = settable
        self.marginals = marginals
        self.requirements = requirements
        self.records = Records(states)
        self._position = {variable: position for position, variable in enumerate(states)}
        self._n_states = max(len(values) for values in states.values())
        self._query: Query | None = None
        self._plan: Iterator[Pull] = iter(())
        self._moves = False
        self._set_up()

    @abstractmethod
    def _set_up(self) -> None:
        """Set the fields of the subclass; called once, at the end of the constructor."""

    @abstractmethod
    def _pulls(self, query: Query) -> Iterator[Pull]:
        """Yield pulls until the answer to the query is certain; set `_moves` if the reward moves."""

    @abstractmethod
    def impossible(self) -> str | None:
        """Return why no number of pulls gives an answer under these requirements; None if one does."""

    def begin(self, query: Query) -> None:
        """Start to answer the next query."""
        self._query = query
        self._moves = False
        self._plan = self._pulls(query)

    def next_pull(self) -> Pull | None:
        """Return the next pull for the query; None once its answer is certain."""
        return next(self._plan, None)

    @abstractmethod
    def next_pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull | None:
        """Return a further pull for the query while earlier pulls are still outstanding.

        Call it only after `next_pull` has returned a pull.

        Parameters
        ----------
        under_way
            The number of outstanding rows of each intervention.

        Returns
        -------
        Pull or None
            None if the outstanding rows are all that is known to be needed.
        """

    @abstractmethod
    def probe(self) -> Probe:
        """Return the answer to the query; call it once `next_pull` has returned None.

        Raises
        ------
        PolicyError
            If no query was begun.
        """

    def add(self, intervention: Intervention, observations: Observations) -> None:
        """Add rows to the records, whichever query they were pulled for."""
        self.records.add(intervention, observations)

    def reward_change(self, query: Query) -> float | None:
        """Return the largest observed difference in mean reward between setting the variable and not.

        None without rows of both.
        """
        differences = [
            abs(self.records[arm].mean - self._base_mean(contrast.base)[1])
            for contrast in contrasts(query, self.settable)
            for arm in contrast.arms
            if self.records[arm].rows and self._base_mean(contrast.base)[0]
        ]
        return max(differences, default=None)

    def _begun(self) -> Query:
        """Return the query that is being answered."""
        if self._query is None:
            raise PolicyError("Expected a query before an answer but found none: call begin first")
        return self._query

    def _base_mean(self, base: Intervention) -> tuple[float, float]:
        """Return (rows, mean reward) under `base`; under do() the observations' rows count too."""
        record = self.records[base]
        if base or self.marginals.reward_mean is None:
            return record.rows, record.mean
        if self.marginals.rows is None:
            return float("inf"), self.marginals.reward_mean
        rows = self.marginals.rows + record.rows
        return rows, (self.marginals.rows * self.marginals.reward_mean + record.total) / rows
