"""What a study is: a short TOML file, every key of which is checked, and the grid of cells that it spans.

title = "Estimated against oracle graphs"
seed = 1                        # everything random comes from it
runs = 10                       # repetitions of every cell, each with its own draws
horizons = [10_000, 100_000]
failure_prob = 0.05

[[system]]                      # a network and its reward ...
network = "data/asia.bif"       # a path from where the file is, or from where one stands
reward = "xray=yes"

[[system]]                      # ... or a random instance, drawn anew for every run
instance = "tree"
n = [20, 100]                   # a list stands for one system each; two lists for all pairs
n_states = 3

[[graph]]                       # for policies that work on a graph; without any: the oracle
source = "oracle"               # the true graph; marginals are exact, or with rows = ... from that many

[[graph]]
source = "estimated"
method = ["ges", "pc"]
rows = [300, 3000]

[[policy]]
name = "cn-ucb"

[[policy]]
name = "my_package.my_module:MyPolicy"    # your own: a `Policy` class, or a function of a `PolicyContext`
label = "mine"
"""

from __future__ import annotations

import itertools
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cb_pgm.errors import StudyError
from cb_pgm.policies.registry import POLICIES
from cb_pgm.wording import did_you_mean, listed
from discovery.estimation.settings import METHODS

__all__ = ["Cell", "Part", "Study"]

_INSTANCES = ("tree", "forest", "chordal", "random_dag", "lower_bound_effect_gap", "lower_bound_reward_gap")
_COPYING = ("n", "n_states", "copy_probability", "noise", "reward_gap", "effect_gap", "n_parents")
_INSTANCE_KEYS: Mapping[str, tuple[str, ...]] = {
    "tree": (*_COPYING, "shape", "reward_depth"),
    "forest": (*_COPYING, "n_components"),
    "chordal": (*_COPYING, "max_clique"),
    "random_dag": (*_COPYING, "expected_degree", "max_parents"),
    "lower_bound_effect_gap": ("n", "n_states", "instance_number", "horizon", "reward_gap"),
    "lower_bound_reward_gap": ("n", "n_states", "instance_number", "horizon", "reward_gap"),
}
_STUDY_KEYS = ("title", "seed", "runs", "horizons", "failure_prob", "system", "graph", "policy")
_GRAPH_KEYS = {"oracle": ("source", "rows"), "estimated": ("source", "method", "rows")}


@dataclass(frozen=True)
class Part:
    """One system, graph or policy of a study: its label in tables, and its settings in the file's order."""

    label: str
    settings: tuple[tuple[str, Any], ...]

    def __getitem__(self, key: str) -> Any:
        return dict(self.settings)[key]

    def get(self, key: str, default: Any = None) -> Any:
        return dict(self.settings).get(key, default)


@dataclass(frozen=True)
class Cell:
    """One point of the grid: a policy on a system, by a graph (None: it needs none), once."""

    system: Part
    graph: Part | None
    policy: Part
    horizon: int
    run: int
    failure_prob: float

    @property
    def key(self) -> str:
        """The cell as JSON: its identity in the store, and what its draws depend on."""
        graph = None if self.graph is None else self.graph.settings
        return json.dumps(
            [self.system.settings, graph, self.policy.settings, self.horizon, self.run, self.failure_prob]
        )


@dataclass(frozen=True)
class Study:
    """A grid of cells and the seed of all.

    Attributes
    ----------
    title, seed, runs, horizons, failure_prob
        As in the file.
    systems, graphs, policies
        With lists of settings multiplied out.
    """

    title: str
    seed: int
    runs: int
    horizons: tuple[int, ...]
    failure_prob: float
    systems: tuple[Part, ...]
    graphs: tuple[Part, ...]
    policies: tuple[Part, ...]

    @classmethod
    def from_toml(cls, path: str | Path) -> Study:
        """Read and check a study.

        Raises
        ------
        StudyError
            With the first key or value at fault, and the nearest key there is.
        OSError
            If the file can't be read.
        """
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise StudyError(f"Expected a study in TOML but found {error} in {path}") from None
        return cls.from_dict(content, where=str(path), folder=path.parent)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], *, where: str = "the study", folder: Path = Path()
    ) -> Study:
        """Check what a TOML file would hold; networks are looked for in `folder` first."""
        _check_keys(content, _STUDY_KEYS, where)
        systems = _parts(content, "system", where, lambda part, at: _checked_system(part, at, folder))
        graphs = _parts(content, "graph", where, _checked_graph, default=[{"source": "oracle"}])
        policies = _parts(content, "policy", where, _checked_policy)
        horizons = content.get("horizons", [100_000])
        study = cls(
            title=str(content.get("title", "")),
            seed=_whole(content.get("seed", 0), "seed", where, least=0),
            runs=_whole(content.get("runs", 1), "runs", where),
            horizons=tuple(
                _whole(horizon, "horizons", where)
                for horizon in (horizons if isinstance(horizons, list) else [horizons])
            ),
            failure_prob=_probability(content.get("failure_prob", 0.05), "failure_prob", where),
            systems=systems,
            graphs=graphs,
            policies=policies,
        )
        keys = [cell.key for cell in study.cells()]
        if len(set(keys)) < len(keys):
            raise StudyError(f"Expected every system, graph and policy once but found one twice in {where}")
        return study

    def cells(self) -> Iterator[Cell]:
        """Yield every cell; policies that need no graph are played once, not once per graph."""
        # What an estimate is shared by comes together, so that it is made once.
        for system, run, graph in itertools.product(self.systems, range(self.runs), (*self.graphs, None)):
            for policy, horizon in itertools.product(self.policies, self.horizons):
                if needs_graph(policy) == (graph is not None):
                    yield Cell(system, graph, policy, horizon, run, self.failure_prob)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON, with lists of settings multiplied out."""

        def described(parts: Iterable[Part]) -> list[dict[str, Any]]:
            return [{"label": part.label, **dict(part.settings)} for part in parts]

        return {
            "title": self.title,
            "seed": self.seed,
            "runs": self.runs,
            "horizons": list(self.horizons),
            "failure_prob": self.failure_prob,
            "system": described(self.systems),
            "graph": described(self.graphs),
            "policy": described(self.policies),
        }

    def fingerprint(self) -> str:
        """All that the results depend on, as JSON."""
        cells = [cell.key for cell in self.cells()]
        return json.dumps({"seed": self.seed, "cells": cells})


def is_told(policy: Part) -> bool:
    """Return whether the policy is told what it plays against, as a floor for the others."""
    name = policy["name"]
    return name in POLICIES and POLICIES[name].told


def needs_graph(policy: Part) -> bool:
    """Return whether the policy is played once per graph; a policy of the user's own always is."""
    name = policy["name"]
    return name not in POLICIES or POLICIES[name].needs_graph


def _parts(
    content: Mapping[str, Any],
    kind: str,
    where: str,
    check: Any,
    default: list[dict[str, Any]] | None = None,
) -> tuple[Part, ...]:
    tables = content.get(kind, default)
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise StudyError(f"Expected at least one [[{kind}]] in {where} but found none: add one")
    return tuple(
        check(choice, f"[[{kind}]] number {number} of {where}")
        for number, table in enumerate(tables, start=1)
        for choice in _multiplied_out(table)
    )


def _multiplied_out(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    choices = [value if isinstance(value, list) else [value] for value in table.values()]
    for chosen in itertools.product(*choices):
        yield dict(zip(table, chosen, strict=True))


def _checked_system(part: dict[str, Any], where: str, folder: Path) -> Part:
    if ("network" in part) == ("instance" in part):
        raise StudyError(f"Expected either network or instance in {where}: a BIF file, or a random instance")
    if "network" in part:
        _check_keys(part, ("network", "reward", "label"), where)
        if "reward" not in part:
            raise StudyError(f'Expected reward = "node=state" in {where} but found none')
        path = folder / str(part["network"])
        if not path.is_file():
            path = Path(str(part["network"]))
        if not path.is_file():
            raise StudyError(f"Expected a network but found no file {part['network']!r} for {where}")
        part = part | {"network": path.as_posix()}
        return _labelled(part, f"{path.stem} {part['reward']}")
    name = part["instance"]
    if name not in _INSTANCES:
        raise StudyError(
            f"Expected the instance {listed(_INSTANCES, last='or')} but found {name!r} in {where}"
        )
    _check_keys(part, ("instance", "label", *_INSTANCE_KEYS[name]), where)
    if "n" not in part:
        raise StudyError(f"Expected n, the number of variables, in {where} but found none")
    settings = ", ".join(f"{key}={value}" for key, value in part.items() if key not in ("instance", "label"))
    return _labelled(part, f"{name}({settings})")


def _checked_graph(part: dict[str, Any], where: str) -> Part:
    source = part.get("source")
    if source not in _GRAPH_KEYS:
        raise StudyError(f'Expected source = "oracle" or "estimated" in {where} but found {source!r}')
    _check_keys(part, (*_GRAPH_KEYS[source], "label"), where)
    if source == "oracle":
        if "rows" not in part:
            return _labelled(part, "oracle")
        _whole(part["rows"], "rows", where, least=20)
        return _labelled(part, f"oracle {part['rows']} rows")
    if part.get("method", "ges") not in METHODS:
        raise StudyError(
            f"Expected the method {listed(METHODS, last='or')} in {where}: found {part['method']!r}"
        )
    part = {"source": source, "method": part.get("method", "ges")} | part
    part["rows"] = _whole(part.get("rows", 10_000), "rows", where, least=20)
    return _labelled(part, f"{part['method']} {part['rows']} rows")


def _checked_policy(part: dict[str, Any], where: str) -> Part:
    _check_keys(part, ("name", "label", "max_parents"), where)
    name = part.get("name")
    if not isinstance(name, str) or (name not in POLICIES and ":" not in name):
        raise StudyError(
            f"Expected a policy's name, or module:attribute for one of your own, but found {name!r} in "
            f"{where}: {did_you_mean(name, POLICIES)}"
        )
    return _labelled(part, name)


def _labelled(part: dict[str, Any], label: str) -> Part:
    """Take the label out of what a cell's identity and draws depend on."""
    settings = tuple((key, value) for key, value in part.items() if key != "label")
    return Part(str(part.get("label", label)), settings)


def _check_keys(part: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for key in part:
        if key not in known:
            raise StudyError(f"Expected known keys but found {key!r} in {where}: {did_you_mean(key, known)}")


def _whole(value: Any, key: str, where: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise StudyError(f"Expected {key} to be whole and at least {least} but found {value!r} in {where}")
    return value


def _probability(value: Any, key: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise StudyError(f"Expected {key} between 0 and 1 but found {value!r} in {where}")
    return float(value)
