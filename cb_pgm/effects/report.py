"""`EffectsReport`: the answer from a table as a value, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cb_pgm.effects.measured import finite_ends
from cb_pgm.effects.text import report_text
from cb_pgm.effects.values import Answer, ArmEffect, ArmRows
from cb_pgm.model.intervention import Intervention

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["EffectsReport"]


@dataclass(frozen=True)
class EffectsReport(Answer):
    """What a table says of every arm, and the decision; the fields are those of `Answer`."""

    def to_text(self) -> str:
        """Return the answer in sentences, with a table of the arms."""
        return report_text(self)

    def __repr__(self) -> str:
        leader = ", ".join(f"{name} = {state}" for name, state in self.decision.leader.items()) or "do()"
        decided = "set" if self.decision.basis == "experimental" else "best bet"
        said = f"{decided} {leader}" if self.decision.is_decided else f"{leader} looks best"
        return f"EffectsReport({len(self.arms)} arms, {said})"

    def to_frame(self) -> pd.DataFrame:
        """Return the arms, a row each; what the table says nothing of is missing.

        Columns: variable, state; rows_seen, mean_seen; rows_set, mean_set, low_set, high_set; low_bound and
        high_bound (nothing assumed); mean, low, high (over graphs); p_best, p_better.
        """
        import pandas as pd

        rows = []
        for arm in self.arms:
            seen, done = arm.seen, arm.set_rows
            low_set, high_set = (None, None) if done is None else done.interval
            low, high = arm.interval or (None, None)
            rows.append(
                {
                    "variable": arm.variable,
                    "state": arm.state,
                    "rows_seen": 0 if seen is None else seen.rows,
                    "mean_seen": None if seen is None else seen.mean,
                    "rows_set": 0 if done is None else done.rows,
                    "mean_set": None if done is None else done.mean,
                    "low_set": low_set,
                    "high_set": high_set,
                    "low_bound": arm.bounds[0],
                    "high_bound": arm.bounds[1],
                    "mean": arm.mean,
                    "low": low,
                    "high": high,
                    "p_best": arm.p_best,
                    "p_better": arm.p_better,
                }
            )
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer for `json.dumps`.

        Without a recommendation "intervention" is null, and "mean" and "interval" are those of doing nothing;
        "gain" is that of the arm that looks best. All but the basis "experimental" presumes that nothing
        hidden acts on both a variable and the reward, and that the rows are a random sample. What the table
        says nothing of is null: the mean of doing nothing without a row in which nothing was set ("gain" is
        then that over the closest rival), and means over graphs where none are drawn.
        """
        return {
            "do_nothing": {"mean": self.do_nothing, "interval": finite_ends(self.do_nothing_interval)},
            "arms": [_arm(arm) for arm in self.arms],
            "edges": [
                {"edge": list(edge.edge), "forward": edge.forward, "backward": edge.backward}
                for edge in self.edges
            ],
            "hangs_on": [
                {
                    "edge": list(edge.edge),
                    "share": edge.share,
                    "best_if_forward": _setting(edge.best_if_forward),
                    "best_if_backward": _setting(edge.best_if_backward),
                }
                for edge in self.hangs_on
            ],
            "contrasts": [
                {
                    "variable": contrast.variable,
                    "state": contrast.state,
                    "against": contrast.against,
                    "difference": contrast.difference,
                    "interval": finite_ends(contrast.interval),
                    "basis": contrast.basis,
                }
                for contrast in self.contrasts
            ],
            "recommendation": self._recommendation(),
            "warnings": list(self.warnings),
        }

    def _recommendation(self) -> dict[str, Any]:
        decision = self.decision
        gain, set_it = decision.gain, decision.is_decided
        return {
            "intervention": dict(decision.leader) if set_it else None,
            "grounds": decision.grounds,
            "basis": decision.basis,
            "mean": decision.mean if set_it else self.do_nothing,
            "interval": finite_ends(decision.interval if set_it else self.do_nothing_interval),
            "gain": None if gain is None else gain.gain,
            "gain_interval": finite_ends(None if gain is None else gain.interval),
            "p_best": decision.p_best,
            "next": list(decision.next),
        }


def _arm(arm: ArmEffect) -> dict[str, Any]:
    seen, set_rows = arm.seen, arm.set_rows
    return {
        "variable": arm.variable,
        "state": arm.state,
        "seen": {"rows": 0, "mean": None} if seen is None else _rows(seen),
        "set": None if set_rows is None else _rows(set_rows),
        "bounds": finite_ends(arm.bounds),
        "mean": arm.mean,
        "interval": finite_ends(arm.interval),
        "p_best": arm.p_best,
        "p_better": arm.p_better,
    }


def _rows(shown: ArmRows) -> dict[str, Any]:
    return {"rows": shown.rows, "mean": shown.mean, "interval": finite_ends(shown.interval)}


def _setting(intervention: Intervention) -> dict[str, str] | None:
    return dict(intervention) or None
