"""How often the answers of `estimate_effects` are right: experiments, additive causes, and hidden causes.

*Trials*: 2 to 4 arms of 10 to 500 rows (log-uniform). Rewards are 0 and 1 with means uniform in .01 to .99,
the same with one arm or more constant, skewed (exponential, log-normal), or half of them zeros; in every
second trial all arms have the same mean. "miss" is the share of contrasts whose interval doesn't hold the
truth, "wrong" that of trials in which an arm is set that isn't better than all others, "set" that in which
one is set at all.

*Designs*, with effects as published: a class-size experiment within schools (small classes +5 points, aides
none), an incentive to learn one's test result (.34 without, .45 more with), a field trial in pairs. "shown"
is the share of tables whose first 25 lines have the contrast with the control, with an interval that holds
the truth.

*Additive causes*: 3 to 8 causes of 3 states with effects from N(0, 1), 200 to 2,000 rows, noise 1. "cover" is
the share of arms whose 95 % interval holds the truth, "error" the root mean square error over that of least
squares.

*Hidden causes and selection*: "unsaid" is the share of tables in which a line says "Set", or claims an effect
without its presumption; "bet" that with a best bet; "wrong" that whose best bet does no good.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from results_page import markdown_table
from results_run import Run

from cb_pgm import EffectsReport, estimate_effects
from discovery import DiscreteTable

__all__ = ["HIDDEN", "make", "table_of", "unpresumed"]

FRESH = 2_000_000  # seeds from here on were used in no tuning
TRIALS, DESIGNS, TABLES, DRAWS = 2000, 200, 60, 20
ADDITIVE = [(causes, rows) for causes in (3, 5, 8) for rows in (200, 600, 2000)]
REWARDS = ("0 and 1", "constant arms", "exponential", "log-normal", "half zeros")
BATCH = 100
PRESUMED = "if nothing hidden acts on both"

Array = NDArray[np.float64]
Codes = NDArray[np.int64]


def make(run: Run) -> dict[str, str]:
    """Return the section "answers"."""
    share = 20 if run.quick else 1
    base = FRESH + run.seed
    trials = [
        (kind, arms, base + number)
        for kind in REWARDS
        for arms in (2, 3, 4)
        for number in range(max(1, TRIALS // BATCH // share))
    ]
    designs = [(name, base + number) for name in DESIGN for number in range(DESIGNS // share)]
    draws, tables = (20, 3) if run.quick else (DRAWS, TABLES)
    additive = [(*cell, base + number, draws) for cell in ADDITIVE for number in range(tables)]
    hidden = [(name, base + number, draws) for name in HIDDEN for number in range(tables)]
    parts = [
        _table(("rewards", "arms", "trials", "set", "wrong", "miss"), run.each(of_trials, trials), 2),
        _table(("design", "tables", "shown"), run.each(of_design, designs), 1),
        _table(("causes", "rows", "tables", "cover", "error"), run.each(of_additive, additive), 2),
        _table(("hidden", "tables", "unsaid", "bet", "wrong"), run.each(of_hidden, hidden), 1),
    ]
    return {"answers": "\n\n".join(parts)}


def _table(head: tuple[str, ...], records: list[dict[str, Any]], keys: int) -> str:
    """Return a row for each cell, which its first `keys` entries name; other entries are ratios of sums."""
    cells: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        cells.setdefault(tuple(record[name] for name in head[:keys]), []).append(record)
    rows = []
    for cell, own in cells.items():
        row = [*map(str, cell), str(sum(one["n"] for one in own))]
        for name in head[keys + 1 :]:
            top, bottom = (sum(one[name][i] for one in own) for i in (0, 1))
            value = top / bottom if bottom else float("nan")
            row.append(f"{np.sqrt(value):.2f}" if name == "error" else f"{100 * value:.1f} %")
        rows.append(row)
    return markdown_table(head, rows)


def table_of(rewards: Array, **columns: Codes) -> DiscreteTable:
    codes = np.asfortranarray(np.column_stack(list(columns.values())).astype(np.int16))
    states = {name: tuple(map(str, range(int(own.max()) + 1))) for name, own in columns.items()}
    return DiscreteTable(codes, states, np.asarray(rewards, dtype=np.float64), "reward")


# -- experiments ---------------------------------------------------------------------------------------------


def of_trials(kind: str, arms: int, seed: int) -> dict[str, Any]:
    """Play a batch of trials."""
    rng = np.random.default_rng([REWARDS.index(kind), arms, seed])
    said = wrong = missed = contrasts = 0
    for number in range(BATCH):
        sizes = np.exp(rng.uniform(np.log(10), np.log(500), arms)).astype(int)
        means, parts = _arms(kind, sizes, rng, equal=number % 2 == 0)
        rewards = np.concatenate(parts)
        if np.ptp(rewards) == 0:
            continue
        report = estimate_effects(
            table_of(rewards, arm=np.repeat(np.arange(arms), sizes)), randomised=["arm"]
        )
        for one in report.contrasts:
            truth = means[int(one.state)] - means[int(one.against)]
            missed += not one.interval[0] - 1e-12 <= truth <= one.interval[1] + 1e-12
            contrasts += 1
        if report.decision.is_decided:
            said += 1
            leader = int(report.decision.leader["arm"])
            wrong += bool(means[leader] <= np.delete(means, leader).max() + 1e-12)
    return {
        "rewards": kind, "arms": arms, "n": BATCH,
        "set": (said, BATCH), "wrong": (wrong, BATCH), "miss": (missed, contrasts),
    }  # fmt: skip


def _arms(kind: str, sizes: Codes, rng: np.random.Generator, *, equal: bool) -> tuple[Array, list[Array]]:
    """Return the arms' true means and their rewards."""
    arms = len(sizes)
    if kind in ("0 and 1", "constant arms"):
        means = rng.uniform(0.01, 0.99, arms)
        if kind == "constant arms":
            means[: int(rng.integers(1, arms))] = rng.integers(2)
        means = np.full(arms, means[-1]) if equal else means
        return means, [(rng.random(n) < mean).astype(float) for mean, n in zip(means, sizes, strict=True)]
    means = np.ones(arms) if equal else np.exp(rng.normal(0, 0.5, arms))
    shape: Callable[[int], Array] = {
        "exponential": lambda n: rng.exponential(1, n),
        "log-normal": lambda n: rng.lognormal(-0.5, 1, n),
        "half zeros": lambda n: 2 * rng.exponential(1, n) * (rng.random(n) < 0.5),
    }[kind]
    return means, [mean * shape(int(n)) for mean, n in zip(means, sizes, strict=True)]


def _class_size(rng: np.random.Generator) -> tuple[DiscreteTable, dict[str, Any], float]:
    school = rng.integers(60, size=3000)
    kind = rng.integers(3, size=3000)  # regular, small, aide
    score = 480 + rng.normal(0, 20, 60)[school] + 5 * (kind == 1) + rng.normal(0, 35, 3000)
    return table_of(score, kind=kind, school=school), {"randomised": ["kind"], "block": ["school"]}, 5.0


def _incentive(rng: np.random.Generator) -> tuple[DiscreteTable, dict[str, Any], float]:
    paid = (rng.random(2834) < 0.78).astype(int)
    came = rng.random(2834) < 0.34 + 0.45 * paid
    return table_of(came, any=paid, sex=rng.integers(2, size=2834)), {"randomised": ["any"]}, 0.45


def _pairs(rng: np.random.Generator) -> tuple[DiscreteTable, dict[str, Any], float]:
    pair, treated = np.repeat(np.arange(50), 2), np.tile([0, 1], 50)
    grown = rng.normal(0, 4, 50)[pair] + 1.5 * treated + rng.normal(0, 1.5, 100)
    return table_of(grown, treated=treated, pair=pair), {"randomised": ["treated"], "block": ["pair"]}, 1.5


DESIGN = {"class size in schools": _class_size, "an incentive": _incentive, "pairs of fields": _pairs}


def of_design(name: str, seed: int) -> dict[str, Any]:
    """Play one experiment of a design."""
    table, settings, truth = DESIGN[name](np.random.default_rng([len(name), seed]))
    report = estimate_effects(table, **settings, control=["0"])
    contrast = next(one for one in report.contrasts if one.state == "1")
    first = "\n".join(report.to_text().splitlines()[:25])
    shown = f"{contrast.variable} = 1 less 0" in first and "graph" not in first
    shown &= contrast.interval[0] <= truth <= contrast.interval[1]
    return {"design": name, "n": 1, "shown": (int(shown), 1)}


# -- observations --------------------------------------------------------------------------------------------


def of_additive(causes: int, rows: int, seed: int, draws: int) -> dict[str, Any]:
    """Play one table of additive causes."""
    rng = np.random.default_rng([causes, rows, seed])
    effects = rng.normal(size=(causes, 3))
    effects -= effects.mean(axis=1, keepdims=True)
    codes = rng.integers(3, size=(rows, causes))
    rewards = effects[np.arange(causes), codes].sum(axis=1) + rng.normal(size=rows)
    report = estimate_effects(table_of(rewards, **{f"x{i}": codes[:, i] for i in range(causes)}), draws=draws)
    shown = (codes[:, :, None] == np.arange(3)).reshape(rows, -1)
    fitted = np.linalg.lstsq(np.column_stack([np.ones(rows), shown]), rewards, rcond=None)[0][1:]
    fitted = fitted.reshape(causes, 3)
    usual = (
        rewards.mean() + fitted - (fitted * shown.mean(axis=0).reshape(causes, 3)).sum(axis=1, keepdims=True)
    )
    covered, error = 0, 0.0
    for arm in report.arms:
        truth = effects[int(arm.variable[1:]), int(arm.state)]
        covered += arm.interval[0] <= truth <= arm.interval[1]
        error += (arm.mean - truth) ** 2
    return {
        "causes": causes, "rows": rows, "n": 1,
        "cover": (int(covered), 3 * causes), "error": (float(error), float(((usual - effects) ** 2).sum())),
    }  # fmt: skip


def _hidden_cause(effect: float) -> Callable[[np.random.Generator], DiscreteTable]:
    def draw(rng: np.random.Generator) -> DiscreteTable:
        z = rng.random(1500) < 0.5
        x = np.where(rng.random(1500) < 0.8, z, ~z).astype(int)
        return table_of(rng.random(1500) < 0.2 + 0.5 * z + effect * x, X=x, W=rng.integers(2, size=1500))

    return draw


def _m_bias(rng: np.random.Generator) -> DiscreteTable:
    u, v = rng.integers(2, size=(2, 2000))
    x, y = (np.where(rng.random(2000) < 0.9, own, 1 - own) for own in (u, v))
    return table_of(y, X=x, M=(rng.random(2000) < 0.05 + 0.45 * u + 0.45 * v).astype(int))


def _selected(rng: np.random.Generator) -> DiscreteTable:
    x, y = rng.integers(2, size=(2, 4000))
    kept = (x + y < 2) | (rng.random(4000) < 0.2)
    return table_of(y[kept], X=x[kept], W=rng.integers(2, size=int(kept.sum())))


def _front_door(rng: np.random.Generator) -> DiscreteTable:
    z = rng.integers(2, size=2000)
    x = np.where(rng.random(2000) < 0.8, z, 1 - z)
    m = np.where(rng.random(2000) < 0.8, x, 1 - x)
    return table_of(rng.random(2000) < 0.1 + 0.3 * m + 0.4 * z, X=x, M=m)


def _instrument(rng: np.random.Generator) -> DiscreteTable:
    z, i = rng.integers(2, size=(2, 2000))
    x = ((z + i + (rng.random(2000) < 0.2)) >= 2).astype(int)
    return table_of(rng.random(2000) < 0.3 + 0.5 * z - 0.1 * x, X=x, I=i)


#: Each kind with the arms that do no good.
HIDDEN: dict[str, tuple[Callable[[np.random.Generator], DiscreteTable], set[tuple[str, str]]]] = {
    "no effect": (_hidden_cause(0.0), {("X", "0"), ("X", "1"), ("W", "0"), ("W", "1")}),
    "reversed effect": (_hidden_cause(-0.1), {("X", "1"), ("W", "0"), ("W", "1")}),
    "M-bias": (_m_bias, {("X", "0"), ("X", "1"), ("M", "0"), ("M", "1")}),
    "selection": (_selected, {("X", "0"), ("X", "1"), ("W", "0"), ("W", "1")}),
    "front door": (_front_door, {("X", "0"), ("M", "0")}),
    "instrument": (_instrument, {("X", "1"), ("I", "1")}),
}


def of_hidden(name: str, seed: int, draws: int) -> dict[str, Any]:
    """Play one table with something hidden."""
    drawn, useless = HIDDEN[name]
    report = estimate_effects(drawn(np.random.default_rng([len(name), seed])), draws=draws)
    leader = next(iter(report.decision.leader.items()))
    bet = report.decision.is_decided
    return {
        "hidden": name,
        "n": 1,
        "unsaid": (int(bool(unpresumed(report))), 1),
        "bet": (int(bet), 1),
        "wrong": (int(bet and leader in useless), 1),
    }


def unpresumed(report: EffectsReport) -> list[str]:
    """Return the lines that say "Set", or speak of an effect without what that presumes.

    Lines of a table belong to the line above it.
    """
    claims = re.compile(r"\b(best|better|gain|expected|effect|differences|P\(best\))", re.IGNORECASE)
    neutral = ("Which intervention", "Undecided: no intervention", "To settle it", "Basis:", "warning:")
    lines = []
    for part in report.to_text().split("\n\n"):
        own = part.splitlines()
        lines += own[:1] if PRESUMED in own[0].lower() and not own[0].endswith(".") else own
    return [
        line
        for line in lines
        if re.search(r"\bSet\b", line)
        or (claims.search(line) and PRESUMED not in line.lower() and not line.startswith(neutral))
    ]
