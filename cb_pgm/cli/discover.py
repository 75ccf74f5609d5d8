"""`cb-pgm discover`: estimate the essential graph of a CSV."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.cli.console import note, waiting
from cb_pgm.cli.options import add_output, add_table, settings_of
from cb_pgm.errors import CausalBanditError
from cb_pgm.files import check_folder, json_text, print_text, write_text

if TYPE_CHECKING:
    from cb_pgm.pipeline.inputs import UsedGraph
    from discovery import DiscreteTable, EssentialGraph

__all__ = ["add_arguments", "execute"]

_FORMATS = ("json", "dot", "graphml", "dagitty", "bif")


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of `discover`."""
    add_table(parser, reward_required=False)
    add_output(
        parser,
        out="a file for the graph, ending in .json, .dot, .graphml, .dagitty or .bif, or a folder for "
        "graph.json and its picture",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        help="print the graph in this form instead of text; bif: with tables fitted to one DAG of its class",
    )


def execute(options: Namespace) -> None:
    """Estimate the graph, write it and print it."""
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.pipeline.inputs import estimated_graph
    from discovery import TableSettings, read
    from discovery.estimation.settings import EstimateSettings

    if options.json and options.format is not None:
        raise CausalBanditError("Expected --json or --format but found both: leave one out")
    file = _output_file(options)
    if file is None:
        check_folder(options.out, force=options.force)
    with waiting("Reading the table and estimating its graph"):
        table = read(options.csv, options.reward, TableSettings(**settings_of(options, TableSettings)))
        used = estimated_graph(table, EstimateSettings(**settings_of(options, EstimateSettings)))
    for warning in (*table.warnings, *used.warnings):
        note(f"warning: {warning}")
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, _graph_text(table, used.graph, file.suffix.removeprefix(".")))
    elif options.out is not None:
        _write_folder(used, options.out)
    if options.format is not None:
        print_text(_graph_text(table, used.graph, options.format))
    else:
        print_text(json_text(_content(table, used, options)) if options.json else _text(table, used, options))


def _output_file(options: Namespace) -> Path | None:
    """Return the file that --out names, if it names one rather than a folder."""
    path: Path | None = options.out
    if path is None or path.suffix.removeprefix(".") not in _FORMATS or path.is_dir():
        return None
    if path.exists() and not options.force:
        raise CausalBanditError(
            f"Expected a new file for --out but found {path}: add --force to overwrite it"
        )
    return path


def _graph_text(table: DiscreteTable, graph: EssentialGraph, form: str) -> str:
    """Return the graph in one of `_FORMATS`."""
    from discovery.graphs.formats import dagitty_text, dot_text, graphml_text

    if form == "json":
        return graph.to_json()
    if form == "bif":
        from cb_pgm.model.bif import bif_text
        from cb_pgm.model.fitting import fit_model

        return bif_text(fit_model(table, graph))
    write = {"dot": dot_text, "graphml": graphml_text, "dagitty": dagitty_text}[form]
    return write(graph.nodes, graph.edges())


def _write_folder(used: UsedGraph, folder: Path) -> None:
    from cb_pgm.plotting.graph_plots import draw_graphs, edge_verdicts
    from cb_pgm.plotting.regret import save

    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "graph.json", used.graph.to_json())
    save(draw_graphs(edge_verdicts(used.graph), used.graph), folder / "graph")


def _content(table: DiscreteTable, used: UsedGraph, options: Namespace) -> dict[str, Any]:
    import json

    content: dict[str, Any] = json.loads(used.graph.to_json())
    return content | {
        "method": used.method,
        "repairs": list(used.repairs),
        "seconds": round(used.seconds, 3),
        "data": {"rows": table.n_rows, "variables": list(table.variables), "reward": options.reward},
        "warnings": [*table.warnings, *used.warnings],
    }


def _text(table: DiscreteTable, used: UsedGraph, options: Namespace) -> str:
    graph = used.graph
    lines = [
        f"{options.csv}: {table.n_rows:,} rows, {len(table.variables)} variables; {used.method} "
        f"found {len(graph.directed)} directed and {len(graph.undirected)} undirected edges in "
        f"{used.seconds:.1f} s",
        *(f"repaired: {repair}" for repair in used.repairs),
        *(
            f"{tail} {'—' if kind == 'undirected' else '→'} {head}{' (required)' * (kind == 'required')}"
            for tail, head, kind in graph.edges()
        ),
    ]
    return "\n".join(lines)
