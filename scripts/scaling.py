"""Measures how time grows with variables, rows, states and rounds, as scripts/scaling.toml says.

Leaves times.csv (a row a job, size and repeat: CPU seconds of this process), growth.csv (the exponent of each
curve: time ~ size^exponent over its upper half) and the figure growth.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from comparisons import seconds
from matplotlib.figure import Figure

from cb_pgm import CNUCB, UCB, CausalSystem, Policy, ScreeningUCB, instances, search, simulate
from cb_pgm.cli.console import progress
from cb_pgm.plotting.regret import STYLE, line_style, log_scale, new_figure, save
from discovery import DiscreteTable, EssentialGraph, estimate

CONFIGURATION = Path(__file__).with_suffix(".toml")
AXES = {"n": "variables n", "rows": "rows N", "n_states": "states K", "rounds": "rounds T"}

Job = Callable[[], object]


@dataclass(frozen=True)
class Sizes:
    """The size of one job: variables, rows, states and rounds, and what its draws come from."""

    n: int
    rows: int
    n_states: int
    rounds: int
    seed: int

    def tree(self) -> CausalSystem:
        return instances.tree(self.n, self.n_states, noise="bernoulli", seed=self.seed)

    def table(self) -> DiscreteTable:
        system = self.tree()
        seen = system.sample({}, self.rows, np.random.default_rng(self.seed))
        return DiscreteTable(np.asfortranarray(seen.codes), system.states, seen.rewards)


def _from_dag(sizes: Sizes) -> Job:
    dag = sizes.tree().dag
    return lambda: EssentialGraph.from_dag(dag)


def _search(kind: Callable[[EssentialGraph], search.Search], system: CausalSystem) -> Job:
    graph, answer = system.essential_graph(), search.exact_answers(system.dag, system.reward_parents)
    return lambda: search.solve(kind(graph), answer)


def _chordal(sizes: Sizes) -> Job:
    return _search(search.sound, instances.chordal(sizes.n, sizes.n_states, seed=sizes.seed))


def _arm_means(sizes: Sizes) -> Job:
    known = sizes.tree()
    return lambda: CausalSystem.from_model(known.model, known.reward).arm_means()


def _estimate(method: str) -> Callable[[Sizes], Job]:
    def job(sizes: Sizes) -> Job:
        table = sizes.table()
        return lambda: estimate(table, method=method)

    return job


def _sampling(sizes: Sizes) -> Job:
    system, rng = sizes.tree(), np.random.default_rng(sizes.seed)
    return lambda: system.sample({}, sizes.rows, rng)


def _rounds(make: Callable[[CausalSystem], Policy]) -> Callable[[Sizes], Job]:
    def job(sizes: Sizes) -> Job:
        system = sizes.tree()
        policy = make(system)
        return lambda: simulate(policy, system, sizes.rounds, seed=sizes.seed)

    return job


def _cn_ucb(system: CausalSystem) -> Policy:
    graph = system.essential_graph()
    reward_gap, effect_gap = system.effective_gaps(graph)
    return CNUCB(
        graph,
        system.states,
        system.marginals(),
        reward_gap=reward_gap,
        effect_gap=effect_gap,
        noise_scale=system.noise_scale,
    )


#: What the configuration names → how to prepare it; only the prepared job is timed.
JOBS: Mapping[str, Callable[[Sizes], Job]] = {
    "EssentialGraph.from_dag": _from_dag,
    "search.tree": lambda sizes: _search(search.tree, sizes.tree()),
    "search.sound, trees": lambda sizes: _search(search.sound, sizes.tree()),
    "search.sound, chordal": _chordal,
    "all arm means": _arm_means,
    "GES": _estimate("ges"),
    "PC": _estimate("pc"),
    "sampling": _sampling,
    "UCB": _rounds(lambda system: UCB(system.states, noise_scale=system.noise_scale)),
    "screening": _rounds(lambda system: ScreeningUCB(system.states, noise_scale=system.noise_scale)),
    "CN-UCB": _rounds(_cn_ucb),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smaller half of all sizes, once")
    parser.add_argument("--out", type=Path, default=Path("runs/scaling"), help="(default: %(default)s)")
    options = parser.parse_args()
    configuration = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))
    if options.quick:
        configuration = _quick(configuration)
    options.out.mkdir(parents=True, exist_ok=True)
    times = pd.DataFrame(_measured(configuration))
    times.to_csv(options.out / "times.csv", index=False, float_format="%.4g")
    found = growth(times)
    found.to_csv(options.out / "growth.csv", index=False, float_format="%.3g")
    png, svg = save(draw_growth(times, configuration["held"]), options.out / "growth")
    sys.stdout.write(f"{_text(found)}\n\nWritten: {png}, {svg}, {options.out / 'times.csv'}\n")


def _measured(configuration: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row a job, size and repeat; everything is run small once before, to compile it."""
    held = Sizes(**configuration["held"], seed=configuration["seed"])
    plan = [
        (along, what, size)
        for along, jobs in configuration["along"].items()
        for what, sizes in jobs.items()
        for size in sizes
    ]
    small = replace(held, n=5, rows=300, rounds=300)
    for what in dict.fromkeys(what for _, what, _ in plan):
        JOBS[what](small)()
    with progress(len(plan), "Measuring", unit="job") as step:
        for along, what, size in plan:
            job = JOBS[what](replace(held, **{along: size}))
            for repeat in range(configuration["repeats"]):
                yield {"along": along, "what": what, "size": size, "repeat": repeat, "seconds": seconds(job)}
            if step is not None:
                step(1)


def growth(times: pd.DataFrame) -> pd.DataFrame:
    """Return per curve the exponent of its upper half, the largest size and the median seconds there.

    Parameters
    ----------
    times
        Columns along, what, size, repeat, seconds.
    """
    rows = []
    for (along, what), own in times.groupby(["along", "what"], sort=False):
        medians = own.groupby("size")["seconds"].median()
        upper = medians.iloc[len(medians) // 2 - 1 :] if len(medians) > 2 else medians
        exponent = np.polyfit(np.log(upper.index.to_numpy()), np.log(upper.to_numpy()), 1)[0]
        rows.append((along, what, exponent, medians.index[-1], medians.iloc[-1]))
    return pd.DataFrame(rows, columns=["along", "what", "exponent", "largest", "seconds"])


def draw_growth(times: pd.DataFrame, held: Mapping[str, int]) -> Figure:
    """Draw median time against size, a panel a kind of size, both axes logarithmic."""
    kinds = list(dict.fromkeys(times["along"]))
    names = list(dict.fromkeys(times["what"]))
    with mpl.rc_context(STYLE):
        figure = new_figure(10.0, 8.4)
        for axes, along in zip(figure.subplots(2, 2).flat, kinds, strict=True):
            for what, own in times[times["along"] == along].groupby("what", sort=False):
                medians = own.groupby("size")["seconds"].median()
                style = line_style(names.index(what))
                axes.plot(medians.index, medians, marker="o", markersize=4, linewidth=2, label=what, **style)
            axes.set(xlabel=f"{AXES[along]} (logarithmic)", ylabel="CPU time (logarithmic)")
            log_scale(axes, "x")
            log_scale(axes, "y", unit="s")
            axes.grid(color="#DDDDDD", linewidth=0.8)
            axes.set_axisbelow(True)
            fixed = ", ".join(
                f"{AXES[name].split()[-1]} = {size:,}" for name, size in held.items() if name != along
            )
            axes.set_title(fixed, loc="left", fontsize=10)
        lines = {line.get_label(): line for axes in figure.axes for line in axes.get_lines()}
        figure.legend(
            [lines[name] for name in names], names, loc="outside lower center", ncols=4, frameon=False
        )
    return figure


def _text(found: pd.DataFrame) -> str:
    lines = [f"{'along':<13}{'what':<26}{'exponent':>9}{'largest':>10}{'there':>12}"]
    lines += [
        f"{AXES[row.along]:<13}{row.what:<26}{row.exponent:>9.2f}{row.largest:>10,}{row.seconds:>10.3g} s"
        for row in found.itertuples()
    ]
    return "\n".join(lines)


def _quick(configuration: dict[str, Any]) -> dict[str, Any]:
    along = {
        name: {what: sizes[: max(2, len(sizes) // 2)] for what, sizes in jobs.items()}
        for name, jobs in configuration["along"].items()
    }
    return configuration | {"along": along, "repeats": 1}


if __name__ == "__main__":
    main()
