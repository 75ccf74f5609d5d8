"""Compare an estimated essential graph with the true one: its edges, and the effects that it identifies.

From a graph one reads, for every ordered pair (T, Y), how to identify the effect of T on Y: by adjusting for
a set of variables, as no effect at all, or not by adjustment. An *adjustment identification distance* ([2]_)
counts the pairs for which what the estimate says isn't right in the true graph. The two distances read a
graph differently: the *parent* distance adjusts for the parents of T, and says "no effect" where Y is one of
them (between DAGs it is the structural intervention distance). The *ancestor* distance adjusts for the
ancestors of T, and says "no effect" where Y isn't a descendant of T.

Both graphs are equivalence classes here. An effect that the true class leaves open, because its DAGs disagree
on it, is right where the estimate leaves it open too, and wrong where the estimate names a set. An effect
that the true class identifies is wrong where the estimate leaves it open. So the true essential graph has
distance 0. The distances aren't symmetric.

References
----------
.. [1] Tsamardinos, Brown & Aliferis (2006), The max-min hill-climbing Bayesian network structure learning
   algorithm, Machine Learning 65.
.. [2] Henckel, Würtzen & Weichwald (2024), Adjustment identification distance: a gadjid for causal structure
   learning, UAI.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from discovery.errors import GraphError
from discovery.graphs.essential_graph import EssentialGraph
from discovery.graphs.mixed_graph import MixedGraph
from discovery.wording import quoted_list

__all__ = ["Comparison", "Scores", "WrongEffects", "compare", "compare_marks"]


class Scores(TypedDict):
    """Precision and recall of the edges found, and F1, their harmonic mean; each between 0 and 1."""

    precision: float
    recall: float
    f1: float


class WrongEffects(TypedDict):
    """The number of ordered pairs (T, Y) whose effect is identified wrongly, and its share of all of them."""

    wrong: int
    share: float


class Comparison(TypedDict):
    """The result of `compare`: the structural Hamming distance, scores of edges, and wrong effects."""

    shd: int
    skeleton: Scores
    arrow: Scores
    parent_aid: WrongEffects
    ancestor_aid: WrongEffects


def compare(estimated: EssentialGraph, truth: EssentialGraph) -> Comparison:
    """Score an estimated essential graph against the true one over the same nodes.

    Returns
    -------
    dict
        "shd" is the structural Hamming distance ([1]_): the number of pairs of nodes whose edge is missing,
        extra, or has other marks. A reversed edge counts once.
        "skeleton" holds precision, recall and F1 of the pairs joined by an edge of any kind.
        "arrow" holds the same of the directed edges. One is right if the truth has it in the same direction:
        a directed edge is wrong where the truth has an undirected one, and an undirected edge misses a
        directed one of the truth.
        "parent_aid" and "ancestor_aid" hold the number of ordered pairs of nodes whose effect the estimate
        identifies wrongly, and its share of all pairs; 0 for a single node.
        A precision or recall of no edges is 1 if neither graph has such edges, and 0 otherwise.

    Raises
    ------
    GraphError
        If the two graphs aren't over the same nodes, in whatever order.

    Notes
    -----
    Background knowledge is no part of the equivalence class and isn't compared.

    Examples
    --------
    >>> chain = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")])
    >>> collider = EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])
    >>> scores = compare(chain, collider)
    >>> scores["shd"], scores["skeleton"]["f1"], scores["arrow"]["f1"], scores["parent_aid"]["wrong"]
    (2, 1.0, 0.0, 6)
    """
    _check_same_nodes(estimated.nodes, truth.nodes)
    found_arrows, true_arrows = frozenset(estimated.directed), frozenset(truth.directed)
    found_pairs, true_pairs = _pairs(estimated), _pairs(truth)
    same = len(found_arrows & true_arrows) + len(_lines(estimated) & _lines(truth))
    return {
        "shd": len(found_pairs | true_pairs) - same,
        "skeleton": _scores(found_pairs, true_pairs),
        "arrow": _scores(found_arrows, true_arrows),
        "parent_aid": _wrong_effects("parent_aid", estimated, truth),
        "ancestor_aid": _wrong_effects("ancestor_aid", estimated, truth),
    }


class MarkComparison(TypedDict):
    """The result of `compare_marks`."""

    shd: int
    skeleton: Scores
    marks: Scores


def compare_marks(estimated: MixedGraph, truth: MixedGraph) -> MarkComparison:
    """Score a PAG, or any mixed graph, against the true one over the same nodes.

    Returns
    -------
    dict
        "shd" and "skeleton" as in `compare`. "marks" holds precision, recall and F1 of the tails and
        arrowheads; a circle is none of these.

    Raises
    ------
    GraphError
        If the two graphs aren't over the same nodes, in whatever order.

    Examples
    --------
    >>> found = MixedGraph(("A", "B", "C"), (("A", "B", "∘→"), ("C", "B", "→")))
    >>> scores = compare_marks(found, MixedGraph(("A", "B", "C"), (("A", "B", "→"), ("B", "C", "↔"))))
    >>> scores["shd"], scores["skeleton"]["f1"], scores["marks"]["recall"]
    (2, 1.0, 0.5)
    """
    _check_same_nodes(estimated.nodes, truth.nodes)
    found, true = _ends(estimated), _ends(truth)
    pairs, true_pairs = ({frozenset(end[:2]) for end in ends} for ends in (found, true))
    differing = {frozenset(end[:2]) for end in found ^ true}
    known, true_known = ({end for end in ends if end[2] != "∘"} for ends in (found, true))
    return {
        "shd": len(differing),
        "skeleton": _scores(pairs, true_pairs),
        "marks": _scores(known, true_known),
    }


def _ends(graph: MixedGraph) -> set[tuple[str, str, str]]:
    """Return (node, other node, mark at the node) for both ends of each edge."""
    found = set()
    for one, other, marks in graph.edges:
        first = {"∘": "∘", "↔": ">"}.get(marks[0], "-")
        last = {"→": ">", "↔": ">", "∘": "∘" if len(marks) > 1 else "-"}.get(marks[-1], "-")
        found |= {(one, other, first), (other, one, last)}
    return found


def _check_same_nodes(estimated: Iterable[str], truth: Iterable[str]) -> None:
    for name, nodes, others in (("truth", estimated, truth), ("estimate", truth, estimated)):
        known = frozenset(others)
        strangers = [node for node in nodes if node not in known]
        if strangers:
            shown = quoted_list(map(str, strangers))
            raise GraphError(
                f"Expected two graphs over the same nodes but found {shown} missing from the {name}: rename "
                "them, or remove them from the other graph"
            )


def _lines(graph: EssentialGraph) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(line) for line in graph.undirected)


def _pairs(graph: EssentialGraph) -> frozenset[frozenset[str]]:
    return _lines(graph) | {frozenset(arrow) for arrow in graph.directed}


def _scores(found: Set[object], true: Set[object]) -> Scores:
    if not found and not true:
        return {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    right = len(found & true)
    return {
        "precision": right / len(found) if found else 0.0,
        "recall": right / len(true) if true else 0.0,
        "f1": 2 * right / (len(found) + len(true)),
    }


def _wrong_effects(distance: str, estimated: EssentialGraph, truth: EssentialGraph) -> WrongEffects:
    import gadjid  # late: few that import this room compare graphs

    if len(truth.nodes) < 2:  # gadjid refuses these
        return {"wrong": 0, "share": 0.0}
    index = {node: i for i, node in enumerate(truth.nodes)}
    share, wrong = getattr(gadjid, distance)(
        _matrix(truth, index), _matrix(estimated, index), edge_direction="from row to column"
    )
    return {"wrong": int(wrong), "share": float(share)}


def _matrix(graph: EssentialGraph, index: dict[str, int]) -> NDArray[np.int8]:
    """Return gadjid's matrix, int8 [n, n]: 1 for a directed edge from row to column, 2 for an undirected."""
    matrix = np.zeros((len(index), len(index)), dtype=np.int8)
    for code, pairs in ((1, graph.directed), (2, graph.undirected)):
        for one, other in pairs:
            matrix[index[one], index[other]] = code
    return matrix
