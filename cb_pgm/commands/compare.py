"""`cb-pgm compare`: how an estimated graph differs from the true one."""

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
    from cb_pgm.commands.output import json_text, print_text
    from cb_pgm.console import note
    from cb_pgm.inputs import read_graph
    from discovery import compare

    truth = read_graph(options.truth)
    estimated = read_graph(options.estimated, truth.graph.nodes)
    for path, used in ((options.estimated, estimated), (options.truth, truth)):
        for repair in used.repairs:
            note(f"warning: {path} is no essential graph; repaired: {repair}")
    scores = compare(estimated.graph, truth.graph)
    if options.json:
        print_text(json_text(dict(scores)))
        return
    print_text(f"structural Hamming distance {scores['shd']}")
    named = {"edges, whatever their direction": scores["skeleton"], "arrows": scores["arrow"]}
    for name, values in named.items():
        found = f"precision {values['precision']:.3f}, recall {values['recall']:.3f}, F1 {values['f1']:.3f}"
        print_text(f"{name}: {found}")
