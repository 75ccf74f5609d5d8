"""How far an estimated essential graph is from the true one."""

from __future__ import annotations

from collections.abc import Set
from typing import TypedDict

from discovery.errors import GraphError
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["Comparison", "Scores", "compare"]


class Scores(TypedDict):
    """Shares of what was found that is true, of what is true that was found, and their harmonic mean."""

    precision: float
    recall: float
    f1: float


class Comparison(TypedDict):
    """What `compare` returns."""

    shd: int
    skeleton: Scores
    arrow: Scores


def compare(estimated: EssentialGraph, truth: EssentialGraph) -> Comparison:
    """Score an estimated essential graph against the true one over the same nodes.

    Returns
    -------
    dict
        "shd", the structural Hamming distance ([1]_): the number of pairs of nodes whose edge differs,
        whether missing, extra, or another mark; a turned arrow counts once. "skeleton": precision, recall
        and F1 of the pairs joined by any edge. "arrow": the same of the arrows; one is right if the truth
        has it in the same direction, so an arrow where the truth has a line is wrong, and a line where it
        has an arrow a miss. A share of nothing is 1 where estimate and truth are both without such edges,
        else 0.

    Raises
    ------
    GraphError
        If the nodes aren't the same; their order doesn't matter.

    Notes
    -----
    Background knowledge is no part of the class and isn't compared.

    References
    ----------
    .. [1] Tsamardinos, Brown & Aliferis (2006), The max-min hill-climbing Bayesian network structure learning
       algorithm, Machine Learning 65.

    Examples
    --------
    >>> chain = EssentialGraph("ABC", [], [("A", "B"), ("B", "C")])
    >>> collider = EssentialGraph("ABC", [("A", "B"), ("C", "B")], [])
    >>> scores = compare(chain, collider)
    >>> scores["shd"], scores["skeleton"]["f1"], scores["arrow"]["f1"]
    (2, 1.0, 0.0)
    """
    for name, graph, others in (("truth", estimated, truth), ("estimate", truth, estimated)):
        known = frozenset(others.nodes)
        strangers = [node for node in graph.nodes if node not in known]
        if strangers:
            shown = ", ".join(map(repr, strangers[:5])) + (", …" if len(strangers) > 5 else "")
            raise GraphError(
                f"Expected two graphs over the same nodes but found {shown} missing from "
                f"the {name}: rename or drop"
            )
    found_arrows, true_arrows = frozenset(estimated.directed), frozenset(truth.directed)
    found_pairs, true_pairs = _pairs(estimated), _pairs(truth)
    same = len(found_arrows & true_arrows) + len(_lines(estimated) & _lines(truth))
    return {
        "shd": len(found_pairs | true_pairs) - same,
        "skeleton": _scores(found_pairs, true_pairs),
        "arrow": _scores(found_arrows, true_arrows),
    }


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
