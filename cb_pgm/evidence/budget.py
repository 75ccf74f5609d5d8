"""The failure probability δ of a policy, divided among its claims."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cb_pgm.errors import PolicyError

__all__ = ["FailureBudget"]


@dataclass(frozen=True)
class FailureBudget:
    """Shares of δ by kind of claim; by a union bound, all claims hold with probability ≥ 1 − `total`.

    Attributes
    ----------
    identification
        The probability that screening ever rules out the reward's true parents.
    invariance
        The probability that invariance screening ever rules them out, where a hidden cause moves the reward.
    search
        The probability that a search on the graph identifies a wrong variable.
    intervals
        The probability that the confidence interval of any arm's mean is ever wrong.

    Raises
    ------
    PolicyError
        If a share is negative or their sum isn't inside (0, 1).

    Examples
    --------
    >>> print(FailureBudget(identification=0.025, intervals=0.025))
    δ = 0.05: identification 0.025, intervals 0.025
    """

    identification: float = 0.0
    invariance: float = 0.0
    search: float = 0.0
    intervals: float = 0.0

    def __post_init__(self) -> None:
        if min(self.shares().values(), default=0.0) < 0 or not 0 < self.total < 1:
            raise PolicyError(f"Expected failure_prob between 0 and 1 but found {self.total:g}")

    @property
    def total(self) -> float:
        """δ, the sum of the shares."""
        return sum(self.shares().values())

    def shares(self) -> dict[str, float]:
        """Return the shares that are not 0, by name."""
        named = {field.name: float(getattr(self, field.name)) for field in fields(self)}
        return {name: share for name, share in named.items() if share != 0}

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {share:g}" for name, share in self.shares().items())
        return f"δ = {self.total:g}: {shares}"
