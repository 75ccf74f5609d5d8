"""Sampling and exact means beside their rivals, in the same run: `rows()` gives one dict per comparison.

Run by `bench`.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from comparisons import Row, limit_row, ratio_row, seconds, times

from cb_pgm import CausalSystem, instances

DATA = Path(__file__).resolve().parent.parent / "data"
NETWORKS = {"asia": "xray=yes", "sachs": "Akt=LOW", "alarm": "CVP=NORMAL"}
REPEATS = 5
SET = {"sachs": {"Mek": "LOW"}, "alarm": {"CATECHOL": "HIGH"}}


def rows(seed: int, repeats: int) -> Iterator[Row]:
    """Yield every comparison: what, both sides' seconds, the ratio and its range, the goal, if it's met."""
    import pgmpy

    pgmpy.config.set_show_progress(False)
    for name, reward in NETWORKS.items():
        system = CausalSystem.from_bif(DATA / f"{name}.bif", reward)
        yield _beside_pgmpy(name, system, {}, 1, 300, repeats, seed)
        yield _beside_pgmpy(name, system, {}, 100_000, 50, repeats, seed)
        if name in SET:
            yield _beside_pgmpy(name, system, SET[name], 1, 200, repeats, seed)
            yield _beside_pgmpy(name, system, SET[name], 10_000, 200, min(repeats, 3), seed)
        yield _beside_uniforms(name, system, repeats, seed)
    yield _arm_means_of_alarm(repeats)
    yield _arm_means_of_a_tree(repeats)
    yield _memory()


def _beside_pgmpy(
    name: str, system: CausalSystem, do: dict[str, str], size: int, goal: float, repeats: int, seed: int
) -> Row:
    network = system.network()
    rng = np.random.default_rng(seed)
    pairs = times(
        lambda: system.sample(do, size, rng),
        lambda: network.simulate(size, do=do or None, seed=seed, show_progress=False),
        repeats,
    )
    setting = "".join(f", do({variable} = {state})" for variable, state in do.items())
    return ratio_row(f"sample {size:,} of {name}{setting}", "pgmpy simulate", pairs, at_least=goal)


def _beside_uniforms(name: str, system: CausalSystem, repeats: int, seed: int) -> Row:
    rng = np.random.default_rng(seed)
    uniforms = np.empty((100_000, len(system.states)))
    pairs = times(lambda: system.sample({}, 100_000, rng), lambda: rng.random(out=uniforms), repeats)
    return ratio_row(f"sample 100,000 of {name}", "rng.random of as many float64", pairs, at_most=3)


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
    return ratio_row(
        f"all {arms} arm means of alarm",
        "pgmpy VariableElimination",
        times(ours, theirs, repeats),
        at_least=20,
    )


def _arm_means_of_a_tree(repeats: int) -> Row:
    system = instances.tree(1000, shape="chain", reward_depth=999, seed=0)

    def ours() -> None:
        CausalSystem.from_model(system.model, system.reward).arm_means()

    found = [seconds(ours) for _ in range(repeats)]
    return limit_row("all 3,000 arm means of a chain of 1,000 variables", found, at_most=1)


def _memory() -> Row:
    system = instances.tree(100, seed=0)
    rng = np.random.default_rng(0)
    system.sample({}, 1, rng)
    tracemalloc.start()
    seen = system.sample({}, 100_000, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    copies = [peak / seen.codes.nbytes]
    return limit_row("memory while sampling 100,000 × 100", copies, at_most=2, unit="copies of the rows")
