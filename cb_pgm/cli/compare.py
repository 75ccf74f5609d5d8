"""`cb-pgm compare`: how an estimated graph differs from the true one, and what that costs the searches."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `compare`."""
    parser.add_argument("estimated", type=Path, metavar="EST", help="a graph as JSON or BIF")
    parser.add_argument(
        "truth", type=Path, metavar="TRUTH", help="the true graph as JSON or BIF, over the same variables"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def execute(options: Namespace) -> None:
    """Read both graphs and print how they differ."""
    from dataclasses import asdict

    from cb_pgm.cli.console import note
    from cb_pgm.files import json_text, print_text
    from cb_pgm.pipeline.inputs import read_dag, read_graph
    from cb_pgm.search.cost import search_costs
    from discovery import compare

    truth = read_graph(options.truth)
    estimated = read_graph(options.estimated, truth.graph.nodes)
    for path, used in ((options.estimated, estimated), (options.truth, truth)):
        for repair in used.repairs:
            note(f"warning: {path} is no essential graph; repaired: {repair}")
    scores = compare(estimated.graph, truth.graph)
    dag = read_dag(options.truth)
    costs = search_costs(estimated.graph, truth.graph.consistent_extension() if dag is None else dag)
    if options.json:
        print_text(json_text({**scores, "searches": {name: asdict(cost) for name, cost in costs.items()}}))
        return
    print_text(f"structural Hamming distance {scores['shd']}")
    named = {"edges, whatever their direction": scores["skeleton"], "arrows": scores["arrow"]}
    for name, values in named.items():
        found = f"precision {values['precision']:.3f}, recall {values['recall']:.3f}, F1 {values['f1']:.3f}"
        print_text(f"{name}: {found}")
    n = len(truth.graph.nodes)
    if dag is None:
        print_text("(the truth is known up to its class: the searches' answers come from one DAG of it)")
    for name, cost in costs.items():
        others = [f"a wrong one for {', '.join(cost.wrong)}"] if cost.wrong else []
        others += [f"nothing for {', '.join(cost.none)}"] if cost.none else []
        print_text(
            f"{name} search, exact answers: names {len(cost.right)} of {n} possible causes of a reward"
            + "".join(f"; {other}" for other in others)
        )
