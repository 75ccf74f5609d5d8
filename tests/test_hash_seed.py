"""Nothing depends on Python's hash seed: two processes with different seeds give the same of everything.

Run as a module, this file is the program of these processes: it prints one entry per subject.
"""

import json
import os
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np

from cb_pgm import CNUCB, CausalSystem, ScreeningUCB, Session, search, simulate
from cb_pgm.pipeline import Pipeline
from discovery import EssentialGraph, estimate, read_csv, repair
from discovery.estimation.knowledge import Knowledge


def essential_graph() -> object:
    rng = random.Random(3)
    names = [f"X{i}" for i in range(40)]
    graph = EssentialGraph.from_dag(nx.DiGraph([sorted(rng.sample(names, 2)) for _ in range(60)]))
    known = graph.closure()
    oriented = [known.orient(*line) for line in graph.undirected]
    return graph.to_json(), graph.chain_components(), [*graph.consistent_extension().edges], oriented


def repaired_graph() -> object:
    rng = random.Random(16)
    names = [f"X{i}" for i in range(12)]
    kinds: tuple[list, list, list] = ([], [], [])
    for _ in range(30):
        rng.choice(kinds).append(tuple(rng.sample(names, 2)))
    graph, changes = repair(names, *kinds)
    return graph.to_json(), [*map(str, changes)]


def estimates() -> object:
    table = read_csv("data/asia.csv")
    known = Knowledge(roots=["dysp"], forbidden=[("tub", "either")])
    settings = (
        {"method": "ges"},
        {"method": "boss"},
        {"method": "pc", "uc_rule": 0, "uc_priority": 1},
        {"knowledge": known},
    )
    found = [estimate(table, **some) for some in settings]
    return [(one.graph.to_json(), [*map(str, one.repairs)]) for one in found]


def searches() -> object:
    dag = nx.relabel_nodes(nx.gn_graph(40, seed=1).reverse(), str)
    dag.add_edges_from([("3", "9"), ("5", "12"), ("0", "30")])
    graph = EssentialGraph.from_dag(dag)
    kinds = search.sound(graph, settable=list(dag)[:30]), search.general(graph), search.multiple(graph)
    results = [search.solve(kind, search.exact_answers(dag, ["17", "21"])) for kind in kinds]
    return [
        [(str(step.query), sorted(step.probe.children), step.ruled_out) for step in result.queries]
        for result in results
    ]


def sampled_rows() -> object:
    system = CausalSystem.from_bif("data/child.bif", "CO2Report=<7.5")
    seen = system.sample({"CO2": "High"}, 1000, np.random.default_rng(0))
    means = {str(arm): mean for arm, mean in system.arm_means().items()}
    return zlib.crc32(seen.codes.tobytes()), float(seen.rewards.sum()), means, system.states


def simulations() -> object:
    system = CausalSystem.from_bif("data/asia.bif", reward="xray=yes")
    graph = system.essential_graph()
    reward_gap, effect_gap = system.effective_gaps(graph)
    gaps = {"reward_gap": reward_gap, "effect_gap": effect_gap}
    on_graph = CNUCB(graph, system.states, system.marginals(), **gaps, noise_scale=0.5)
    runs = [
        simulate(one, system, 2000, 3) for one in (on_graph, ScreeningUCB(system.states, noise_scale=0.5))
    ]
    return [(run.regret, run.reward_variables, run.interventions_to_find) for run in runs]


def pipelines() -> object:
    policies = ("cn-ucb", "cn-ucb-fixed", "screening", "ucb", "thompson")
    settings = {"horizon": 500, "seed": 3, "policies": policies}
    contents = [
        Pipeline("data/asia.csv", "xray=yes", truth=truth, **settings).run().to_dict()
        for truth in ("data/asia.bif", None)
    ]
    for content in contents:
        content["graph"]["seconds"] = 0
    return contents


def session() -> object:
    states = {"drug": ["a", "b", "c"], "dose": ["low", "high"], "recovered": ["no", "yes"]}
    told = []
    with TemporaryDirectory() as folder:
        settings = {"states": states, "reward": "recovered=yes", "policy": "screening", "horizon": 60}
        with Session.start(folder, **settings, seed=1) as played:
            while len(told) < 40:
                (pull,) = played.ask(batch=4)
                row = {"drug": "b", "dose": "low", "recovered": "no"} | dict(pull.intervention)
                told += [(pull.number, row)] * pull.left
                played.tell([row] * pull.left)
            return told, str(played.status())


SUBJECTS: tuple[Callable[[], object], ...] = (
    essential_graph,
    repaired_graph,
    estimates,
    searches,
    sampled_rows,
    simulations,
    pipelines,
    session,
)


def test_nothing_depends_on_the_hash_seed() -> None:
    """Two processes at the same time, each going through all subjects; 7 seconds."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.test_hash_seed"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[1],
            stdout=subprocess.PIPE,
        )
        for seed in ("1", "2")
    ]
    outputs = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    one, other = map(json.loads, outputs)
    assert one.keys() == other.keys() == {subject.__name__ for subject in SUBJECTS}
    assert all(one.values())
    assert [name for name in one if one[name] != other[name]] == []


if __name__ == "__main__":
    print(json.dumps({subject.__name__: subject() for subject in SUBJECTS}))
