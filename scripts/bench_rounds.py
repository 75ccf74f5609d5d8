"""Simulated rounds, searches, graphs, studies, imports: `rows()` gives one dict per comparison."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import numpy as np
from comparisons import Row, limit_row, ratio_row, seconds

from cb_pgm import UCB, Policy, ScreeningUCB, instances, search, simulate
from cb_pgm.study import Study, run_study
from discovery import EssentialGraph

#: What the published code of RAPS takes for one pull.
RIVAL_ROUND = 1e-3
REPEATS = 5


def rows(seed: int, repeats: int) -> Iterator[Row]:
    """Yield every comparison."""
    yield from _ucb_rounds(seed, repeats)
    yield from _screening_rounds(seed, repeats)
    yield from _graphs(seed, min(repeats, 3))
    yield from _studies(seed, min(repeats, 3))
    yield _memory()
    yield from _imports(repeats)


def _round_seconds(policy: Policy, system: object, rounds: int, repeats: int) -> list[float]:
    simulate(policy, system, 300, seed=0)
    return [seconds(lambda: simulate(policy, system, rounds, seed=0)) / rounds for _ in range(repeats)]


def _ucb_rounds(seed: int, repeats: int) -> Iterator[Row]:
    for n, rounds, goal in ((1, 100_000, 150), (100, 50_000, 100), (1000, 20_000, 20)):
        system = instances.tree(n, 3, seed=1 + seed)
        policy = UCB(system.states, noise_scale=system.noise_scale)
        pairs = [(ours, RIVAL_ROUND) for ours in _round_seconds(policy, system, rounds, repeats)]
        yield ratio_row(f"simulated UCB round, {3 * n:,} arms", "1 ms (RAPS' code)", pairs, at_least=goal)


def _screening_rounds(seed: int, repeats: int) -> Iterator[Row]:
    for n, rounds, limit in ((100, 20_000, 10), (1000, 5000, 100)):
        system = instances.tree(n, 3, seed=1 + seed)
        policy = ScreeningUCB(system.states, noise_scale=system.noise_scale)
        found = [1e6 * one for one in _round_seconds(policy, system, rounds, repeats)]
        yield limit_row(f"simulated screening round, n = {n:,}, K = 3", found, at_most=limit, unit="µs")


def _random_tree(n: int, seed: int) -> nx.DiGraph[str]:
    rng = np.random.default_rng(seed)
    tree: nx.DiGraph[str] = nx.DiGraph()
    tree.add_nodes_from(f"X{i}" for i in range(n))
    tree.add_edges_from((f"X{rng.integers(i)}", f"X{i}") for i in range(1, n))
    return tree


def _graphs(seed: int, repeats: int) -> Iterator[Row]:
    dags = {n: _random_tree(n, seed) for n in (5000, 10_000)}
    took: dict[str, dict[int, list[float]]] = {}
    for n, dag in dags.items():
        graph = EssentialGraph.from_dag(dag)
        answer = search.exact_answers(dag, (f"X{n // 2}",))
        jobs = {
            "EssentialGraph.from_dag": lambda dag=dag: EssentialGraph.from_dag(dag),
            "search.tree": lambda graph=graph, answer=answer: search.solve(search.tree(graph), answer),
            "search.sound": lambda graph=graph, answer=answer: search.solve(search.sound(graph), answer),
        }
        gc.collect()
        gc.freeze()  # else the collector goes over all that other benchmarks left, again and again
        for name, job in jobs.items():
            took.setdefault(name, {})[n] = [seconds(job) for _ in range(repeats)]
    for name, by_n in took.items():
        yield limit_row(f"{name}, a random tree of 10,000 nodes", by_n[10_000], at_most=10)
        growth = [large / small for small, large in zip(by_n[5000], by_n[10_000], strict=True)]
        yield limit_row(f"{name}, twice the nodes", growth, at_most=3, unit="times as long")


def _studies(seed: int, repeats: int) -> Iterator[Row]:
    small = {"seed": seed, "runs": 500, "horizons": 50, "policy": [{"name": "ucb"}, {"name": "thompson"}]}
    tiny = Study.from_dict(small | {"system": [{"network": "data/asia.bif", "reward": "xray=yes"}]})
    large = Study.from_dict(
        small | {"horizons": 4000, "system": [{"network": "data/asia.bif", "reward": "xray=yes"}]}
    )

    def play(study: Study, jobs: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()  # several processes: only the clock on the wall tells
            run_study(study, folder, jobs=jobs)
            return time.perf_counter() - start

    play(tiny, 1)
    found = [play(tiny, 1) for _ in range(repeats)]
    yield limit_row("a study's cell of 50 rounds, all in, over 1,000 cells", found, at_most=5, unit="ms")
    pairs = [(play(large, 2), play(large, 1)) for _ in range(repeats)]
    yield ratio_row("a study of 1,000 cells of 4,000 rounds, 2 jobs", "1 job", pairs, at_least=1.8)


def _memory() -> Row:
    """Peak memory that a million rounds add to a thousand, each in a process of its own."""
    code = (
        "import resource, sys; from cb_pgm import *; s = instances.tree(20, 3, seed=0);"
        "simulate(UCB(s.states), s, int(sys.argv[1]), 0);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )

    def peak(rounds: int) -> float:
        command = [sys.executable, "-c", code, str(rounds)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    added = peak(1_000_000) - peak(1000)
    return limit_row("memory that 10⁶ rounds take beyond 10³", [added], at_most=200, unit="MB")


def _imports(repeats: int) -> Iterator[Row]:
    for what, command, limit in (
        ("import cb_pgm", [sys.executable, "-c", "import cb_pgm"], 0.3),
        ("cb-pgm --help", [str(Path(sys.executable).with_name("cb-pgm")), "--help"], 0.5),
    ):
        yield limit_row(f"{what}, CPU", [_cpu(command) for _ in range(repeats)], at_most=limit)


def _cpu(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
