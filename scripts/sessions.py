"""What a session notices of its own record, and how often it raises an alarm for nothing.

A shop with three factors and two contexts: the new banner sells to .8 of the visitors, the old one to .3, the
other factors do nothing, and the device adds or takes .05. Today's practice, do(), is the control. `KINDS`
has what disturbs it. A run is noticed if the warning of its kind is there by the last row; if nothing
disturbs it, if any warning is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from results_page import markdown_table
from results_run import Run

from cb_pgm.model.intervention import Intervention
from cb_pgm.session.checks import irregularities
from cb_pgm.session.events import Rows, Told
from cb_pgm.session.settings import RewardColumn, SessionSettings
from cb_pgm.session.state import SessionState
from cb_pgm.session.status import status_of

ROWS, RUNS, STATIONARY_RUNS = 3000, 40, 200
LOOKS = 12  # at the record, in the course of a run
DELTA = 0.05
GAIN = 0.25  # of the new banner over today's practice

STATES = {
    "banner": ("old", "new"),
    "price": ("low", "middle", "high"),
    "mail": ("no", "yes"),
    "device": ("phone", "desk"),
    "day": ("week", "weekend"),
}
SETTABLE = ("banner", "price", "mail")


@dataclass(frozen=True)
class Kind:
    """A disturbance: what it is, the warnings that notice it, and the rows of a pull."""

    what: str
    noticed_as: tuple[str, ...]
    batch: int = 1


KINDS = {
    "stationary": Kind("nothing", ("time", "arm before", "reward before", "untold")),
    "drift": Kind("all rates rise by .3 in the course of the rows", ("time",)),
    "step": Kind("from half of the rows on all rates are lower by .2", ("time",)),
    "carry-over": Kind("half of the visitors still act on the arm before", ("arm before",)),
    "copies": Kind("half of the rewards are that of the visitor before", ("reward before",)),
    "failures untold": Kind("visitors who bought nothing are never told", ("untold",), batch=10),
}


def make(run: Run) -> dict[str, str]:
    runs = {kind: (STATIONARY_RUNS if kind == "stationary" else RUNS) for kind in KINDS}
    if run.quick:
        runs = dict.fromkeys(KINDS, 2)
    units = [(kind, number, run.seed) for kind, count in runs.items() for number in range(count)]
    records = run.each(play, units)
    rows = []
    for kind, about in KINDS.items():
        own = [one for unit, one in zip(units, records, strict=True) if unit[0] == kind]
        after = sorted(one["noticed"] for one in own if one["noticed"] is not None)
        rows.append(
            (
                f"{kind}: {about.what}",
                f"{len(own)}",
                f"{len(after)}",
                f"{after[len(after) // 2]:,}" if after else "",
                f"≤ {DELTA * len(own):.0f}" if kind == "stationary" else f"≥ {0.9 * len(own):.0f}",
                f"{sum(one['right'] for one in own)}",
                f"{sum(one['covered'] for one in own)}",
            )
        )
    head = ["what disturbs", "runs", "noticed", "median rows", "goal", "right arm best", "gain covered"]
    return {"sessions": markdown_table(head, rows)}


def play(kind: str, number: int, seed: int) -> dict[str, object]:
    """Play a session of screening; return after how many rows it noticed, and if arm and gain are right."""
    place = list(KINDS).index(kind)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(place, number)))
    state = SessionState(_settings(number))
    noticed, due, before = None, ROWS // LOOKS, Intervention()
    asked_rows, last = 0, 0.0
    while state.over is None and asked_rows < ROWS:
        asked = state.propose(KINDS[kind].batch)
        state.apply(asked, asked=True)
        arm, size = asked.intervention, asked.size
        codes = _visitors(arm, size, rng)
        shares = _shares(codes)
        if kind == "carry-over":
            shares = np.where(rng.random(size) < 0.5, _shares(_visitors(before, size, rng)), shares)
        elif kind == "drift":
            shares = shares + 0.3 * (asked_rows / ROWS - 0.5)
        elif kind == "step":
            shares = shares - 0.2 * (asked_rows >= ROWS / 2)
        rewards = (rng.random(size) < shares).astype(np.float64)
        if kind == "copies" and rng.random() < 0.5:
            rewards[:] = last
        last = float(rewards[-1])
        told = rewards == 1 if kind == "failures untold" else np.ones(size, dtype=np.bool_)
        rows = Rows(codes[told], rewards[told], np.ones(int(told.sum()), dtype=np.bool_))
        state.apply(Told(asked.pull or 0, rows, True, ""))
        before, asked_rows = arm, asked_rows + size
        if noticed is None and (asked_rows >= due or asked_rows >= ROWS):
            due += ROWS // LOOKS
            if {one.kind for one in irregularities(state)} & set(KINDS[kind].noticed_as):
                noticed = asked_rows
    status = status_of(state)
    gain = status.comparison.gain
    return {
        "noticed": noticed,
        "right": status.best_arm is not None and status.best_arm.intervention == {"banner": "new"},
        "covered": gain is not None and gain.low <= GAIN <= gain.high,
    }


def _settings(number: int) -> SessionSettings:
    return SessionSettings(
        policy="screening",
        horizon=ROWS,
        states=STATES,
        settable={name: STATES[name] for name in SETTABLE},
        reward=RewardColumn("bought", "yes", ("no", "yes")),
        noise_scale=0.5,
        failure_prob=DELTA,
        control={},
        unit="visitors",
        seed=number,
    )


def _visitors(arm: Intervention, size: int, rng: np.random.Generator) -> NDArray[np.int16]:
    """Draw the states of visitors, all equally likely, but for what is set."""
    columns = [
        np.full(size, states.index(arm[name])) if name in arm else rng.integers(len(states), size=size)
        for name, states in STATES.items()
    ]
    return np.stack(columns, axis=1).astype(np.int16)


def _shares(codes: NDArray[np.int16]) -> NDArray[np.float64]:
    """Return the probability that each visitor buys."""
    banner, device = codes[:, 0], codes[:, 3]
    return np.where(banner == 1, 0.8, 0.3) + np.where(device == 1, 0.05, -0.05)
