"""Is there only one variable that may be the reward's cause? Screening and the scores of sets tell."""

from __future__ import annotations

import numpy as np

from cb_pgm.effects.noise import RewardScale
from cb_pgm.evidence.hypotheses import Hypotheses
from cb_pgm.evidence.screening import Screening
from cb_pgm.model.canonical import Rows
from cb_pgm.model.reward_parents import set_score

__all__ = ["identified_cause"]


def identified_cause(
    rows: Rows, scale: RewardScale, failure_prob: float, rng: np.random.Generator
) -> int | None:
    """Return the only variable that screening leaves as the reward's single cause; None if there isn't one.

    There is none either if the rows are likelier with a second cause, or where it was set in some rows.

    The rows come in random order, since the test takes each as drawn anew given the past; canonical order
    would sort the rewards.
    """
    if len(rows.variables) < 2:
        return None
    if scale.residual <= 0 and not scale.binary:
        return None
    hypotheses = Hypotheses(rows.cards, 1, 0, scale.residual, in_unit_interval=scale.binary)
    screening = Screening(hypotheses, failure_prob)
    order = rng.permutation(len(rows.all_rewards))
    hypotheses.add(np.ascontiguousarray(rows.all_codes[order]), rows.all_rewards[order])
    screening.update()
    if screening.left != 1:
        return None
    ((cause,),) = screening.candidates
    score = set_score(rows.all_codes, rows.all_rewards, rows.cards)
    others = (column for column in range(len(rows.cards)) if column != cause)
    has_second = any(score(tuple(sorted((cause, other)))) > score((cause,)) for other in others)
    return None if has_second or (rows.targets == cause).any() else cause
