"""The headline study: all policies on the families of the paper and its followers, and on real networks.

Writes to the output folder, the same for the same seed:

    headline.csv    a row per setting and policy: mean regret, median pulls until the parents are named
    headline.md     the same as one table, which is also printed, with what follows from it
    headline.png    the figure, and headline.svg
    runs.csv        a row per system and policy; curves.csv: their regret at log-spaced rounds
    pulls.csv       a row per random tree and policy: pulls until the parent is named, for n = 10 to 1,000
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from headline_figure import draw_headline
from headline_runs import LOOKING, POLICIES, UNINFORMED, count_pulls, play
from headline_settings import settings
from results_page import add_option, keep_figure, write_section
from tqdm import tqdm

from cb_pgm.plotting.regret import save

#: n → trees on which pulls are counted; the most at the n of which the ratios are stated.
TREES = {10: 20, 30: 20, 100: 60, 300: 10, 1000: 4}
TREES_QUICK = {10: 5, 30: 5, 100: 10}
RATIOS_AT = 100
TWO_CAUSES = ("asia dysp=yes", "alarm EXPCO2=LOW")


def main() -> None:
    options = _options()
    started = time.perf_counter()
    runs, curves, pulls = _results(options.quick, options.seed, options.jobs)
    table = summarised(runs)
    text = "\n\n".join([as_markdown(table), *said_of_pulls(pulls), *said_of_regret(table)])
    options.out.mkdir(parents=True, exist_ok=True)
    for name, frame in (("headline", table), ("runs", runs), ("curves", curves), ("pulls", pulls)):
        frame.to_csv(options.out / f"{name}.csv", index=False, float_format="%.6g")
    (options.out / "headline.md").write_text(f"{text}\n", encoding="utf-8")
    png, _ = save(draw_headline(table, curves, pulls), options.out / "headline")
    if options.write_results:
        of_table, of_text = "headline", "headline-summary"
        if options.quick:
            of_table, of_text = "headline-quick", "headline-quick-summary"
        else:
            keep_figure(png, "headline")
        write_section(of_table, as_markdown(table))
        write_section(of_text, "\n\n".join([*said_of_pulls(pulls), *said_of_regret(table)]))
    print(text)
    print(f"{time.perf_counter() - started:.0f} s; written to {options.out}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Play the headline study; print its table.")
    parser.add_argument("--quick", action="store_true", help="a few small settings: a minute")
    parser.add_argument("--seed", type=int, default=0, help="everything random comes from it (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2); they change no number")
    parser.add_argument("--out", type=Path, default=Path("runs/headline"), help="output folder")
    add_option(parser)
    return parser.parse_args()


def _results(quick: bool, seed: int, jobs: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return runs, curves and pulls, in the order of the settings whoever is done first."""
    trees = TREES_QUICK if quick else TREES
    with ProcessPoolExecutor(jobs) as pool:
        # The longest first, so that no core idles at the end.
        naming = [pool.submit(count_pulls, n, i, seed) for n, count in trees.items() for i in range(count)]
        wanted = [(setting, i) for setting in settings(quick) for i in range(setting.instances)]
        longest = sorted(wanted, key=lambda job: -job[0].horizon)
        playing = {(setting.name, i): pool.submit(play, setting, i, seed) for setting, i in longest}
        _wait([*naming, *playing.values()])
    played = [playing[setting.name, i].result() for setting, i in wanted]
    return (
        pd.DataFrame([row for outcome in played for row in outcome.rows]),
        pd.DataFrame([point for outcome in played for point in outcome.curves]),
        pd.DataFrame([row for future in naming for row in future.result()]),
    )


def _wait(futures: list[Future[object]]) -> None:
    with tqdm(total=len(futures), unit="system", disable=None) as bar:
        for future in futures:
            future.result()
            bar.update()


def summarised(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per setting and policy: mean regret, median pulls, how often any and the right name."""
    grouped = runs.groupby(["group", "setting", "policy"], sort=False)
    table = grouped.agg(
        n=("n", "first"),
        n_states=("n_states", "first"),
        horizon=("horizon", "first"),
        systems=("instance", "count"),
        regret=("regret", lambda values: values.astype(float).mean()),
        pulls_to_name=("pulls_to_name", lambda values: values.astype(float).median()),
        named=("correct", "count"),
        right=("correct", lambda values: values.eq(True).sum()),  # None is neither right nor wrong
        raps_batch=("batch", lambda values: values.astype(float).median()),
        raps_pulls_as_printed=("raps_pulls_as_printed", "median"),
    )
    return table.reset_index()


def as_markdown(table: pd.DataFrame) -> str:
    """Return the table for people: mean regret and, in brackets, pulls until the parents were named."""
    lines = [
        "Mean regret at T (median rounds until the reward's parents were identified; – if they weren't).",
        "✗: systems in which other variables were identified in the end. RAPS isn't run where it needs more",
        "than T pulls, and says how many. Regret below 0: several variables set at once beat one.",
        "All know σ (screening and causal-ucb that of the reward given its parents); those that use it,",
        "the true essential graph with exact marginals and gaps, and the number of parents.",
        "",
        "| system | T | " + " | ".join(POLICIES) + " | RAPS by its printed B |",
        "|---|--:|" + "--:|" * (len(POLICIES) + 1),
    ]
    for setting, rows in table.groupby("setting", sort=False):
        by_policy = rows.set_index("policy")
        cells = [_cell(by_policy.loc[name]) for name in POLICIES]
        first = by_policy.iloc[0]
        lines.append(
            f"| {setting} | {_short(first['horizon'])} | {' | '.join(cells)} "
            f"| {_short(first['raps_pulls_as_printed'])} pulls |"
        )
    return "\n".join(lines)


def _cell(row: pd.Series) -> str:
    pulls = _short(row["pulls_to_name"])
    if pd.isna(row["regret"]):
        return f"not run ({pulls})"
    wrong = int(row["named"] - row["right"])
    brackets = f" ({pulls})" if row.name in LOOKING else ""
    return f"{_short(row['regret'])}{brackets}" + (f" ✗{wrong}/{int(row['systems'])}" if wrong else "")


def _short(number: float) -> str:
    """Return a number in at most four characters or so: 287, 4.1k, 3.2M; – for none."""
    if pd.isna(number):
        return "–"
    if number == float("inf"):
        return "∞"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            scaled = number / size
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 10 else f"{scaled:.1f}{unit}"
    return f"{number:.0f}"


def said_of_pulls(pulls: pd.DataFrame) -> list[str]:
    """Return the ratios of pulls at n = 100, K = 3, copy probability .95, δ = .05, a paragraph each."""
    at = pulls[pulls["n"] == RATIOS_AT]
    by_tree = at.pivot(index="instance", columns="policy", values="pulls")
    median = by_tree.median()
    ratios = (by_tree["screening"] / by_tree["information bound"]).median()
    wrong = {
        name: f"{int(rows['runs'].sum() - rows['right'].sum())}/{int(rows['runs'].sum())}"
        for name, rows in at.dropna(subset=["runs"]).groupby("policy", sort=False)
    }
    fixed, printed = median["cn-ucb-fixed"], median["raps as printed"]
    ours, bound = median["screening"], median["information bound"]
    lines = [
        f"Pulls to name the reward's parent, medians over {len(by_tree)} random trees "
        f"(n = {RATIOS_AT}, K = 3, copy probability .95, noise 1, δ = .05):",
        *(f"* {name}: {value:,.0f}" for name, value in median.sort_values(ascending=False).items()),
        f"* sequential is 1/{fixed / median['cn-ucb-sequential']:.1f} of fixed, cn-ucb "
        f"1/{fixed / median['cn-ucb']:.0f}; screening 1/{fixed / ours:.0f} of fixed and "
        f"1/{printed / ours:,.0f} of RAPS by its printed B",
        f"* screening is {ours / bound:.2f} times the information bound (median of the ratios {ratios:.2f})",
        f"* wrong names: {', '.join(f'{name} {count}' for name, count in wrong.items())}",
    ]
    return ["\n".join(lines)]


def said_of_regret(table: pd.DataFrame) -> list[str]:
    """Return how screening fares against the best uninformed rival, and where the reward has two causes."""
    at = table[table["setting"] == f"random tree, n = {RATIOS_AT}"].set_index("policy")
    rivals, regret = at.loc[list(UNINFORMED), "regret"].dropna(), at["regret"]
    said = [
        f"Mean regret at T = {int(at['horizon'].iloc[0]):,} on such trees: screening "
        f"{regret['screening']:,.0f}, 1/{rivals.min() / regret['screening']:.0f} of the best rival that "
        f"knows neither graph nor parent ({rivals.idxmin()}: {rivals.min():,.0f}); the floor: "
        f"causal-ucb {regret['causal-ucb']:,.0f}, oracle {regret['oracle']:,.0f}."
    ]
    for name in TWO_CAUSES:
        rows = table[table["setting"] == name].set_index("policy")
        if len(rows):
            ours = rows.loc["screening"]
            said.append(
                f"{name} (two causes): screening ended on the right pair in {ours['right']} of "
                f"{ours['systems']} runs; regret {ours['regret']:,.0f}, UCB {rows.loc['ucb', 'regret']:,.0f}."
            )
    return said


if __name__ == "__main__":
    main()
