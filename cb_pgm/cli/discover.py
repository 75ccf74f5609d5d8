"""`cb-pgm discover`: estimate the essential graph of a CSV."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.cli.console import note, progress, share_read, waiting
from cb_pgm.cli.discover_text import (
    CheckedGraph,
    check_content,
    check_lines,
    confidence_content,
    edge_lines,
    mark_lines,
)
from cb_pgm.cli.flags import add_flags, count, seed, settings_of
from cb_pgm.cli.options import TABLE, add_csv, add_output, add_table_rest
from cb_pgm.cli.usage import Parser
from cb_pgm.errors import CausalBanditError
from cb_pgm.files import check_folder, json_text, print_text, whole_folder, write_text
from cb_pgm.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from cb_pgm.problem.graph_files import UsedGraph
    from discovery import DiscreteTable, EdgeConfidence, EssentialGraph, MixedGraph
    from discovery.estimation.settings import EstimateSettings

__all__ = ["add_arguments", "execute"]

_FORMATS = ("json", "dot", "graphml", "dagitty", "bif")
_WIDE = 200  # columns from which on it is said beforehand what a search takes
_SECONDS_AT_100 = 1.3  # of the default search, with 10,000 rows of a graph of 1.2 parents a variable
_GROWTH = 1.65  # 2.4 s at 200 columns, 16 at 500, 57 at 1,000


def add_arguments(parser: Parser) -> None:
    """Add the flags of `discover`."""
    parser.epilog = "example: cb-pgm discover data/asia.csv --reward xray=yes --bootstrap 100 --out runs/asia"
    add_csv(parser)
    add_flags(parser, RunSettings, f"{TABLE} method knowledge", defaults={"reward": None})
    parser.add_argument(
        "--bootstrap",
        type=count,
        metavar="N",
        help="estimate the graphs of N resampled tables, too (100, say), and give how often each has an edge",
    )
    parser.add_argument(
        "--check",
        type=Path,
        metavar="GRAPH",
        help="a graph of your own (JSON or BIF): which independencies that it implies the table refutes, and "
        "its score beside the estimated graph's",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        metavar="FORM",
        help=f"print the graph as {', '.join(_FORMATS)} instead of text; bif: fitted to one DAG of its class",
    )
    add_output(
        parser,
        out=f"a file for the graph, ending in {', '.join('.' + form for form in _FORMATS)}, or a folder for "
        "graph.json and its picture",
    )
    parser.add_rare("--seed", type=seed, default=0, metavar="N", help="seed of --bootstrap (default: 0)")
    parser.add_rare("--jobs", type=count, default=1, metavar="N", help="number of processes (default: 1)")
    add_table_rest(parser)


def execute(options: Namespace) -> None:
    """Estimate the graph, write it and print it."""
    # Late imports, here and below: --help loads no other room.
    from cb_pgm.problem.graph_files import estimated_graph
    from cb_pgm.tables import read_table
    from discovery import TableSettings
    from discovery.estimation.settings import EstimateSettings

    if options.json and options.format is not None:
        raise CausalBanditError("Expected --json or --format but found both: leave one out")
    file = _output_file(options)
    if file is None:
        check_folder(options.out, force=options.force)
    settings = EstimateSettings(**settings_of(options, EstimateSettings)).resolved()
    if settings.method == "fci":
        _execute_fci(options, settings, file)
        return
    with waiting("Reading the table and estimating its graph") as show:
        reading = TableSettings(**settings_of(options, TableSettings))
        table = read_table(options.csv, options.reward, reading, share_read(show))
        own = None if options.check is None else _own_graph(options.check, table)
        _say_what_it_takes(len(table.variables), settings.method)
        searched = settings if options.bootstrap is None else settings.part(2)
        used = estimated_graph(table, searched, progress=show, interruptible=True)
    for warning in (*table.warnings, *used.warnings):
        note(f"warning: {warning}")
    confidence = _confidence(table, settings, options)
    checked = None if own is None else _checked(own, table, used, settings, options.check)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, _graph_text(table, used.graph, file.suffix.removeprefix(".")))
    with whole_folder(options.out if file is None else None) as folder:
        if folder is not None:
            _write_folder(used, confidence, folder)
    if options.format is not None:
        print_text(_graph_text(table, used.graph, options.format))
    else:
        write = _json if options.json else _text
        print_text(write(table, used, confidence, checked, options))


def _say_what_it_takes(columns: int, method: str) -> None:
    """Say before a wide search how long it may take (measured by `scripts/discovery_widths.py`)."""
    if columns < _WIDE or method in ("pc", "chow-liu"):
        return
    seconds = _SECONDS_AT_100 * (columns / 100) ** _GROWTH
    note(
        f"{columns:,} columns: the search takes some {seconds:,.0f} s where the graph is sparse, longer "
        "where it is dense (Ctrl-C ends it with the best graph so far)"
    )


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


def _own_graph(path: Path, table: DiscreteTable) -> EssentialGraph | MixedGraph:
    """Read the graph to check, or the class of the DAG, which implies the same independencies."""
    from cb_pgm.problem.graph_files import read_graph, read_pag

    return read_pag(path, table.variables) or read_graph(path, table.variables).graph


def _confidence(
    table: DiscreteTable, settings: EstimateSettings, options: Namespace
) -> EdgeConfidence | None:
    if options.bootstrap is None:
        return None
    from discovery import edge_confidence

    with progress(options.bootstrap, "Estimating graphs", unit="table") as step:
        found = edge_confidence(
            table,
            settings,
            resamples=options.bootstrap,
            seed=options.seed,
            jobs=options.jobs,
            progress=step,
        )
    for warning in found.warnings:
        note(f"warning: {warning}")
    return found


def _checked(
    own: EssentialGraph | MixedGraph,
    table: DiscreteTable,
    used: UsedGraph,
    settings: EstimateSettings,
    path: Path,
) -> CheckedGraph:
    from discovery import MixedGraph, check_graph, compare
    from discovery.estimation.check import graph_score

    tested = CheckedGraph(str(path), check_graph(own, table), settings.score)
    if isinstance(own, MixedGraph):
        return tested
    weight = used.equivalent_sample_size
    return replace(
        tested,
        score=graph_score(own, table, settings.score, weight),
        estimated_score=graph_score(used.graph, table, settings.score, weight),
        shd=compare(used.graph, own)["shd"],
    )


def _execute_fci(options: Namespace, settings: EstimateSettings, file: Path | None) -> None:
    """Estimate the PAG, write it and print it."""
    from cb_pgm.tables import read_table
    from discovery import TableSettings, check_graph, estimate_pag

    form = options.format or (file.suffix.removeprefix(".") if file is not None else "json")
    if form == "bif":
        raise CausalBanditError("Expected a form of a PAG but found bif, which holds a DAG: take json or dot")
    with waiting("Reading the table and estimating its graph") as show:
        reading = TableSettings(**settings_of(options, TableSettings))
        table = read_table(options.csv, options.reward, reading, share_read(show))
        found = estimate_pag(table, settings)
    for warning in table.warnings:
        note(f"warning: {warning}")
    confidence = _confidence(table, settings, options)
    checked = None
    if options.check is not None:
        own = _own_graph(options.check, table)
        checked = CheckedGraph(str(options.check), check_graph(own, table), settings.score)
    graph = found.graph
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, _pag_text(graph, form))
    with whole_folder(options.out if file is None else None) as folder:
        if folder is not None:
            write_text(folder / "graph.json", graph.to_json())
            _draw_pag(graph, confidence, folder / "graph")
    if options.format is not None:
        print_text(_pag_text(graph, options.format))
    elif options.json:
        content = _remarks(table, graph.to_json(), "fci", found.seconds, confidence, checked, options)
        print_text(json_text(content))
    else:
        print_text(
            "\n".join(
                [
                    f"{options.csv}: {table.n_rows:,} rows, {len(table.variables)} variables; fci found "
                    f"{len(graph.edges)} edges in {found.seconds:.1f} s, of a graph with hidden causes",
                    *mark_lines(graph, confidence),
                    *([] if checked is None else check_lines(checked)),
                ]
            )
        )


def _draw_pag(graph: MixedGraph, confidence: EdgeConfidence | None, path: Path) -> None:
    from cb_pgm.plotting.graphs import draw_graphs, pag_frame, place_pag
    from cb_pgm.plotting.regret import save

    shares = None if confidence is None else confidence.adjacency()
    save(draw_graphs(pag_frame(graph, shares), place_pag(graph)), path)


def _pag_text(graph: MixedGraph, form: str) -> str:
    from discovery.graphs.formats import dagitty_text, dot_text, graphml_text

    if form == "json":
        return graph.to_json()
    write = {"dot": dot_text, "graphml": graphml_text, "dagitty": dagitty_text}[form]
    return write(graph.nodes, graph.kinds())


def _write_folder(used: UsedGraph, confidence: EdgeConfidence | None, folder: Path) -> None:
    from cb_pgm.plotting.graphs import draw_graphs, edge_verdicts, place_graph
    from cb_pgm.plotting.regret import save

    write_text(folder / "graph.json", used.graph.to_json())
    shares = None if confidence is None else confidence.adjacency()
    edges = edge_verdicts(used.graph, confidence=shares)
    save(draw_graphs(edges, place_graph(used.graph)), folder / "graph")


def _json(
    table: DiscreteTable,
    used: UsedGraph,
    confidence: EdgeConfidence | None,
    checked: CheckedGraph | None,
    options: Namespace,
) -> str:
    content = _remarks(table, used.graph.to_json(), used.method, used.seconds, confidence, checked, options)
    content["repairs"] += used.repairs
    content["warnings"] += used.warnings
    return json_text(content)


def _remarks(
    table: DiscreteTable,
    graph: str,
    method: str,
    seconds: float,
    confidence: EdgeConfidence | None,
    checked: CheckedGraph | None,
    options: Namespace,
) -> dict[str, Any]:
    """Return the graph's JSON with what is known of it."""
    import json

    content: dict[str, Any] = json.loads(graph)
    content |= {
        "method": method,
        "repairs": [],
        "seconds": round(seconds, 3),
        "data": {"rows": table.n_rows, "variables": list(table.variables), "reward": options.reward},
        "warnings": list(table.warnings),
    }
    if confidence is not None:
        content["bootstrap"] = confidence_content(confidence, options.seed)
        content["warnings"] += confidence.warnings
    if checked is not None:
        content["check"] = check_content(checked)
    return content


def _text(
    table: DiscreteTable,
    used: UsedGraph,
    confidence: EdgeConfidence | None,
    checked: CheckedGraph | None,
    options: Namespace,
) -> str:
    graph, given = used.graph, table.interventional
    sources = [
        *(["required"] if hasattr(options, "knowledge") else []),
        *(["by interventions"] if given else []),
    ]
    n = len(table.variables)
    rows = f"{table.n_rows:,} rows" + (f" and {len(given):,} in which a variable was set" if given else "")
    lines = [
        f"{options.csv}: {rows}, {n} variable{'s'[: n != 1]}; {used.method} "
        f"found {len(graph.directed)} directed and {len(graph.undirected)} undirected edges in "
        f"{used.seconds:.1f} s",
        *(f"repaired: {repair}" for repair in used.repairs),
        *edge_lines(graph, confidence, " or ".join(sources)),
        *([] if checked is None else check_lines(checked)),
    ]
    return "\n".join(lines)
