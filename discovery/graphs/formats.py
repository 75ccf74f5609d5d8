"""Graphs with undirected edges in the forms of other programs: networkx, pgmpy, GraphViz, GraphML, DAGitty.

An edge of an `EssentialGraph` is one of three kinds: "directed"; "undirected"; or "required", an undirected
edge of the class whose direction is known from elsewhere (its background). A `MixedGraph` has further kinds.
Forms without edges that lead both ways have these in both directions, marked by their kind.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import networkx as nx

if TYPE_CHECKING:
    from pgmpy.base import PDAG

__all__ = ["Edge", "Kind", "dagitty_text", "dot_text", "graphml_text", "networkx_graph", "pgmpy_graph"]

Kind = Literal[
    "directed",
    "undirected",
    "required",
    "bidirected",
    "partially_directed",
    "nondirected",
    "partially_undirected",
]
Edge = tuple[str, str, Kind]
"""Tail, head and kind; of an undirected edge either end first."""

_DAGITTY = {
    "directed": "->",
    "required": "->",
    "undirected": "--",
    "bidirected": "<->",
    "partially_directed": "@->",
    "nondirected": "@-@",
    "partially_undirected": "@--",
}
_DOT = {
    "directed": "",
    "required": " [label=required]",
    "undirected": " [dir=none]",
    "bidirected": " [dir=both]",
    "partially_directed": " [dir=both, arrowtail=odot]",
    "nondirected": " [dir=both, arrowtail=odot, arrowhead=odot]",
    "partially_undirected": " [dir=both, arrowtail=odot, arrowhead=none]",
}


def networkx_graph(nodes: Sequence[str], edges: Sequence[Edge]) -> nx.DiGraph[str]:
    """Return the graph with the attribute "kind" on its edges; undirected edges lead both ways."""
    digraph: nx.DiGraph[str] = nx.DiGraph()
    digraph.add_nodes_from(nodes)
    for tail, head, kind in edges:
        digraph.add_edge(tail, head, kind=kind)
        if kind in ("undirected", "bidirected", "nondirected"):
            digraph.add_edge(head, tail, kind=kind)
    return digraph


def pgmpy_graph(nodes: Sequence[str], edges: Sequence[Edge]) -> PDAG:
    """Return pgmpy's partially directed graph; required edges are directed in it."""
    from pgmpy.base import PDAG  # late: it takes a second to import

    pdag = PDAG(
        directed_ebunch=[(tail, head) for tail, head, kind in edges if kind != "undirected"],
        undirected_ebunch=[(one, other) for one, other, kind in edges if kind == "undirected"],
    )
    pdag.add_nodes_from(nodes)
    return pdag


def graphml_text(nodes: Sequence[str], edges: Sequence[Edge]) -> str:
    """Return the graph in GraphML, as `networkx_graph` has it."""
    return "\n".join(nx.generate_graphml(networkx_graph(nodes, edges)))


def dagitty_text(nodes: Sequence[str], edges: Sequence[Edge]) -> str:
    """Return the graph in DAGitty's language.

    Examples
    --------
    >>> print(dagitty_text("ABC", [("A", "B", "required"), ("B", "C", "undirected")]))
    pdag {
    "A"
    "B"
    "C"
    "A" -> "B"
    "B" -- "C"
    }
    """
    lines = [f"{_quoted(tail)} {_DAGITTY[kind]} {_quoted(head)}" for tail, head, kind in edges]
    has_circles = any("@" in _DAGITTY[kind] for _, _, kind in edges)
    return "\n".join(["pag {" if has_circles else "pdag {", *map(_quoted, nodes), *lines, "}"])


def dot_text(nodes: Sequence[str], edges: Sequence[Edge]) -> str:
    """Return the graph in GraphViz's language.

    Examples
    --------
    >>> print(dot_text("ABC", [("A", "B", "required"), ("B", "C", "undirected")]))
    digraph {
      "A";
      "B";
      "C";
      "A" -> "B" [label=required];
      "B" -> "C" [dir=none];
    }
    """
    return "\n".join(
        [
            "digraph {",
            *(f"  {_quoted(node)};" for node in nodes),
            *(f"  {_quoted(tail)} -> {_quoted(head)}{_DOT[kind]};" for tail, head, kind in edges),
            "}",
        ]
    )


def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
