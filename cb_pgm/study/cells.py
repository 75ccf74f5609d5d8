"""Play one cell of a study; its result depends on that cell and the seed of the study only."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cb_pgm import instances
from cb_pgm.errors import StudyError
from cb_pgm.model.intervention import Intervention, Observations
from cb_pgm.model.system import CausalSystem
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy
from cb_pgm.problem.truth import read_truth
from cb_pgm.simulation import MOST_OBSERVATIONS, EarlierRows, drawn_rows, simulate
from cb_pgm.study.config import Cell, Part, is_oracle
from cb_pgm.study.tables import problem_of, unit_of
from discovery import DiscreteTable, EssentialGraph, Marginals, compare, estimate
from discovery.estimation.settings import Method
from discovery.wording import listed

__all__ = ["CellResult", "earlier_of", "play_cell", "system_of"]


@dataclass(frozen=True)
class CellResult:
    """The result of a cell: a row of the results table and its regret curve, or the error that stopped it.

    Attributes
    ----------
    row
        Column → value. Equal cells have equal rows, on whichever machine they are played. After an error only
        the columns that describe the cell are present. A policy isn't played on the "oracle" graph where
        hidden common causes leave none that is true: then there are only those columns and `left_out`, the
        reason.
    curve
        (round, regret) pairs at log-spaced rounds; empty after an error.
    error
        The error's type and message in one line; None without an error.
    seconds
        The time taken, in seconds.
    """

    row: dict[str, Any]
    curve: list[tuple[int, float]]
    error: str | None
    seconds: float


def play_cell(cell: Cell, seed: int) -> CellResult:
    """Play one cell with the seed of its study; an error is recorded in the result and not raised."""
    started = time.perf_counter()
    _one_thread()
    row: dict[str, Any] = _described(cell)
    curve: list[tuple[int, float]] = []
    error = None
    try:
        outcome, curve = _outcome(cell, seed)
        row |= outcome
    except Exception as problem:  # a user's own policy may raise any error, and the study must go on
        error = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    return CellResult(row, curve, error, time.perf_counter() - started)


def _described(cell: Cell) -> dict[str, Any]:
    graph = cell.graph
    return {
        "system": cell.system.label,
        "graph": graph.label if graph is not None else "oracle" if is_oracle(cell.policy) else "none",
        "method": None if graph is None else graph.get("method", "oracle"),
        "rows": None if graph is None else graph.get("rows"),
        "policy": cell.policy.label,
        "horizon": cell.horizon,
        "run": cell.run,
    }


def _outcome(cell: Cell, seed: int) -> tuple[dict[str, Any], list[tuple[int, float]]]:
    system = system_of(cell.system, cell.run, seed)
    oracle = system.true_graph()
    if oracle is None and cell.graph is not None and cell.graph["source"] == "oracle":
        cause, below = next(iter(system.hidden_common_causes.items()))
        reason = (
            f"no graph is true of the observed variables: {cause}, which is hidden, causes {listed(below)}"
        )
        return {"regret": None, "left_out": reason}, []
    graph, marginals = oracle, system.marginals()
    if cell.graph is not None and "rows" in dict(cell.graph.settings):
        seen = _Seen(cell.system, cell.graph["rows"], cell.run, seed)
        marginals = _marginals(seen)
        if cell.graph["source"] == "estimated":
            graph = _estimated(seen, cell.graph["method"])
    gaps = system.effective_gaps(oracle)
    context = PolicyContext.of_system(system, graph, marginals, gaps)
    context = replace(
        context,
        failure_prob=cell.failure_prob,
        max_parents=cell.policy.get("max_parents", context.max_parents),
    )
    own = {key: value for key, value in cell.policy.settings if key not in ("name", "max_parents")}
    policy = make_policy(cell.policy["name"], context, **own)
    run = simulate(
        policy, system, cell.horizon, _draws(seed, "play", cell.key), earlier=earlier_of(cell, seed)
    )
    unit = unit_of(cell.system)
    run = run.outside(unit)
    named = run.reward_variables
    row: dict[str, Any] = {
        "n": len(system.states),
        "n_states": max(map(len, system.states.values())),
        "reward_gap": unit.difference(gaps[0]),
        "effect_gap": gaps[1],
        "noise_scale": unit.difference(system.noise_scale),
        "shd": _distance(graph, oracle) if cell.graph is not None else None,
        "regret": float(run.regret),
        "reward_variables": " ".join(named),
        "correct": set(named) == set(system.reward_parents) if named else None,
        "interventions_to_find": run.interventions_to_find,
        "fallback": run.fallback,
        "started_from": run.started_from,
    }
    return row, list(zip(run.rounds.tolist(), run.regrets.tolist(), strict=True))


def earlier_of(cell: Cell, seed: int) -> EarlierRows:
    """Return the table that the policy starts from: its graph's, else one with the rows of its system."""
    rows = cell.system.get("rows", 0)
    if rows and cell.graph is not None:
        rows = cell.graph.get("rows", rows)
    if not rows:
        return ()
    seen = _Seen(cell.system, rows, cell.run, seed)
    observed = _observations(seen)
    few = slice(MOST_OBSERVATIONS)
    done = {}
    if "table" in dict(cell.system.settings):
        done = {arm: len(own) for arm, own in problem_of(cell.system).earlier_rows() if arm}
    draws = np.random.default_rng(_draws(seed, "arms", json.dumps([cell.system.identity, cell.run])))
    return (
        (Intervention(), Observations(observed.codes[few], observed.rewards[few])),
        *drawn_rows(system_of(cell.system, cell.run, seed), done, draws),
    )


def _distance(graph: EssentialGraph | None, oracle: EssentialGraph | None) -> int | None:
    """Return the structural Hamming distance to the true graph, if there is one."""
    return None if graph is None or oracle is None else compare(graph, oracle)["shd"]


@lru_cache(maxsize=8)
def system_of(part: Part, run: int, seed: int) -> CausalSystem:
    """Return the system of a part; an instance is the same for all policies and graphs of a run."""
    wanted = dict(_without_rows(part.settings))
    if "table" in wanted:
        return problem_of(part).fitted.system
    if "network" in wanted:
        return _network(wanted["network"], wanted["reward"], part.content)
    name = wanted.pop("instance")
    if "instance_number" in wanted:
        wanted["instance"] = wanted.pop("instance_number")
    rng = np.random.default_rng(_draws(seed, "instance", json.dumps([_without_rows(part.identity), run])))
    system: CausalSystem = getattr(instances, name)(**wanted, seed=rng)
    return system


def _without_rows(settings: tuple[tuple[str, Any], ...]) -> list[tuple[str, Any]]:
    """Return what makes the system: the number of rows that policies start from changes no draw of it."""
    return [(key, value) for key, value in settings if key != "rows"]


@lru_cache(maxsize=8)
def _network(path: str, reward: str, content: str) -> CausalSystem:
    if hashlib.sha256(Path(path).read_bytes()).hexdigest() != content:
        raise StudyError(
            f"Expected the network {path} as it was when the study began but found it changed: restore it"
        )
    return read_truth(path, reward)


@dataclass(frozen=True)
class _Seen:
    """The identity of a sampled table, which is the same for every method and policy of a run."""

    system: Part
    rows: int
    run: int
    seed: int


@lru_cache(maxsize=8)
def _observations(seen: _Seen) -> Observations:
    draws = _draws(seen.seed, "table", json.dumps([_without_rows(seen.system.identity), seen.rows, seen.run]))
    return system_of(seen.system, seen.run, seen.seed).sample({}, seen.rows, np.random.default_rng(draws))


@lru_cache(maxsize=8)
def _marginals(seen: _Seen) -> Marginals:
    system, observed = system_of(seen.system, seen.run, seen.seed), _observations(seen)
    shares = {
        name: np.bincount(observed.codes[:, column], minlength=len(states)) / seen.rows
        for column, (name, states) in enumerate(system.states.items())
    }
    return Marginals(shares, rows=seen.rows, reward_mean=float(observed.rewards.mean()))


@lru_cache(maxsize=8)
def _estimated(seen: _Seen, method: Method) -> EssentialGraph:
    """Estimate the graph; a variable with a single observed state has no edges in it."""
    system, observed = system_of(seen.system, seen.run, seen.seed), _observations(seen)
    names = list(system.states)
    varied = [column for column in range(len(names)) if len(np.unique(observed.codes[:, column])) > 1]
    table = DiscreteTable(
        np.asfortranarray(observed.codes[:, varied]),
        {names[column]: system.states[names[column]] for column in varied},
        observed.rewards,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of hundreds of estimates; the results show the error of each
        found = estimate(table, method=method).graph
    return EssentialGraph(names, found.directed, found.undirected)


def _draws(seed: int, purpose: str, identity: str) -> np.random.SeedSequence:
    """Return a seed that depends only on the study's seed, its purpose and the identity of its user."""
    digest = hashlib.sha256(f"{purpose} {identity}".encode()).digest()
    return np.random.SeedSequence(seed, spawn_key=tuple(np.frombuffer(digest, dtype=np.uint32).tolist()))


@lru_cache(maxsize=1)
def _one_thread() -> None:
    """Restrict BLAS in this process to one thread, since the study itself plays cells in parallel."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1)
