"""`cb-pgm compare`: the errors of an estimated graph, and what they cost effects and searches."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cb_pgm.cli.options import add_result
from cb_pgm.cli.usage import Parser
from cb_pgm.errors import CausalBanditError
from cb_pgm.files import json_text, print_text
from discovery.wording import listed

if TYPE_CHECKING:
    from discovery import MixedGraph
    from discovery.graphs.comparison import Scores

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: Parser) -> None:
    """Add the flags of `compare`."""
    parser.epilog = "example: cb-pgm compare runs/asia/graph.json data/asia.bif"
    parser.add_argument("estimated", type=Path, metavar="EST", help="the estimated graph, JSON or BIF")
    parser.add_argument(
        "truth", type=Path, metavar="TRUTH", help="the true graph over the same variables, JSON or BIF"
    )
    add_result(parser)


def execute(options: Namespace) -> None:
    """Read both graphs and print their differences."""
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.problem.graph_files import read_dag, read_graph, read_pag
    from cb_pgm.search.cost import search_costs
    from discovery import compare

    found, true = read_pag(options.estimated), read_pag(options.truth)
    if found is not None or true is not None:
        _compare_pags(found, true, options)
        return
    truth = read_graph(options.truth)
    estimated = read_graph(options.estimated, truth.graph.nodes)
    scores = compare(estimated.graph, truth.graph)
    dag = read_dag(options.truth)
    costs = search_costs(estimated.graph, truth.graph.consistent_extension() if dag is None else dag)
    if options.json:
        print_text(json_text({**scores, "searches": {name: asdict(cost) for name, cost in costs.items()}}))
        return
    print_text(f"structural Hamming distance {scores['shd']}")
    _print_scores({"adjacencies": scores["skeleton"], "directed edges": scores["arrow"]})
    n = len(truth.graph.nodes)
    for name, wrong in (("parent", scores["parent_aid"]), ("ancestor", scores["ancestor_aid"])):
        print_text(
            f"effects identified wrongly, adjusting for {name}s: {wrong['wrong']:,} of {n * (n - 1):,} "
            f"({wrong['share']:.1%}; {name}-AID)"
        )
    if dag is None:
        print_text(
            "(The true graph is known up to its equivalence class; one DAG of it answers the searches.)"
        )
    for name, cost in costs.items():
        others = [f"a wrong one for {listed(cost.wrong)}"] if cost.wrong else []
        others += [f"none for {listed(cost.none)}"] if cost.none else []
        print_text(
            f"{name} search, exact answers: identifies {len(cost.right)} of {n} possible causes of a reward"
            + "".join(f"; {other}" for other in others)
        )


def _compare_pags(estimated: MixedGraph | None, truth: MixedGraph | None, options: Namespace) -> None:
    from discovery import compare_marks

    if estimated is None or truth is None:
        raise CausalBanditError("Expected two PAGs, or two graphs without circles, but found one of each")
    scores = compare_marks(estimated, truth)
    if options.json:
        print_text(json_text(dict(scores)))
        return
    print_text(f"structural Hamming distance {scores['shd']}")
    _print_scores({"adjacencies": scores["skeleton"], "tails and arrowheads": scores["marks"]})


def _print_scores(named: Mapping[str, Scores]) -> None:
    for name, values in named.items():
        found = f"precision {values['precision']:.3f}, recall {values['recall']:.3f}, F1 {values['f1']:.3f}"
        print_text(f"{name}: {found}")
