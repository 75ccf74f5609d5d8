"""Graphs as objects of networkx and pgmpy."""

from __future__ import annotations

from typing import Any

import networkx as nx

from discovery.errors import GraphError
from discovery.graphs.graph_json import ParsedGraph
from discovery.wording import listed

__all__ = ["parsed_object"]


def parsed_object(graph: Any) -> ParsedGraph:
    """Return what a graph of networkx or pgmpy says, with names as text.

    An edge of a directed graph that stands there in both directions is undirected, and so is every edge of an
    undirected graph.

    Raises
    ------
    GraphError
        If it isn't such a graph, has several edges between two nodes, or latent nodes.

    Examples
    --------
    >>> parsed_object(nx.DiGraph([("A", "B"), ("B", "A"), ("B", "C")]))[1:3]
    ((('B', 'C'),), (('A', 'B'),))
    """
    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise GraphError(
            f"Expected a graph of networkx (DiGraph) or pgmpy (DAG, PDAG), or an EssentialGraph, but found "
            f"{type(graph).__name__}: convert it"
        )
    latent = [str(node) for node in getattr(graph, "latents", ())]
    if latent:
        raise GraphError(
            f"Expected a graph over columns of the table alone but found the latent {listed(latent)}: take "
            f"them out if they cause one variable each; otherwise no graph over the others is true"
        )
    nodes, pairs = tuple(map(str, graph.nodes)), {(str(one), str(other)) for one, other in graph.edges}
    place = {node: number for number, node in enumerate(nodes)}
    both = {pair for pair in pairs if not graph.is_directed() or pair[::-1] in pairs}
    order = sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))
    lines = tuple(
        pair for pair in order if pair in both and (pair[::-1] not in both or place[pair[0]] < place[pair[1]])
    )
    arrows = tuple(pair for pair in order if pair not in both)
    return ParsedGraph(nodes, arrows, lines, (), (), (), (), ())
