"""Graphs that policies work on: estimated from a table, or read from a file and checked against one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from cb_pgm.model.bif import read_bif_model
from discovery import EssentialGraph, GraphError, MixedGraph, estimate
from discovery.documents import json_content
from discovery.estimation.settings import EstimateSettings
from discovery.graphs.graph_json import parse_graph
from discovery.graphs.objects import parsed_object
from discovery.wording import count, did_you_mean

if TYPE_CHECKING:
    from discovery import DiscreteTable

__all__ = ["UsedGraph", "estimated_graph", "read_dag", "read_graph", "read_pag", "widened"]

#: What ``cb-pgm discover --json`` says of a graph beside the graph.
_REMARKS = ("method", "repairs", "seconds", "data", "warnings", "bootstrap", "check")


@dataclass(frozen=True)
class UsedGraph:
    """The graph that policies work on.

    Attributes
    ----------
    graph
        The essential graph.
    method
        The method of estimation ("ges-boss", for example), or "given" for a graph from a file.
    repairs
        The changes that made an estimate a valid essential graph, one sentence each.
    seconds
        Time of the estimation, in seconds; 0 for a graph from a file.
    warnings
        What may be wrong with the estimate, one sentence each.
    equivalent_sample_size
        What BDeu's prior was worth in rows when the graph was estimated; 1 where it had no part.
    """

    graph: EssentialGraph
    method: str
    repairs: tuple[str, ...] = ()
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    equivalent_sample_size: float = 1.0


def estimated_graph(
    table: DiscreteTable,
    settings: EstimateSettings,
    *,
    progress: Callable[[str], object] | None = None,
    interruptible: bool = False,
) -> UsedGraph:
    """Estimate the graph of a table with `discovery.estimate`, which explains `progress` and `interruptible`.

    Raises
    ------
    DiscoveryError
        If a setting is out of its range, or the graph can't be estimated from the table.
    """
    found = estimate(table, **settings.estimate_keywords(), progress=progress, interruptible=interruptible)
    return UsedGraph(
        found.graph,
        found.method,
        tuple(map(str, found.repairs)),
        found.seconds,
        found.warnings,
        found.equivalent_sample_size,
    )


def read_graph(
    path: str | PathLike[str] | EssentialGraph | nx.Graph[str],
    nodes: Sequence[str] | None = None,
    *,
    reward: str | None = None,
    as_said: bool = False,
) -> UsedGraph:
    """Read an essential graph, or a DAG, which stands for its equivalence class.

    Parameters
    ----------
    path
        JSON as written by `EssentialGraph.to_json` or ``cb-pgm discover --json``, or a network in BIF; or a
        graph itself: an `EssentialGraph`, or one of networkx or pgmpy.
    nodes
        The variables that the graph must have, in the wanted order; None: those of the file, in its order.
    reward
        The reward's column: the graph may have it beside `nodes`, as a sink, and is returned without it.
    as_said
        Take the directions of a DAG in JSON, or of networkx or pgmpy, as known, also those which observations
        can't show.

    Raises
    ------
    GraphError
        If the file holds no graph, one that is neither a DAG nor an essential graph, or one over other
        variables.
    """
    if isinstance(path, EssentialGraph):
        return UsedGraph(widened(path, _checked_nodes(path.nodes, nodes, "the graph given")), "given")
    if isinstance(path, str | PathLike):
        text = _without_remarks(Path(path).read_text(encoding="utf-8-sig", errors="replace"))
        if not _is_json(text):
            found = EssentialGraph.from_dag(_dag_of_bif(path))
            return UsedGraph(widened(found, _checked_nodes(found.nodes, nodes, path)), "given")
        given, where = parse_graph(text), str(path)
    else:
        given, where = parsed_object(path), "the graph given"
    named, directed = given.nodes, given.directed
    if reward in named and nodes is not None and reward not in nodes:
        if any(tail == reward for tail, _ in directed):
            raise GraphError(f"Expected no effects of the reward {reward!r} but found some in {where}")
        named = tuple(name for name in named if name != reward)
        directed = tuple(edge for edge in directed if edge[1] != reward)
    wanted = _checked_nodes(named, nodes, where)
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(wanted)
    dag.add_edges_from(directed)
    plain = not (given.undirected or given.bidirected or given.background or given.circles)
    if plain and nx.is_directed_acyclic_graph(dag):
        found = EssentialGraph.from_dag(dag)
        if as_said:
            shown = {frozenset(edge) for edge in found.undirected}
            said = [edge for edge in dag.edges if frozenset(edge) in shown]
            return UsedGraph(EssentialGraph(wanted, found.directed, found.undirected, said), "given")
        return UsedGraph(found, "given", warnings=_open_directions(found, where))
    try:
        found = EssentialGraph.from_parsed(given._replace(nodes=named, directed=directed))
    except GraphError as error:
        raise GraphError(f"{error} (in {where})") from None
    return UsedGraph(widened(found, wanted), "given")


def read_pag(path: str | PathLike[str], nodes: Sequence[str] | None = None) -> MixedGraph | None:
    """Return the PAG in a JSON file as ``cb-pgm discover --method fci`` writes it; None for another file.

    Raises
    ------
    GraphError
        If it is over other variables than `nodes`, where these are given.
    """
    text = Path(path).read_text(encoding="utf-8-sig", errors="replace")
    if not _is_json(text) or '"nondirected"' not in text:
        return None
    found = MixedGraph.from_json(_without_remarks(text))
    return MixedGraph(_checked_nodes(found.nodes, nodes, path), found.edges)


def read_dag(path: str | PathLike[str]) -> nx.DiGraph[str] | None:
    """Return the DAG of a network in BIF; None for a graph in JSON, which is an equivalence class of DAGs."""
    return (
        None if _is_json(Path(path).read_text(encoding="utf-8-sig", errors="replace")) else _dag_of_bif(path)
    )


def widened(graph: EssentialGraph, nodes: Iterable[str]) -> EssentialGraph:
    """Return the graph over `nodes`, in their order; nodes that the given graph lacks become isolated."""
    return EssentialGraph(nodes, graph.directed, graph.undirected, graph.background)


def _dag_of_bif(path: str | PathLike[str]) -> nx.DiGraph[str]:
    model = read_bif_model(Path(path))
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(model.variables)
    dag.add_edges_from(
        (model.variables[parent], child)
        for child, parents in zip(model.variables, model.parents, strict=True)
        for parent in parents
    )
    return dag


def _checked_nodes(
    found: Sequence[str], nodes: Sequence[str] | None, path: str | PathLike[str]
) -> tuple[str, ...]:
    """Return the nodes in the wanted order, or raise GraphError with the first node at fault."""
    if nodes is None:
        return tuple(found)
    for node in found:
        if node not in nodes:
            raise GraphError(
                f"Expected the same variables but found {node!r} in {path}: {did_you_mean(node, nodes)}"
            )
    for node in nodes:
        if node not in found:
            raise GraphError(
                f"Expected the same variables but found no {node!r} in {path}: add it to its nodes"
            )
    return tuple(nodes)


def _open_directions(graph: EssentialGraph, path: str | PathLike[str]) -> tuple[str, ...]:
    """Return the warning that a DAG has directions which observations can't show; none if it hasn't."""
    if not graph.undirected:
        return ()
    return (
        f"{path} is a DAG and stands for its equivalence class, which leaves "
        f'{count(len(graph.undirected), "direction")} open: list directions that you know as "background" '
        "of undirected edges",
    )


def _is_json(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _without_remarks(text: str) -> str:
    """Return the graph alone where the text is what ``cb-pgm discover --json`` printed."""
    try:
        content = json_content(text)
    except ValueError:
        return text
    if not isinstance(content, dict):
        return text
    return json.dumps({key: value for key, value in content.items() if key not in _REMARKS})
