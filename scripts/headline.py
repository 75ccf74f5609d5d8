"""The headline study: all policies on the families of the paper and its followers, on worlds that mislead,
and on real networks.

Writes to the output folder, the same for the same seed but for seconds.csv:

    headline.csv    a row per setting and policy: mean regret, median rounds until the parents are identified
    headline.md     the same as one table, which is also printed, with what follows from it
    headline.png    the figure, and headline.svg
    runs.csv        a row per system and policy; curves.csv: their regret at log-spaced rounds
    pulls.csv       a row per random tree and policy: pulls until the parent is identified, n = 10 to 1,000
    seconds.csv     the processor time of each policy on each system
    parts           what each system gave, one file each: a study that was stopped goes on from these
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
from headline_figure import draw_headline
from headline_runs import count_pulls, play
from headline_settings import Setting, settings
from headline_text import as_markdown, said_of_pulls, said_of_regret, summarised
from results_page import add_option, keep_figure, write_section
from tqdm import tqdm

from cb_pgm.plotting.regret import save

#: n → trees on which pulls are counted; the most at the n of which the ratios are stated.
TREES = {10: 10, 30: 10, 100: 30, 300: 6, 1000: 2}
TREES_QUICK = {10: 2, 30: 2, 100: 4}


def main() -> None:
    options = _options()
    started = time.perf_counter()
    if options.force:
        shutil.rmtree(options.out / "parts", ignore_errors=True)
    runs, curves, pulls = _results(options.quick, options.seed, options.jobs, options.out / "parts")
    table = summarised(runs)
    said = "\n\n".join([*said_of_regret(table), *said_of_pulls(pulls)])
    text = f"{as_markdown(table)}\n\n{said}"
    seconds = runs[["setting", "instance", "policy", "seconds"]]
    frames = {"headline": table, "runs": runs.drop(columns="seconds"), "curves": curves, "pulls": pulls}
    for name, frame in (frames | {"seconds": seconds}).items():
        frame.to_csv(options.out / f"{name}.csv", index=False, float_format="%.6g")
    (options.out / "headline.md").write_text(f"{text}\n", encoding="utf-8")
    png, _ = save(draw_headline(table, curves, pulls), options.out / "headline")
    if options.write_results:
        keep_figure(png, "headline")
        write_section("headline", as_markdown(table))
        write_section("headline-summary", said)
    print(text)
    print(f"{time.perf_counter() - started:.0f} s; written to {options.out}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Play the headline study; print its table.")
    parser.add_argument("--quick", action="store_true", help="a few small settings: a minute")
    parser.add_argument("--seed", type=int, default=0, help="everything random comes from it (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2); they change no number")
    parser.add_argument("--out", type=Path, default=Path("runs/headline"), help="output folder")
    parser.add_argument("--force", action="store_true", help="start over instead of going on")
    add_option(parser)
    options = parser.parse_args()
    if options.quick and options.write_results:
        parser.error("--write-results takes the whole study, without --quick")
    return options


def _results(
    quick: bool, seed: int, jobs: int, parts: Path
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return runs, curves and pulls, in the order of the settings whoever is done first."""
    parts.mkdir(parents=True, exist_ok=True)
    trees = TREES_QUICK if quick else TREES
    wanted = [(setting, i) for setting in settings(quick) for i in range(setting.instances)]
    with ProcessPoolExecutor(jobs) as pool:
        # The longest first, so that no core idles at the end.
        naming = [
            pool.submit(_kept, parts, ("pulls", n, i, seed), _count_pulls, n, i, seed)
            for n, count in sorted(trees.items(), reverse=True)
            for i in range(count)
        ]
        longest = sorted(wanted, key=lambda job: -job[0].horizon)
        playing = {
            (setting.name, i): pool.submit(_kept, parts, _identity(setting, i, seed), _play, setting, i, seed)
            for setting, i in longest
        }
        _wait([*naming, *playing.values()])
    played = [playing[setting.name, i].result() for setting, i in wanted]
    counted = pd.DataFrame([row for future in naming for row in future.result()["rows"]])
    return (
        pd.DataFrame([row for part in played for row in part["rows"]]),
        pd.DataFrame([point for part in played for point in part["curves"]]),
        counted.sort_values(["n", "instance"], kind="stable"),
    )


def _identity(setting: Setting, instance: int, seed: int) -> tuple[object, ...]:
    how = (setting.horizon, setting.rows, setting.also, setting.most_parents)
    return (setting.name, instance, seed, how)


def _kept(
    parts: Path, identity: tuple[object, ...], make: Callable[..., dict[str, Any]], *what: object
) -> Any:
    """Return what `make` makes, from its file if it was made before."""
    path = parts / f"{hashlib.sha256(repr(identity).encode()).hexdigest()[:20]}.json"
    if not path.exists():
        made = path.with_suffix(".new")
        made.write_text(json.dumps(make(*what)), encoding="utf-8")
        made.rename(path)  # so that no half-written part is ever read
    return json.loads(path.read_text(encoding="utf-8"))


def _play(setting: Setting, instance: int, seed: int) -> dict[str, Any]:
    played = play(setting, instance, seed)
    return {"rows": played.rows, "curves": played.curves}


def _count_pulls(n: int, instance: int, seed: int) -> dict[str, Any]:
    return {"rows": count_pulls(n, instance, seed)}


def _wait(futures: list[Future[Any]]) -> None:
    with tqdm(total=len(futures), unit="system", disable=None) as bar:
        for future in futures:
            future.result()
            bar.update()


if __name__ == "__main__":
    main()
