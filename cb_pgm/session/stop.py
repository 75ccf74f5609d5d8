"""How far a session is from its end by the best arm, in words and for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cb_pgm.evidence.stopping import Basis, Shortfall
from cb_pgm.session.texts import setting_text
from discovery.wording import number

__all__ = ["Stop"]


@dataclass(frozen=True)
class Stop:
    """What ends a session before its horizon.

    Attributes
    ----------
    within, basis
        The tolerance, in units of the reward, and what is assumed (`SessionSettings`).
    found
        The arm that looks best, and the one that may be better by the most.
    most
        By how much it may be better, in units of the reward.
    rows_left
        About how many further rows of the two it takes; None where that can't be said.
    """

    within: float
    basis: Basis
    found: Shortfall
    most: float
    rows_left: int | None

    @property
    def met(self) -> bool:
        """Whether no arm can be better by more than the tolerance."""
        return self.most <= self.within

    def shown(self, max_parents: int) -> str:
        """Return what was shown, and on which grounds, as a sentence."""
        assert self.found.arm is not None
        text = f"no arm is better than {setting_text(self.found.arm)} by more than {number(self.within)}"
        if self.basis == "experimental":
            return f"{text}, by rows in which each was set"
        causes = "one cause" if max_parents == 1 else f"at most {max_parents} causes"
        return f"{text}, if the reward has {causes} among the variables and no hidden one acts"

    def left(self, unit: str) -> str:
        """Return what is left to be shown."""
        if self.found.missing or self.found.arm is None or self.found.challenger is None:
            return self.found.missing or "nothing was recorded"
        rival, arm = setting_text(self.found.challenger), setting_text(self.found.arm)
        text = (
            f"{rival} may still be better than {arm} by {number(self.most)}, {number(self.within)} is allowed"
        )
        more = self.rows_left
        return text if more is None else f"{text}: about {more:,} further {unit} of the two"

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "within": self.within,
            "basis": self.basis,
            "met": self.met,
            "arm": None if self.found.arm is None else dict(self.found.arm),
            "rows_left": self.rows_left,
        }
