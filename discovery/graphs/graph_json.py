"""Read and write graphs as JSON text, whether or not they are essential graphs.

    {"nodes": ["A", "B", "C"],
     "directed": [["A", "B"]], "undirected": [["B", "C"]], "bidirected": [], "background": []}

"nodes" is required, and the kinds of edges are optional; those of a `MixedGraph` may have circles, too
("partially_directed", "nondirected" and "partially_undirected"). `EssentialGraph.from_json` refuses a graph
that isn't an essential graph; `discovery.repair` takes any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from discovery.documents import json_content
from discovery.errors import GraphError
from discovery.wording import did_you_mean, quoted, quoted_list

__all__ = ["ParsedGraph", "format_graph", "parse_graph"]

_CIRCLES = ("partially_directed", "nondirected", "partially_undirected")
_EDGES = ("directed", "undirected", "bidirected", "background", *_CIRCLES)


class ParsedGraph(NamedTuple):
    """A graph as its JSON text gives it; only names and pairs have been checked."""

    nodes: tuple[str, ...]
    directed: tuple[tuple[str, str], ...]
    undirected: tuple[tuple[str, str], ...]
    bidirected: tuple[tuple[str, str], ...]
    background: tuple[tuple[str, str], ...]
    partially_directed: tuple[tuple[str, str], ...]
    nondirected: tuple[tuple[str, str], ...]
    partially_undirected: tuple[tuple[str, str], ...]

    @property
    def circles(self) -> tuple[tuple[str, str], ...]:
        """The edges that have a circle at an end."""
        return self.partially_directed + self.nondirected + self.partially_undirected


def parse_graph(text: str) -> ParsedGraph:
    """Read a graph from JSON text.

    Raises
    ------
    GraphError
        If the text isn't a JSON object with a list of names as "nodes" and lists of pairs of these names.

    Examples
    --------
    >>> parse_graph('{"nodes": ["A", "B"], "directed": [["A", "B"]]}').directed
    (('A', 'B'),)
    """
    try:
        content = json_content(text)
    except ValueError as error:
        raise GraphError(f"Expected a graph as JSON but found text that isn't JSON: {error}") from None
    if not isinstance(content, dict) or "nodes" not in content:
        shown = f"the keys {quoted_list(content)}" if isinstance(content, dict) else quoted(str(content))
        raise GraphError(
            f'Expected a JSON object with "nodes" but found {shown}: add "nodes", a list of names'
        )
    unknown = [key for key in content if key not in ("nodes", *_EDGES)]
    if unknown:
        raise GraphError(
            f'Expected the keys "nodes", {", ".join(map(json.dumps, _EDGES))} but found {unknown[0]!r}: '
            f"{did_you_mean(unknown[0], _EDGES)}"
        )
    nodes = content["nodes"]
    if not isinstance(nodes, list):
        raise GraphError(f'Expected "nodes" to be a list of names but found {nodes!r}: write ["A", "B"]')
    for node in nodes:
        if not isinstance(node, str):
            raise GraphError(
                f'Expected names as text in "nodes" but found {node!r}: put it in quotation marks'
            )
    return ParsedGraph(tuple(nodes), *(_pairs(content.get(key, []), key, frozenset(nodes)) for key in _EDGES))


def format_graph(nodes: Sequence[str], edges: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """Return a graph as JSON text that `parse_graph` reads; `edges` has the pairs of each kind of edge.

    Raises
    ------
    GraphError
        If the name of a node isn't text.
    """
    for node in nodes:
        if not isinstance(node, str):
            raise GraphError(
                f"Expected names of nodes as text but found {node!r}: rename the node before writing JSON"
            )
    content = {kind: [list(pair) for pair in pairs] for kind, pairs in edges.items()}
    return json.dumps({"nodes": list(nodes), **content}, ensure_ascii=False)


def _pairs(edges: object, key: str, nodes: frozenset[str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(edges, list):
        raise GraphError(
            f'Expected "{key}" to be a list of pairs of names but found {edges!r}: write [["A", "B"]]'
        )
    pairs = []
    for edge in edges:
        if not isinstance(edge, list) or len(edge) != 2 or not all(isinstance(node, str) for node in edge):
            raise GraphError(f'Expected pairs of names like ["A", "B"] in "{key}" but found {edge!r}')
        for node in edge:
            if node not in nodes:
                raise GraphError(
                    f'Expected edges between the listed nodes but found {node!r} in {edge!r} of "{key}": '
                    'add it to "nodes"'
                )
        pairs.append((edge[0], edge[1]))
    return tuple(pairs)
