"""The headline study: all policies on the families of the paper and its followers, on worlds that mislead,
and on real networks.

Its folder gets, the same for the same seed but for seconds.csv:

    headline.csv    a row per setting and policy: mean regret, median rounds until the parents are identified
    headline.png    the figure, and headline.svg
    runs.csv        a row per system and policy; curves.csv: their regret at log-spaced rounds
    pulls.csv       a row per random tree and policy: pulls until the parent is identified, n = 10 to 1,000
    seconds.csv     the processor time of each policy on each system
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from headline_figure import draw_headline
from headline_runs import count_pulls, play
from headline_settings import Setting, settings
from headline_text import as_markdown, said_of_pulls, said_of_regret, summarised
from results_run import Run

from cb_pgm.plotting.regret import save

__all__ = ["make"]

#: n → trees on which pulls are counted; the most at the n of which the ratios are stated.
TREES = {10: 10, 30: 10, 100: 30, 300: 6, 1000: 2}
TREES_QUICK = {10: 2, 30: 2, 100: 4}


def make(run: Run) -> dict[str, str]:
    """Return the sections "headline" and "headline-summary", and draw the figure "headline"."""
    trees = TREES_QUICK if run.quick else TREES
    units: list[tuple[Any, ...]] = [
        (setting, i, run.seed) for setting in settings(run.quick) for i in range(setting.instances)
    ]
    units += [(n, i, run.seed) for n, count in trees.items() for i in range(count)]
    parts = run.each(played, units, name=_name, first=_longest)
    runs, curves, pulls = (
        pd.DataFrame([row for part in parts for row in part.get(kind, ())])
        for kind in ("rows", "curves", "pulls")
    )
    table = summarised(runs)
    seconds = runs[["setting", "instance", "policy", "seconds"]]
    frames = {"headline": table, "runs": runs.drop(columns="seconds"), "curves": curves, "pulls": pulls}
    for name, frame in (frames | {"seconds": seconds}).items():
        frame.to_csv(run.folder / f"{name}.csv", index=False, float_format="%.6g")
    save(draw_headline(table, curves, pulls), run.folder / "headline")
    summary = "\n\n".join([*said_of_regret(table), *said_of_pulls(pulls)])
    return {"headline": as_markdown(table), "headline-summary": summary}


def played(what: Setting | int, instance: int, seed: int) -> dict[str, Any]:
    """Play all policies on one system of a setting, or count pulls on one random tree of that size."""
    if isinstance(what, int):
        return {"pulls": count_pulls(what, instance, seed)}
    found = play(what, instance, seed)
    return {"rows": found.rows, "curves": found.curves}


def _name(what: Setting | int, instance: int, seed: int) -> str:
    if isinstance(what, int):
        return repr(("pulls", what, instance, seed))
    return repr((what.name, instance, seed, what.horizon, what.rows, what.also, what.most_parents))


def _longest(what: Setting | int, *_: int) -> float:
    return -1e6 * what if isinstance(what, int) else -what.horizon
