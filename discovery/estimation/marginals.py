"""P(X = x) of every variable, and how far estimated probabilities may be off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discovery.errors import DiscoveryError

if TYPE_CHECKING:
    from discovery.table.discrete_table import DiscreteTable

__all__ = ["Marginals"]


@dataclass(frozen=True, eq=False)
class Marginals:
    """The distribution of each variable under plain observation, known exactly or from rows.

    Attributes
    ----------
    probabilities
        For each variable a float64 array [K] in the order of its states; the arrays are read-only.
    rows
        The number of observations behind them; None when they are exact.
    reward_mean
        The mean reward under plain observation; None when unknown.

    Raises
    ------
    DiscoveryError
        If a variable's probabilities are negative or don't add up to 1, or `rows` is not positive.

    Examples
    --------
    >>> known = Marginals({"A": np.array([0.25, 0.75])})
    >>> known.rows is None, known.sampling_error(0.05)
    (True, 0.0)
    >>> round(Marginals({"A": np.array([0.25, 0.75])}, rows=10_000).sampling_error(0.05), 4)
    0.018
    """

    probabilities: Mapping[str, NDArray[np.float64]]
    rows: int | None = None
    reward_mean: float | None = None

    def __post_init__(self) -> None:
        if self.rows is not None and self.rows < 1:
            raise DiscoveryError(f"Expected at least one row behind the marginals but found {self.rows}")
        checked = {variable: _checked(variable, values) for variable, values in self.probabilities.items()}
        object.__setattr__(self, "probabilities", checked)

    @classmethod
    def from_table(cls, table: DiscreteTable) -> Marginals:
        """Return every state's observed frequency, and the mean of the rewards if there are any."""
        frequencies = {
            variable: np.bincount(table.codes[:, column], minlength=len(states)) / table.n_rows
            for column, (variable, states) in enumerate(table.states.items())
        }
        mean = None if table.rewards is None else float(np.mean(table.rewards))
        return cls(frequencies, rows=table.n_rows, reward_mean=mean)

    def sampling_error(self, failure_prob: float) -> float:
        """Return η: with probability 1 − failure_prob/8 nothing here is off by more than η; 0 when exact.

        Notes
        -----
        Hoeffding's inequality over the at most nK probabilities, n variables of at most K states:
        η = sqrt(log(16nK/δ) / 2N) with δ = `failure_prob` and N = `rows`.
        """
        if not 0 < failure_prob < 1:
            raise DiscoveryError(f"Expected a failure_prob between 0 and 1 but found {failure_prob}")
        if self.rows is None or not self.probabilities:
            return 0.0
        n_states = max(len(values) for values in self.probabilities.values())
        return sqrt(log(16 * len(self.probabilities) * n_states / failure_prob) / (2 * self.rows))


def _checked(variable: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    checked = np.array(values, dtype=np.float64)
    if checked.ndim != 1 or not np.all(checked >= 0) or abs(checked.sum() - 1) > 1e-9:
        raise DiscoveryError(
            f"Expected the probabilities of {variable!r} to be non-negative and to add up to 1 but found "
            f"{checked.tolist()}"
        )
    checked.flags.writeable = False
    return checked
