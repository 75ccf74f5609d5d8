"""How often the intervals and P(best) of `estimate_effects` are right, on tables whose truth is known.

Tables of 300, 1,000 and 10,000 rows from asia, sachs, child, alarm, insurance and random DAGs of 12 variables
(2 or 3 states, 1.2 parents on average, tables from Dirichlet(1)); of alarm and insurance a third as many.
In half of them the reward is a leaf of the network being in one of its states; in the other half it is a new
variable of 0 and 1 below one or two variables, whose mean is uniform at each of their joint states. Every
variable can be set.

An arm moves the reward if its true mean differs from that of do(). "cover" is the percentage of arms whose
true mean lies in the interval, averaged over tables. "P(best) off" is the expected calibration error: arms
in ten bins by P(best), the mean distance between P(best) and the frequency with which such arms are the best
(equally good arms share that). "misses" counts recommended arms whose 95 % interval lies beside the truth;
"loss" is what the arm that looks best, recommended or not, loses against the best arm, beside that of one
graph, fitted to the table as a rehearsal is; "difference" is the first less the second over the same tables,
± its standard error.

Where something hidden acts on the reward and on other variables, or rows with a high reward and some state of
a variable are missing, intervals are right only under the presumption that this isn't so. Such tables are
drawn from random DAGs, too: one of the reward's two parents is hidden, or of the rows with reward 1 and the
first state of a variable four in five are left out. Then the presumption must stand in each line that claims
an effect: "unsaid" counts tables with a line without it, or with "Set"; "bets" those with a best bet, and
"misses" those of them whose 95 % interval lies beside the truth.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from answers import unpresumed
from numpy.typing import NDArray
from results_page import markdown_table
from results_run import Run

from cb_pgm import CausalSystem, estimate_effects
from cb_pgm.model.bif import read_bif
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.fitting import rehearse
from cb_pgm.model.names import split_off_reward_node
from cb_pgm.model.pgmpy_networks import model_of_network
from discovery import DiscreteTable, estimate

__all__ = ["make"]

DATA = Path(__file__).resolve().parent.parent / "data"
KINDS = ("asia", "sachs", "child", "alarm", "insurance", "random")
#: Networks whose graphs take a second each have a third of the tables.
SLOW, SLOW_SHARE = ("alarm", "insurance"), 3
BROKEN = ("hidden cause", "selection")
ROWS = (300, 1000, 10_000)
TABLES, DRAWS = 20, 100  # tables of each kind and number of rows, and resampled tables for each
FEW_DRAWS = 20  # where the presumption fails
BINS = 10
_SAME = 1e-9  # means this close are equal


@dataclass(frozen=True)
class Checked:
    """One table: for each arm whether it moves the reward, is covered, and how good it is.

    Attributes
    ----------
    kind, rows, seed
        The network, the number of rows and that of the table.
    moves, covered, bounded
        bool [arms]: the reward's mean moves; the interval over graphs covers the truth; the bounds do.
    p_best, is_best
        [arms]: P(best), and 1 over the number of best arms for each of them, 0 for others.
    missed
        Whether the 95 % interval of the recommended arm misses; None if none is recommended.
    loss, loss_of_one
        What the leading arm loses, and what the best arm of one graph's model does.
    """

    kind: str
    rows: int
    seed: int
    moves: list[bool]
    covered: list[bool]
    bounded: list[bool]
    p_best: list[float]
    is_best: list[float]
    missed: bool | None
    loss: float
    loss_of_one: float


def make(run: Run) -> dict[str, str]:
    """Return the section "effects_calibration"."""
    tables, rows = (3, ROWS[:2]) if run.quick else (TABLES, ROWS)
    draws = 20 if run.quick else DRAWS
    cells = [
        (kind, n, run.seed * 1000 + number, draws)
        for number in range(tables)
        for n in rows
        for kind in KINDS
        if kind not in SLOW or number % SLOW_SHARE == 0
    ]
    broken = [
        (kind, n, run.seed * 1000 + number, FEW_DRAWS)
        for kind in BROKEN
        for n in ROWS[:2]
        for number in range(tables)
    ]
    found = [Checked(**record) for record in run.each(measured, cells)]
    text = f"{as_markdown(found, draws)}\n\n{presumed(run.each(presuming, broken))}"
    return {"effects_calibration": text}


def measured(kind: str, n_rows: int, seed: int, draws: int) -> dict[str, Any]:
    """Return what `checked` finds, for a record."""
    return asdict(checked(kind, n_rows, seed, draws))


def checked(kind: str, n_rows: int, seed: int, draws: int) -> Checked:
    """Draw a system and a table and hold the answer from the table against the system's arm means."""
    rng = np.random.default_rng([KINDS.index(kind), n_rows, seed])
    while True:
        system = random_system(kind, rng)
        table = seen_table(system, n_rows, rng)
        if np.ptp(table.rewards) > 0:
            break
    report = estimate_effects(table, draws=draws)
    truth = [system.mean_reward(arm.intervention) for arm in report.arms]
    nothing, best = system.mean_reward(), max(truth)
    is_best = [mean >= best - _SAME and best > nothing + _SAME for mean in truth]
    decision = report.decision
    leading = system.mean_reward(decision.leader)
    one = rehearse(table, estimate(table).graph).system.best_arm()[0]
    low, high = decision.interval
    return Checked(
        kind=kind,
        rows=n_rows,
        seed=seed,
        moves=[bool(abs(mean - nothing) > _SAME) for mean in truth],
        covered=[_holds(arm.interval, mean) for arm, mean in zip(report.arms, truth, strict=True)],
        bounded=[_holds(arm.bounds, mean) for arm, mean in zip(report.arms, truth, strict=True)],
        p_best=[arm.p_best for arm in report.arms],
        is_best=[value / max(sum(is_best), 1) for value in is_best],
        missed=not _holds((low, high), leading) if decision.is_decided else None,
        loss=max(best, nothing) - leading,
        loss_of_one=max(best, nothing) - system.mean_reward(one),
    )


def random_system(kind: str, rng: np.random.Generator) -> CausalSystem:
    """Return a network with a reward: one of its leaves, or a new variable below one or two of its nodes."""
    model = random_model(rng) if kind == "random" else model_of_network(read_bif(DATA / f"{kind}.bif"))
    n = len(model.parents)
    leaves = [v for v in range(n) if model.parents[v] and not model.children[v]]
    if leaves and rng.random() < 0.5:
        leaf = model.variables[int(rng.choice(leaves))]
        state = str(rng.choice(model.states[leaf]))
        return CausalSystem.from_model(*split_off_reward_node(model, f"{leaf}={state}"))
    parents = tuple(sorted(int(v) for v in rng.choice(n, int(rng.integers(1, 3)), replace=False)))
    means = rng.uniform(size=tuple(model.cards[v] for v in parents))
    return CausalSystem.from_model(model, Reward(parents, means, None))


def random_model(rng: np.random.Generator, n: int = 12) -> DiscreteModel:
    """Return a random DAG with random tables; the names say nothing of the order."""
    cards = rng.integers(2, 4, size=n)
    parents, tables = [], []
    for v in range(n):
        count = min(int(rng.binomial(v, 2.4 / (n - 1))), 4)
        own = tuple(sorted(int(u) for u in rng.choice(v, count, replace=False))) if count else ()
        parents.append(own)
        tables.append(rng.dirichlet(np.ones(cards[v]), size=tuple(cards[u] for u in own)))
    names = [f"X{i:02}" for i in rng.permutation(n)]
    states = {name: tuple("abc"[:card]) for name, card in zip(names, cards, strict=True)}
    return DiscreteModel(states, tuple(parents), tuple(tables))


def seen_table(
    system: CausalSystem, n_rows: int, rng: np.random.Generator, without: str | None = None
) -> DiscreteTable:
    """Draw a table; states that no row shows and columns with one state only aren't in it."""
    drawn = system.sample({}, n_rows, rng)
    states: dict[str, tuple[str, ...]] = {}
    columns: list[NDArray[np.int64]] = []
    for column, (name, values) in enumerate(system.states.items()):
        shown, codes = np.unique(drawn.codes[:, column], return_inverse=True)
        if len(shown) > 1 and name != without:
            states[name] = tuple(values[code] for code in shown)
            columns.append(codes)
    codes = np.asfortranarray(np.column_stack(columns).astype(np.int16))
    return DiscreteTable(codes, states, drawn.rewards, "reward")


def presuming(kind: str, n_rows: int, seed: int, draws: int) -> dict[str, Any]:
    """Return what the answer claims of a table with a hidden cause or selected rows, and how right it is."""
    rng = np.random.default_rng([len(KINDS) + BROKEN.index(kind), n_rows, seed])
    system, table = hidden_cause(n_rows, rng) if kind == "hidden cause" else selected(n_rows, rng)
    report = estimate_effects(table, draws=draws)
    truth = [system.mean_reward(arm.intervention) for arm in report.arms]
    decision = report.decision
    missed = not _holds(decision.interval, system.mean_reward(decision.leader))
    return {
        "kind": kind,
        "rows": n_rows,
        "unsaid": bool(unpresumed(report)),
        "bet": decision.is_decided,
        "missed": decision.is_decided and missed,
        "cover": np.mean([_holds(arm.interval, mean) for arm, mean in zip(report.arms, truth, strict=True)]),
    }


def hidden_cause(n_rows: int, rng: np.random.Generator) -> tuple[CausalSystem, DiscreteTable]:
    """Return a random system and a table without one of the reward's two parents, which has children."""
    while True:
        model = random_model(rng)
        hidden = next((v for v in rng.permutation(len(model.parents)) if len(model.children[v]) > 1), None)
        if hidden is None:
            continue
        parents = tuple(sorted((int(hidden), int(rng.choice(model.children[hidden])))))
        reward = Reward(parents, rng.uniform(size=tuple(model.cards[v] for v in parents)), None)
        system = CausalSystem.from_model(model, reward)
        table = seen_table(system, n_rows, rng, without=model.variables[hidden])
        if np.ptp(table.rewards) > 0:
            return system, table


def selected(n_rows: int, rng: np.random.Generator) -> tuple[CausalSystem, DiscreteTable]:
    """Return a random system and a table of the rows that are left by the reward and a variable."""
    while True:
        system = random_system("random", rng)
        table = seen_table(system, 6 * n_rows, rng)
        gone = (table.rewards == 1) & (table.codes[:, int(rng.integers(len(table.variables)))] == 0)
        kept = np.flatnonzero(~gone | (rng.random(len(gone)) < 0.2))[:n_rows]
        codes, rewards = table.codes[kept], table.rewards[kept]
        shown = [len(np.unique(column)) for column in codes.T]
        if (
            len(kept) == n_rows
            and np.ptp(rewards) > 0
            and shown == [len(own) for own in table.states.values()]
        ):
            return system, DiscreteTable(np.asfortranarray(codes), table.states, rewards, "reward")


def presumed(records: Sequence[dict[str, Any]]) -> str:
    """Return the table of what was claimed where the presumption fails."""
    rows = []
    for kind in BROKEN:
        for n in dict.fromkeys(record["rows"] for record in records):
            own = [one for one in records if (one["kind"], one["rows"]) == (kind, n)]
            counts = [str(sum(one[name] for one in own)) for name in ("unsaid", "bet", "missed")]
            cover = f"{100 * np.mean([one['cover'] for one in own]):.0f} %"
            rows.append((f"{kind}, {n:,} rows", str(len(own)), *counts, cover))
    return markdown_table(
        ("where the presumption fails", "tables", "unsaid", "bets", "misses", "cover"), rows
    )


def as_markdown(found: Sequence[Checked], draws: int) -> str:
    """Return the table of results by network and rows, and P(best) in ten bins."""
    head = [
        "",
        "tables",
        "cover, all",
        "cover, moving",
        "bounds",
        "P(best) off",
        "misses",
        "loss",
        "one graph",
        "difference",
    ]
    groups = [
        (f"{kind}, {n:,} rows", [one for one in found if (one.kind, one.rows) == (kind, n)])
        for kind in KINDS
        for n in ROWS
    ]
    groups += [(f"all, {n:,} rows", [one for one in found if one.rows == n]) for n in ROWS]
    groups.append(("all", list(found)))
    rows = [(name, *cells(own)) for name, own in groups if own]
    bins = list(calibration(found))
    table = markdown_table(
        ("P(best)", "arms", "mean P(best)", "are the best"),
        [
            (f"{low:.1f} to {low + 1 / BINS:.1f}", f"{count:,}", f"{said:.3f}", f"{true:.3f}")
            for low, count, said, true in bins
        ],
    )
    summary = "\n".join(goals(found))
    return (
        f"{len(found)} tables, {draws} resampled tables each.\n\n{summary}\n\n"
        f"{markdown_table(head, rows)}\n\n{table}"
    )


def goals(found: Sequence[Checked]) -> Iterator[str]:
    """Yield a line for each figure that was to be reached, over all tables."""
    decided = [one for one in found if one.missed is not None]
    moving = [np.array(one.covered)[one.moves].mean() for one in found if any(one.moves)]
    off, likely = _off(found), _off(found, 1 / BINS)
    covered = 100 * np.mean([np.mean(one.covered) for one in found])
    bounded = 100 * np.mean([np.mean(one.bounded) for one in found])
    for line in (
        f"95 % intervals cover {covered:.0f} % of arms (90 %), and {100 * np.mean(moving):.0f} % of those "
        f"that move the reward (90 %).",
        f"P(best) is off by {off:.3f} on average (.05), by {likely:.3f} among arms with .1 or more.",
        f"Bounds cover {bounded:.1f} % of arms (95 %).",
        f"The recommended arm's interval misses in {100 * np.mean([one.missed for one in decided]):.1f} % "
        f"(7 %).",
        f"A recommended arm {_compared_losses(decided)}",
        f"The arm that looks best, recommended or not, {_compared_losses(found)}",
    ):
        yield textwrap.fill(f"* {line}", 124, subsequent_indent="  ")


def _compared_losses(found: Sequence[Checked]) -> str:
    """Say what the leading arms lose beside those of one graph on the same tables, and where it is more."""
    pairs: dict[tuple[str, int], list[Checked]] = {}
    for one in found:
        pairs.setdefault((one.kind, one.rows), []).append(one)
    differences = {cell: _difference(own) for cell, own in pairs.items()}
    worse = {
        cell: sum(one.loss > one.loss_of_one + _SAME for one in pairs[cell])
        for cell, (mean, _) in differences.items()
        if mean > _SAME
    }
    named = "; ".join(f"{kind}, {rows:,} rows ({count})" for (kind, rows), count in worse.items())
    clear = sum(mean > max(2 * error, _SAME) for mean, error in differences.values())
    loss, alone = (np.mean([getattr(one, name) for one in found]) for name in ("loss", "loss_of_one"))
    mean, error = _difference(found)
    return (
        f"loses {loss:.4f}, that of one graph {alone:.4f}; the difference is {mean:+.4f} ± {error:.4f}, in "
        f"{len(found)} tables. It loses more in {len(worse)} of {len(pairs)} cells (0), beyond twice the "
        f"standard error of the difference in {clear}; those in which it loses more, with the number of "
        f"tables in which it does: {named or 'none'}."
    )


def cells(own: Sequence[Checked]) -> Iterator[str]:
    """Yield the cells of a row."""
    decided = [one.missed for one in own if one.missed is not None]
    moving = [np.array(one.covered)[one.moves].mean() for one in own if any(one.moves)]
    yield str(len(own))
    yield f"{100 * np.mean([np.mean(one.covered) for one in own]):.0f} %"
    yield f"{100 * np.mean(moving):.0f} %" if moving else "–"
    yield f"{100 * np.mean([np.mean(one.bounded) for one in own]):.1f} %"
    yield f"{_off(own):.3f}"
    yield f"{sum(decided)} of {len(decided)}"
    yield f"{np.mean([one.loss for one in own]):.4f}"
    yield f"{np.mean([one.loss_of_one for one in own]):.4f}"
    mean, error = _difference(own)
    yield f"{mean:+.4f} ± {error:.4f}" if abs(mean) > _SAME or error > _SAME else "0"


def calibration(own: Iterable[Checked]) -> Iterator[tuple[float, int, float, float]]:
    """Yield each bin that isn't empty: its lower end, its arms, their mean P(best), how many are best."""
    pairs: list[Any] = [(p, best) for one in own for p, best in zip(one.p_best, one.is_best, strict=True)]
    said, true = np.array(pairs).T
    place = np.minimum((said * BINS).astype(int), BINS - 1)
    for number in range(BINS):
        inside = place == number
        if inside.any():
            yield number / BINS, int(inside.sum()), float(said[inside].mean()), float(true[inside].mean())


def _off(own: Iterable[Checked], least: float = 0.0) -> float:
    """Return the calibration error over the bins that begin at `least` or above."""
    bins = [(count, abs(said - true)) for low, count, said, true in calibration(own) if low >= least]
    return sum(count * off for count, off in bins) / max(sum(count for count, _ in bins), 1)


def _difference(own: Sequence[Checked]) -> tuple[float, float]:
    """Return the mean loss less that of one graph over the same tables, and its standard error."""
    each = np.array([one.loss - one.loss_of_one for one in own])
    error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else 0.0
    return float(each.mean()), float(error)


def _holds(interval: tuple[float, float], mean: float) -> bool:
    return bool(interval[0] - _SAME <= mean <= interval[1] + _SAME)
