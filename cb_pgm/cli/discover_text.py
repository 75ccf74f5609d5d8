"""What `cb-pgm discover` says of a graph, of its edges' frequencies and of a graph of one's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from discovery.wording import count, share

if TYPE_CHECKING:
    from discovery import EdgeConfidence, EssentialGraph, GraphCheck, MixedGraph
    from discovery.estimation.check import IndependenceTest
    from discovery.estimation.edge_confidence import EdgeFrequency

__all__ = ["CheckedGraph", "check_content", "check_lines", "confidence_content", "edge_lines", "mark_lines"]

_SURE = 0.9  # of the resampled tables: an edge that is found as often needs no remark
_OFTEN = 0.5  # of the resampled tables: an edge that is found as often is worth a remark
_SHOWN = 20  # refuted independencies
_SCORES = {"bdeu": "BDeu", "bic": "BIC"}


@dataclass(frozen=True)
class CheckedGraph:
    """A graph of one's own, checked against the table and beside the estimated graph.

    Attributes
    ----------
    path
        The file that it is from.
    check
        The tests of the independencies that it implies.
    score_name
        "bdeu" or "bic".
    score, estimated_score
        The scores of its class and of the estimated one, in nats; None where one of the two is a PAG.
    shd
        The structural Hamming distance between the two; None likewise.
    """

    path: str
    check: GraphCheck
    score_name: str
    score: float | None = None
    estimated_score: float | None = None
    shd: int | None = None


def edge_lines(graph: EssentialGraph, confidence: EdgeConfidence | None, known_by: str) -> list[str]:
    """Return a line for each edge, and the other edges that resampled tables often have.

    `known_by` says where the directions of the graph's background are from.
    """
    lines = []
    for tail, head, kind in graph.edges():
        line = (
            f"{tail} {'—' if kind == 'undirected' else '→'} {head}{f' ({known_by})' * (kind == 'required')}"
        )
        if confidence is not None and (remark := _remark(confidence, tail, head, kind != "undirected")):
            line += f"   {remark}"
        lines.append(line)
    n_edges, sure = len(lines), len(lines) - sum("resampled" in line for line in lines)
    if any(kind == "undirected" for _, _, kind in graph.edges()):
        lines.append("(--: the rows don't show the direction)")
    if confidence is None:
        return lines
    lines.append(
        f"{share(sure, n_edges)} edges are found like this in at least {_SURE:.0%} of the "
        f"{count(confidence.resamples, 'resampled table')}"
        if n_edges
        else f"No edges; {count(confidence.resamples, 'resampled table')}"
    )
    lines += [
        f"not in the graph: {edge.one}, {edge.other}   {_shares(confidence, edge.one, edge.other)}"
        for edge in confidence.edges
        if edge.adjacent >= _OFTEN and not graph.adjacent(edge.one, edge.other)
    ]
    return lines


def _remark(confidence: EdgeConfidence, tail: str, head: str, directed: bool) -> str:
    """Return how often an edge is found, where that isn't nearly always."""
    if confidence.share(tail, head, directed=directed) >= _SURE:
        return ""
    return _shares(confidence, tail, head)


def _shares(confidence: EdgeConfidence, tail: str, head: str) -> str:
    shares = {
        f"{tail} → {head}": confidence.share(tail, head, directed=True),
        f"{head} → {tail}": confidence.share(head, tail, directed=True),
        "undirected": confidence.share(tail, head, directed=False),
    }
    parts = [f"{name} {value:.0%}" for name, value in shares.items() if value > 0]
    adjacent = confidence.between(tail, head).adjacent
    return f"adjacent in {adjacent:.0%} of resampled tables" + (f": {', '.join(parts)}" if parts else "")


def confidence_content(confidence: EdgeConfidence, seed: int) -> dict[str, Any]:
    """Return the frequencies of all edges found, as JSON has them."""
    return {
        "resamples": confidence.resamples,
        "seed": seed,
        "edges": [_frequency(edge) for edge in confidence.edges],
    }


def _frequency(edge: EdgeFrequency) -> dict[str, Any]:
    pair = {"one": edge.one, "other": edge.other}
    if set(edge.marks) <= {"→", "←", "—"}:
        shares = {"forwards": edge.forwards, "backwards": edge.backwards, "undirected": edge.undirected}
    else:
        shares = {f"{edge.one} {marks} {edge.other}": share for marks, share in edge.marks.items()}
    return {**pair, **shares, "adjacent": edge.adjacent}


def mark_lines(graph: MixedGraph, confidence: EdgeConfidence | None) -> list[str]:
    """Return a line for each edge of a PAG, and the other edges that resampled tables often have."""
    lines = []
    for one, other, marks in graph.forwards():
        remark = "" if confidence is None else _found_marks(confidence.between(one, other))
        lines.append(f"{one} {marks} {other}{remark}")
    lines.append("(∘: a tail or an arrowhead, the rows don't show which; ↔: a cause that isn't a column)")
    joined = {(one, other) for one, other, _ in graph.forwards()}
    lines += [
        f"not in the graph: {edge.one}, {edge.other}{_found_marks(edge)}"
        for edge in ([] if confidence is None else confidence.edges)
        if edge.adjacent >= _OFTEN and (edge.one, edge.other) not in joined
    ]
    return lines


def _found_marks(edge: EdgeFrequency) -> str:
    most = sorted(edge.marks.items(), key=lambda item: -item[1])
    return "   in resampled tables " + ", ".join(f"{marks} {share:.0%}" for marks, share in most)


def check_lines(checked: CheckedGraph) -> list[str]:
    """Return what the table says of a graph of one's own."""
    check = checked.check
    failed = check.failed
    tested = count(len(check.tests), "tested independence", "tested independencies")
    lines = [""]
    if not check.tests and not check.untested:
        lines.append(f"{checked.path}: all variables are adjacent, so that no table can refute the graph")
    elif not failed:
        lines.append(
            f"{checked.path}: none of {tested} that the graph implies fails (family-wise level "
            f"{check.level:g})"
        )
    else:
        lines.append(
            f"{checked.path}: {len(failed):,} of {tested} that the graph implies "
            f"{'fails' if len(failed) == 1 else 'fail'} (G² tests, family-wise level {check.level:g}), the "
            "worst first:"
        )
        lines += [f"  {_failure(test)}" for test in failed[:_SHOWN]]
        if len(failed) > _SHOWN:
            lines.append(f"  and {len(failed) - _SHOWN:,} more (--json lists all)")
    if check.untested:
        untested = count(check.untested, "implied independence", "implied independencies")
        lines.append(f"{untested} can't be tested: the table has too few rows")
    if checked.score is None or checked.estimated_score is None:
        return lines
    difference = checked.estimated_score - checked.score
    beside = (
        "the same"
        if abs(difference) < 5e-7 * abs(checked.score)
        else f"{abs(difference):,.1f} {'higher' if difference > 0 else 'lower'}"
    )
    lines.append(
        f"score ({_SCORES[checked.score_name]}, nats) {checked.score:,.1f}; the estimated graph's is "
        f"{beside}; structural Hamming distance between the two {checked.shd}"
    )
    return lines


def _failure(test: IndependenceTest) -> str:
    p_value = f"p = {test.p_value:.2g}" if test.p_value > 0 else "p < 1e-300"
    return f"{test}: {p_value} (G² {test.statistic:,.1f}, {test.degrees_of_freedom} d.f.)"


def check_content(checked: CheckedGraph) -> dict[str, Any]:
    """Return what the table says of a graph of one's own, as JSON has it."""
    check = checked.check
    return {
        "graph": checked.path,
        "level": check.level,
        "failed": [_test_content(test) for test in check.failed],
        "held": [_test_content(test) for test in check.tests[len(check.failed) :]],
        "untested": check.untested,
        "score_name": checked.score_name,
        "score": checked.score,
        "estimated_score": checked.estimated_score,
        "shd": checked.shd,
    }


def _test_content(test: IndependenceTest) -> dict[str, Any]:
    return asdict(test) | {"given": list(test.given)}
