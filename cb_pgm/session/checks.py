"""What the record shows against its own intervals: rows never told, and rewards that depend on time or order.

The intervals presume that an arm's rewards are alike and independent, in whatever order they come. Three
questions are put to the rewards of each arm, each by Spearman's test of independence: do they go with the
number of their pull (*time*), with whether the pull before was of the same arm (*arm before*), with the mean
reward of the pull before (*reward before*)?

Each question has a third of δ, shared equally by the arms. An arm is looked at whenever its finished pulls
have a quarter more rows, and a look spends as much of the share as its new rows are of the horizon ([1]_): so
it doesn't matter how often anybody asks, nor in which order the rows of a pull are told.

No test tells why rows were never told. What it comes to if each had had the worst or the best reward is said.

References
----------
.. [1] Lan & DeMets (1983), Discrete sequential boundaries for clinical trials, Biometrika 70.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cb_pgm.model.intervention import Intervention
from cb_pgm.session.state import SessionState
from cb_pgm.session.texts import setting_text
from discovery.wording import number

__all__ = ["QUESTIONS", "Irregularity", "irregularities"]

_FIRST_LOOK = 32  # rows of an arm
_GROWTH = 1.25  # of its rows from one look to the next

#: The questions, and what the answer means.
QUESTIONS = {
    "time": "changed with time (p = {p:.1g}): its mean and interval are those of the whole time, not of now, "
    "and what is said of causes may be wrong; compare the control's latest rows, or start a new session",
    "arm before": "depends on whether the pull before was of the same arm (p = {p:.1g}), a carry-over: means "
    "and intervals hold for this order of pulls only; let it wash out, or set an arm for longer",
    "reward before": "depends on the reward of the pull before (p = {p:.1g}): its rows aren't independent, "
    "so intervals are too short, and the best arm is less certain than it looks",
}

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Irregularity:
    """Something in the record that the intervals don't allow for.

    Attributes
    ----------
    kind
        "untold", "time", "arm before" or "reward before".
    intervention
        The arm.
    text
        What was noticed, and what it means for the intervals.
    p_value
        That of the first look that noticed it; None for rows that were never told.
    """

    kind: str
    intervention: Intervention
    text: str
    p_value: float | None = None


def irregularities(state: SessionState) -> tuple[Irregularity, ...]:
    """Return what was noticed: rows never told first, then question by question."""
    return (*_untold(state), *_dependences(state))


def _dependences(state: SessionState) -> Iterator[Irregularity]:
    rewards: dict[int, Array] = {}
    for told in state.record:
        if told.pull not in state.open and told.rows.complied.all() and len(told.rows):
            own = state.settings.reward.rewards(told.rows.fields)
            rewards[told.pull] = np.concatenate([rewards.get(told.pull, own[:0]), own])
    pulls: dict[Intervention, list[int]] = {}
    for pull in sorted(rewards):
        pulls.setdefault(state.pulls[pull].intervention, []).append(pull)
    share = state.settings.failure_prob / len(QUESTIONS) / max(len(state.policy.possible_arms), 1)
    for question, meaning in QUESTIONS.items():
        for arm, own_pulls in pulls.items():
            known = [pull for pull in own_pulls if question == "time" or pull - 1 in rewards]
            values = [_covariate(question, state, rewards, pull) for pull in known]
            p = _noticed(values, [rewards[pull] for pull in known], share / state.settings.horizon)
            if p is not None:
                text = f"the reward of {setting_text(arm)} {meaning.format(p=p)}"
                yield Irregularity(question, arm, text, p)


def _covariate(question: str, state: SessionState, rewards: dict[int, Array], pull: int) -> float:
    """Return what the rewards of a pull may go with."""
    if question == "time":
        return pull
    if question == "arm before":
        return float(state.pulls[pull - 1].intervention == state.pulls[pull].intervention)
    return float(rewards[pull - 1].mean())


def _noticed(values: Sequence[float], rewards: Sequence[Array], spent_a_row: float) -> float | None:
    """Return the p-value of the first look that shows a dependence of pulls' rewards; None if none does."""
    sizes = np.cumsum([len(own) for own in rewards], dtype=np.int64)
    if not len(sizes) or sizes[-1] < _FIRST_LOOK:
        return None
    from scipy.stats import spearmanr  # imported late: it takes half a second of every start

    covariate, every = np.repeat(values, np.diff(sizes, prepend=0)), np.concatenate(rewards)
    before, due = 0, float(_FIRST_LOOK)
    for n in map(int, sizes):
        if n < due:
            continue
        if np.ptp(covariate[:n]) > 0 and np.ptp(every[:n]) > 0:
            p = float(spearmanr(covariate[:n], every[:n]).pvalue)
            if p <= spent_a_row * (n - before):
                return p
        before, due = n, _GROWTH * n
    return None


def _untold(state: SessionState) -> Iterator[Irregularity]:
    """Yield the arms of which rows were asked for and never told, or are overtaken by later pulls."""
    latest = max((part.pull for part in state.record if len(part.rows)), default=0)
    asked: dict[Intervention, int] = {}
    missing: dict[Intervention, int] = {}
    for pull in state.pulls.values():
        if pull.intervention in state.excluded:
            continue
        asked[pull.intervention] = asked.get(pull.intervention, 0) + pull.size
        if pull.number not in state.open or pull.number < latest:
            missing[pull.intervention] = missing.get(pull.intervention, 0) + pull.left
    low, high = state.settings.reward.limits
    rewards = state.rewards_by_arm()
    for arm, left in missing.items():
        if not left:
            continue
        text = (
            f"{left:,} of {asked[arm]:,} {state.settings.unit} asked for with {setting_text(arm)} are "
            f"missing. If that has to do with their rewards, its mean and its interval are wrong"
        )
        if arm in rewards and math.isfinite(high - low):
            own = rewards[arm]
            ends = [number((own.sum() + left * end) / (len(own) + left)) for end in (low, high)]
            text += f": with them its mean lies between {ends[0]} and {ends[1]}"
        yield Irregularity("untold", arm, f"{text}; tell all rows, failures too")
