"""The numbers that were chosen rather than derived, each with its reason.

`scripts/results --only tuned_numbers` plays with each of them halved, doubled and left out; RESULTS has it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SETS_ALONE", "Tuned"]


@dataclass(frozen=True)
class Tuned:
    """What was chosen by trying.

    Attributes
    ----------
    split
        Prior odds that rows in which a set was set differ from those in which it was observed. It is a price
        after a table that is right, and what keeps the loss finite after one that isn't.
    novel
        Prior odds that one of the states that nature never takes has a mean of its own.
    arms
        Prior odds that the arms have nothing in common, and of sets of one variable more than are looked for.
    prior_rows
        Rows at the mean of all rewards from which a mean of rewards of any scale starts: means differ by half
        of σ or so. In [0, 1] it is one row.
    growth
        The factor by which rows grow until larger sets are formed anew.
    most_tried, larger_sets
        The larger sets that are replayed then, and those of a size that are kept; both bound a row's time.
    question_share
        The share of the regret so far that discriminating pulls may make up with explore="identify".
    alone
        The factor by which rows have to grow while invariance screening has a single set left.
    """

    split: float = 0.02
    novel: float = 0.3
    arms: float = 0.003
    prior_rows: float = 4.0
    growth: float = 1.5
    most_tried: int = 200
    larger_sets: int = 4
    question_share: float = 0.9
    alone: float = 1.4


#: No doubts: the reward depends on one of the sets.
SETS_ALONE = Tuned(split=0.0, novel=0.0, arms=0.0)
