"""Real tables bundled with other packages: which `discover` takes as they are, and what the others took.

The packages are installed in an environment of their own, so that this one stays as it is:

    python -m venv tables
    tables/bin/pip install statsmodels scikit-learn causaldata lifelines vega_datasets
    scripts/results --only real_tables --packages tables/lib/python3.*/site-packages

A table that is refused is tried once more, with the flags that the message gives to paste.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pandas as pd
from results_page import markdown_table
from results_run import Run

from cb_pgm.cli.program import main as cb_pgm

__all__ = ["add_options", "make"]

#: Each package's tables, relative to the folder of all packages.
TABLES = {
    "statsmodels": [
        f"statsmodels/datasets/{name}"
        for name in (
            "anes96/anes96.csv",
            "ccard/ccard.csv",
            "china_smoking/china_smoking.csv",
            "cpunish/cpunish.csv",
            "fair/fair.csv",
            "grunfeld/grunfeld.csv",
            "heart/heart.csv",
            "macrodata/macrodata.csv",
            "modechoice/modechoice.csv",
            "randhie/randhie.csv",
            "spector/spector.csv",
            "star98/star98.csv",
            "statecrime/statecrime.csv",
            "strikes/strikes.csv",
        )
    ],
    "scikit-learn": [
        f"sklearn/datasets/data/{name}" for name in ("iris.csv", "breast_cancer.csv", "wine_data.csv")
    ],
    "causaldata": [
        f"causaldata/{name}"
        for name in (
            "Mroz/Mroz.csv",
            "auto/auto.dta",
            "black_politicians/black_politicians.csv",
            "close_college/close_college.dta",
            "gapminder/gapminder.csv",
            "mortgages/fetter_mortgages.csv",
            "nhefs/nhefs.dta",
            "nsw_mixtape/nsw_mixtape.dta",
            "organ_donations/organ_donation.csv",
            "restaurant_inspections/restaurant_data.csv",
            "social_insure/Cai_2015.csv",
            "thornton_hiv/thornton_hiv.dta",
            "titanic/titanic.dta",
        )
    ],
    "lifelines": [
        f"lifelines/datasets/{name}"
        for name in (
            "ACTG175.csv",
            "canadian_senators.csv",
            "dd.csv",
            "gbsg2.csv",
            "kidney_transplant.csv",
            "larynx.csv",
            "lung.csv",
            "lymphoma.csv",
            "rossi.csv",
            "stanford_heart.csv",
            "waltons_dataset.csv",
        )
    ],
    "vega_datasets": [
        f"vega_datasets/_data/{name}"
        for name in ("airports.csv", "cars.json", "la-riots.csv", "seattle-weather.csv")
    ],
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the folder of all packages."""
    parser.add_argument("--packages", type=Path, required=True, metavar="SITE_PACKAGES")


def make(run: Run) -> dict[str, str]:
    """Return the section "real-tables"."""
    packages = getattr(run.given, "packages", None)
    if packages is None:
        return {}  # only with --only real_tables --packages SITE_PACKAGES
    rows = list(tried(packages))
    taken = sum(row[3] != "refused" for row in rows)
    as_they_are = sum(row[3] == "as it is" for row in rows)
    text = (
        f"`discover` takes {taken} of {len(rows)} tables: {as_they_are} as they are, the others "
        f"with the flags that one message gave. Stata files and JSON were turned into CSV first.\n\n"
        + markdown_table(["table", "package", "size", "it took", "seconds"], rows)
    )
    return {"real-tables": text}


def tried(packages: Path) -> Iterator[list[str]]:
    """Yield a row for each table: its name, package and size, what it took, and the time in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        for package, names in TABLES.items():
            for name in names:
                path = as_csv(packages / name, Path(folder))
                began = time.perf_counter()
                took = what_it_took(path)
                seconds = f"{time.perf_counter() - began:.1f}"
                shape = " × ".join(map(str, pd.read_csv(path, sep=None, engine="python").shape))
                yield [Path(name).stem, package, shape, took, seconds]


def as_csv(path: Path, folder: Path) -> Path:
    """Return the file, or a CSV file with its table if it is of another kind."""
    if path.suffix == ".csv":
        return path
    frame = pd.read_stata(path) if path.suffix == ".dta" else pd.read_json(path)
    written = folder / f"{path.stem}.csv"
    frame.to_csv(written, index=False)
    return written


def what_it_took(path: Path) -> str:
    """Return the flags with which the table is taken: none, those of the first message, or a refusal."""
    said = discovered(path, [])
    if said is None:
        return "as it is"
    flags = re.search(r"decide on each, or add (.*)$", said, flags=re.MULTILINE)
    alone = re.findall(r"\((--[a-z-]+(?: [^()]*)?)\)", said)
    typed = flags.group(1) if flags else alone[0] if alone else ""
    if typed and discovered(path, shlex.split(typed)) is None:
        return f"`{typed}`" if len(typed) <= 60 else f"`{typed[:57]}…`"
    return "refused"


def discovered(path: Path, flags: list[str]) -> str | None:
    """Run `discover`, and return what it said if it refused the table; the quick search is enough."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        try:
            code = cb_pgm(["discover", str(path), "--method", "chow-liu", *flags])
        except SystemExit:  # the message gave no flag that can be typed as it is
            code = 2
    return said.getvalue() if code else None
