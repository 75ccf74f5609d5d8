"""The values that pass between policies and the world.

An `Intervention` sets some variables to a state each; the empty one is do(), plain observation. A `Pull` asks
for one intervention, a number of times. `Observations` are the rows that result: every variable's state and
the reward. An `ArmEstimate` is what rows say of an arm's mean reward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArmEstimate", "Intervention", "Observations", "Pull", "States"]

#: The states of some variables, by the variable's name.
States = Mapping[str, Sequence[str]]


class Intervention(Mapping[str, str]):
    """do(X = x, ...): an immutable, hashable mapping from variable to state.

    Examples
    --------
    >>> drug = Intervention({"drug": "high"})
    >>> drug["drug"], len(drug), drug == {"drug": "high"}
    ('high', 1, True)
    >>> str(drug), str(Intervention())
    ('do(drug = high)', 'do()')
    """

    __slots__ = ("_hash", "_states")

    def __init__(self, states: Mapping[str, str] | None = None) -> None:
        self._states = dict(states or {})
        self._hash = hash(frozenset(self._states.items()))

    def __getitem__(self, variable: str) -> str:
        return self._states[variable]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Intervention):
            return self._states == other._states
        return self._states == other

    def __str__(self) -> str:
        return f"do({', '.join(f'{variable} = {state}' for variable, state in self._states.items())})"

    def __repr__(self) -> str:
        return f"Intervention({self._states!r})"


@dataclass(frozen=True, slots=True)
class Pull:
    """A request to do `intervention` for the next `size` rounds; `why` is for people, not for equality."""

    intervention: Intervention
    size: int = 1
    why: str = field(default="", compare=False)


@dataclass(slots=True, eq=False)
class Observations:
    """Rows seen under one intervention. (A frozen class would triple the cost of a simulated round.)

    Attributes
    ----------
    codes
        int16 [size, n]: each variable's state as its index in ``states[variable]``, in the order of
        ``states``.
    rewards
        float64 [size].
    """

    codes: NDArray[np.int16]
    rewards: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rewards)


@dataclass(frozen=True)
class ArmEstimate:
    """The estimated mean reward of an arm.

    Attributes
    ----------
    intervention
        The arm.
    mean
        The mean reward, in the reward's unit.
    low, high
        The ends of an interval for the true mean; the intervals of all arms hold at all times at once.
    rows
        The number of rows that the estimate rests on.
    grounds
        Why it should be believed: "measured" by rows in which the arm was set; "identified" by rows that had
        its states, set or seen, which is right if the variables identified are the reward's parents.
    """

    intervention: Intervention
    mean: float
    low: float
    high: float
    rows: int
    grounds: str = "measured"
