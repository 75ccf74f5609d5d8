"""The networks and tables of data/: where they come from, and that they are what they say."""

from __future__ import annotations

import csv
import gzip
import hashlib
import math
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discovery import read_csv

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

DATA = Path("data")
NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm")
TABLES = ("asia", "sachs", "alarm")
#: SHA-256 of inst/extdata/penguins_raw.csv in palmerpenguins.
PENGUINS = "144f623143c9360fd77322a4f86acb06dc198814dbd2669724c63e6457b907bd"


@cache
def network(name: str) -> DiscreteBayesianNetwork:
    from pgmpy.readwrite import BIFReader

    return BIFReader(string=(DATA / f"{name}.bif").read_text()).get_model()


def test_the_script_makes_the_same_bytes_again(tmp_path: Path) -> None:
    """About 5 seconds."""
    subprocess.run([sys.executable, "scripts/make_data.py", str(tmp_path)], check=True, capture_output=True)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted([f"{name}.bif" for name in NETWORKS] + [f"{name}.csv" for name in TABLES])
    for name in made:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), name


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_the_bundled_one_and_survives_writing(name: str) -> None:
    from pgmpy.readwrite import BIFReader, BIFWriter

    found = find_spec("pgmpy")
    assert found is not None
    assert found.origin is not None
    bundled = Path(found.origin).parent / "utils" / "example_models" / f"{name}.bif.gz"
    assert gzip.decompress(bundled.read_bytes()) == (DATA / f"{name}.bif").read_bytes()
    model = network(name)
    assert model.check_model()
    again = BIFReader(string=str(BIFWriter(model))).get_model()
    assert set(again.edges) == set(model.edges)
    for variable in model.nodes:
        cpd, same = model.get_cpds(variable), again.get_cpds(variable)
        assert cpd.variables == same.variables
        assert cpd.state_names == same.state_names
        assert np.array_equal(cpd.values, same.values)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_readme_counts_variables_and_arrows_rightly(name: str) -> None:
    lines = (DATA / "README.md").read_text().splitlines()
    row = next(line for line in lines if line.startswith(f"| {name} |"))
    model = network(name)
    assert row.split("|")[2:4] == [f" {len(model.nodes)} ", f" {len(model.edges)} "]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_drawn_from_its_network(name: str) -> None:
    """In the rows where its parents have some states, a variable has its states as often as its CPT says.

    10,000 rows; with M rows of CPTs that occur, each of frequencies f in m rows is within √(log(2M/10⁻⁶)/2m)
    of its probability but for a chance of 10⁻⁶ a network (Hoeffding, union bound). Under a second each.
    """
    table = read_csv(DATA / f"{name}.csv")
    model = network(name)
    assert table.n_rows == 10_000
    assert table.variables == tuple(model.nodes)
    assert table.warnings == ()
    place = {variable: column for column, variable in enumerate(table.variables)}
    states = {v: np.array(table.states[v])[table.codes[:, place[v]]] for v in table.variables}
    cells = sum(cpd.values.size for cpd in model.get_cpds())
    for cpd in model.get_cpds():
        family = np.stack([[cpd.state_names[v].index(s) for s in states[v]] for v in cpd.variables])
        counts = np.zeros(cpd.values.shape)
        np.add.at(counts, tuple(family), 1)
        rows = counts.sum(axis=0, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            error = np.nan_to_num(counts / rows - cpd.values)  # 0 where no row has these parents' states
            tolerance = np.sqrt(math.log(2 * cells / 1e-6) / (2 * rows))
        assert (np.abs(error) <= tolerance).all()
        assert (counts[cpd.values == 0] == 0).all()


def test_kidney_stones_has_the_published_counts() -> None:
    """Size, treatment: successes of patients (Charig et al. 1986)."""
    with open(DATA / "kidney_stones.csv", newline="", encoding="utf-8") as file:
        counts = Counter((row["size"], row["treatment"], row["success"]) for row in csv.DictReader(file))
    published = {("small", "A"): (81, 87), ("small", "B"): (234, 270)}
    published |= {("large", "A"): (192, 263), ("large", "B"): (55, 80)}
    for group, (successes, patients) in published.items():
        assert (counts[*group, "yes"], counts[*group, "no"]) == (successes, patients - successes)
    assert counts.total() == 700


def test_penguins_are_the_original_with_empty_fields_for_na() -> None:
    text = (DATA / "penguins.csv").read_bytes().decode("utf-8")
    original, empty = re.subn(r"(?<=,)(?=,|$)", "NA", text, flags=re.MULTILINE)
    assert empty == 336
    assert hashlib.sha256(original.encode("utf-8")).hexdigest() == PENGUINS


def test_a_table_names_its_sources() -> None:
    text = (DATA / "README.md").read_text()
    assert "CC BY-SA 3.0" in text
    assert "CC0 1.0" in text
    assert all(f"| {name} |" in text for name in NETWORKS)
    assert all(f"`{path.name}`" in text for path in DATA.glob("*.csv"))
