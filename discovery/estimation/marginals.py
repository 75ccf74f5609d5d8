"""The marginals P(X = x) of all variables, and a bound on the error of estimated ones."""

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
    """The distribution of each variable without intervention, known exactly or estimated from rows.

    Attributes
    ----------
    probabilities
        For each variable its probabilities, float64 [K] in the order of its K states; read-only.
    rows
        The number of observations from which they are estimated; None if they are exact.
    reward_mean
        The mean reward without intervention; None if it is unknown.

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
            raise DiscoveryError(
                f"Expected marginals of at least one row but found {self.rows}: give None if they are exact"
            )
        checked = {variable: _checked(variable, values) for variable, values in self.probabilities.items()}
        object.__setattr__(self, "probabilities", checked)

    @classmethod
    def from_table(cls, table: DiscreteTable) -> Marginals:
        """Return the observed frequency of every state, and the mean of the rewards if the table has them."""
        if table.n_rows == 0:
            raise DiscoveryError(
                "Expected observational rows to count states in but found none: add observations"
            )
        frequencies = {
            variable: np.bincount(table.codes[:, column], minlength=len(states)) / table.n_rows
            for column, (variable, states) in enumerate(table.states.items())
        }
        mean = None if table.rewards is None else float(np.mean(table.rewards))
        return cls(frequencies, rows=table.n_rows, reward_mean=mean)

    def sampling_error(self, failure_prob: float) -> float:
        """Return η such that with probability at least 1 − failure_prob/8 every probability is within η.

        It is 0 if the marginals are exact.

        Raises
        ------
        DiscoveryError
            If `failure_prob` isn't between 0 and 1.

        Notes
        -----
        By Hoeffding's inequality and a union bound over the at most nK probabilities of n variables with at
        most K states each, η = sqrt(log(16nK/δ) / 2N) with δ = `failure_prob` and N = `rows`.
        """
        if not 0 < failure_prob < 1:
            raise DiscoveryError(
                f"Expected a failure_prob between 0 and 1 but found {failure_prob}: take .05, say"
            )
        if self.rows is None or not self.probabilities:
            return 0.0
        n_states = max(len(values) for values in self.probabilities.values())
        return sqrt(log(16 * len(self.probabilities) * n_states / failure_prob) / (2 * self.rows))


def _checked(variable: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
    checked = np.array(values, dtype=np.float64)
    if checked.ndim != 1 or not np.all(checked >= 0) or abs(checked.sum() - 1) > 1e-9:
        raise DiscoveryError(
            f"Expected the probabilities of {variable!r} to be non-negative and to add up to 1 but found "
            f"{checked.tolist()}: divide counts by their sum"
        )
    checked.flags.writeable = False
    return checked
