"""Sampling and exact means beside their rivals, in the same run: `rows()` gives one dict per comparison.

Each comparison takes the CPU time of both sides in turn, several times over, and keeps the median ratio and
its range; a quick side is called often enough to fill a tenth of a second. The first call of each, which
compiles and imports, isn't counted. Run by scripts/bench; alone it prints its rows as JSON.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cb_pgm import CausalSystem, instances

DATA = Path(__file__).resolve().parent.parent / "data"
NETWORKS = {"asia": "xray=yes", "sachs": "Akt=LOW", "alarm": "CVP=NORMAL"}
SET = {"sachs": {"Mek": "LOW"}, "alarm": {"CATECHOL": "HIGH"}}

Row = dict[str, Any]

_FILL = 0.1  # seconds that a quick side is run for


def rows(repeats: int = 5) -> Iterator[Row]:
    """Yield every comparison: what, both sides' seconds, the ratio and its range, the goal, if it's met."""
    import pgmpy

    pgmpy.config.set_show_progress(False)
    for name, reward in NETWORKS.items():
        system = CausalSystem.from_bif(DATA / f"{name}.bif", reward)
        yield _beside_pgmpy(name, system, {}, 1, 300, repeats)
        yield _beside_pgmpy(name, system, {}, 100_000, 50, repeats)
        if name in SET:
            yield _beside_pgmpy(name, system, SET[name], 1, 200, repeats)
            yield _beside_pgmpy(name, system, SET[name], 10_000, 200, min(repeats, 3))
        yield _beside_uniforms(name, system, repeats)
    yield _arm_means_of_alarm(repeats)
    yield _arm_means_of_a_tree(repeats)
    yield _memory()


def _beside_pgmpy(
    name: str, system: CausalSystem, do: dict[str, str], size: int, goal: float, repeats: int
) -> Row:
    network = system.network()
    rng = np.random.default_rng(0)
    times = _times(
        lambda: system.sample(do, size, rng),
        lambda: network.simulate(size, do=do or None, seed=0, show_progress=False),
        repeats,
    )
    setting = "".join(f", do({variable} = {state})" for variable, state in do.items())
    return _row(f"sample {size:,} of {name}{setting}", "pgmpy simulate", times, at_least=goal)


def _beside_uniforms(name: str, system: CausalSystem, repeats: int) -> Row:
    rng = np.random.default_rng(0)
    uniforms = np.empty((100_000, len(system.states)))
    times = _times(lambda: system.sample({}, 100_000, rng), lambda: rng.random(out=uniforms), repeats)
    return _row(f"sample 100,000 of {name}", "rng.random of as many float64", times, at_most=3)


def _arm_means_of_alarm(repeats: int) -> Row:
    system = CausalSystem.from_bif(DATA / "alarm.bif", NETWORKS["alarm"])
    (parent,) = system.reward_parents
    means = np.array([system.mean_reward({parent: state}) for state in system.states[parent]])
    model, network, reward = system.model, system.network(), system.reward

    def ours() -> None:
        CausalSystem.from_model(model, reward).arm_means()

    def theirs() -> None:
        from pgmpy.inference import VariableElimination

        for variable, states in system.states.items():
            inference = VariableElimination(network.do([variable]))
            for state in states:
                if variable == parent:
                    continue
                found = inference.query([parent], evidence={variable: state}, show_progress=False)
                float(found.values @ means)

    arms = sum(map(len, system.states.values()))
    return _row(
        f"all {arms} arm means of alarm",
        "pgmpy VariableElimination",
        _times(ours, theirs, repeats),
        at_least=20,
    )


def _arm_means_of_a_tree(repeats: int) -> Row:
    system = instances.tree(1000, shape="chain", reward_depth=999, seed=0)

    def ours() -> None:
        CausalSystem.from_model(system.model, system.reward).arm_means()

    seconds = statistics.median(_seconds(ours, 1) for _ in range(repeats))
    return {
        "what": "all 3,000 arm means of a chain of 1,000 variables",
        "against": "one second",
        "seconds": seconds,
        "goal": "under a second",
        "met": seconds < 1,
    }


def _memory() -> Row:
    system = instances.tree(100, seed=0)
    rng = np.random.default_rng(0)
    system.sample({}, 1, rng)
    tracemalloc.start()
    seen = system.sample({}, 100_000, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    copies = peak / seen.codes.nbytes
    return {
        "what": "memory while sampling 100,000 rows of 100 variables",
        "against": "the rows themselves",
        "ratio": copies,
        "goal": "at most 2 copies",
        "met": copies <= 2,
    }


def _times(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> list[tuple[float, float]]:
    """Time both sides in turn, in seconds per call."""
    ours(), theirs()
    calls = [max(1, math.ceil(_FILL / _seconds(side, 3))) for side in (ours, theirs)]
    return [(_seconds(ours, calls[0]), _seconds(theirs, calls[1])) for _ in range(repeats)]


def _seconds(run: Callable[[], object], calls: int) -> float:
    """CPU seconds per call: other programs on the machine don't count."""
    start = time.process_time()
    for _ in range(calls):
        run()
    return (time.process_time() - start) / calls


def _row(
    what: str,
    against: str,
    times: list[tuple[float, float]],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Row:
    """Sum up: the ratio is theirs over ours where it has to be large, ours over theirs where small."""
    ratios = [theirs / ours if at_most is None else ours / theirs for ours, theirs in times]
    median = statistics.median(ratios)
    return {
        "what": what,
        "against": against,
        "seconds": statistics.median(ours for ours, _ in times),
        "rival_seconds": statistics.median(theirs for _, theirs in times),
        "ratio": median,
        "range": [min(ratios), max(ratios)],
        "goal": f"at least {at_least:g}×" if at_least is not None else f"at most {at_most:g}×",
        "met": median >= at_least if at_least is not None else median <= (at_most or 0),
    }


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()
