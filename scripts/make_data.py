"""Write the example networks (BIF) and observational tables (CSV) of data/; called by scripts/make_data.

The networks are those of the Bayesian Network Repository as they are bundled with pgmpy, unpacked and
otherwise unchanged. Each table is `ROWS` independent draws from its network with a seed of its own, the
same to the byte on every machine.
"""

from __future__ import annotations

import csv
import gzip
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pgmpy.models import DiscreteBayesianNetwork

NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs", "child", "insurance", "alarm")
SEEDS = {"asia": 1, "sachs": 2, "alarm": 3}
ROWS = 10_000
COLLECTION = "utils/example_models"


def make_data(folder: Path) -> None:
    """Write every network and table into `folder`, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in NETWORKS:
        (folder / f"{name}.bif").write_bytes(bundled_network(name).encode())
    for name, seed in SEEDS.items():
        write_table(folder / f"{name}.csv", read_network(folder / f"{name}.bif"), seed)


def bundled_network(name: str) -> str:
    """Return the BIF text of a network that lies in pgmpy's wheel.

    pgmpy's own door to these files goes in its version 1.3, and what replaces it downloads: hence the file.
    """
    package = find_spec("pgmpy")
    if package is None or package.origin is None:
        raise SystemExit("Expected pgmpy, found none: run scripts/make_data, which installs it")
    path = Path(package.origin).parent / COLLECTION / f"{name}.bif.gz"
    if not path.exists():
        raise SystemExit(f"Expected the network {name} in {path}, found none: install pgmpy 1.1.2")
    return gzip.decompress(path.read_bytes()).decode().replace("\r\n", "\n")


def read_network(path: Path) -> DiscreteBayesianNetwork:
    """Return the network that a BIF file describes."""
    from pgmpy.readwrite import BIFReader

    return BIFReader(string=path.read_text()).get_model()


def write_table(path: Path, network: DiscreteBayesianNetwork, seed: int) -> None:
    """Write `ROWS` draws as CSV: one column per variable in the network's order, states as text."""
    codes = forward_sample(network, ROWS, np.random.default_rng(seed))
    columns = [np.array(network.get_cpds(v).state_names[v])[codes[v]] for v in network.nodes]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(network.nodes)
        writer.writerows(zip(*columns, strict=True))


def forward_sample(
    network: DiscreteBayesianNetwork, size: int, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    """Draw each variable after its parents; return its state indices, an array [size] per variable."""
    place = {variable: position for position, variable in enumerate(network.nodes)}
    codes: dict[str, NDArray[np.int64]] = {}
    for variable in nx.lexicographical_topological_sort(network, key=place.__getitem__):
        cpd = network.get_cpds(variable)
        cumulative = np.cumsum(cpd.values, axis=0)[(slice(None, -1), *(codes[p] for p in cpd.variables[1:]))]
        below = rng.random(size) > cumulative.reshape(cpd.variable_card - 1, -1)
        codes[variable] = below.sum(axis=0)
    return codes


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Expected one folder to write into: scripts/make_data [FOLDER]")
    make_data(Path(sys.argv[1]))
