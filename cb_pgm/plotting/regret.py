"""Draw regret curves, in the style that all figures share.

`regret_bands` summarises curves in a tidy data frame, `draw_regret` draws that frame.

Colours are those of Okabe & Ito, which can be distinguished under every common colour blindness. They are
never the only difference: line styles go with them. Figures are made without pyplot, so no global state
changes.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter

from cb_pgm.files import replaced
from discovery.wording import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = [
    "OKABE_ITO",
    "STYLE",
    "WIDTH",
    "draw_regret",
    "legal",
    "line_name",
    "line_style",
    "log_scale",
    "new_figure",
    "regret_bands",
    "save",
    "saving",
    "svg_text",
]

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LINE_STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
#: The width of a figure, in inches: on a phone its letters can still be read.
WIDTH = 5.8
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 11,
    "svg.hashsalt": "cb-pgm",
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name with dollar signs is a name
    "axes.spines.top": False,
    "axes.spines.right": False,
}

# What XML can't hold; a name in a table may have it.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def regret_bands(curves: pd.DataFrame, *, low: float = 0.1, high: float = 0.9) -> pd.DataFrame:
    """Summarise regret curves over runs.

    Parameters
    ----------
    curves
        Columns policy, graph, run, round, regret; one row per recorded round of a run.
    low, high
        The quantiles over runs between which the band lies.

    Returns
    -------
    pd.DataFrame
        Columns policy, graph, round, mean, low, high, runs; regret is in units of the reward. One row per
        policy, graph and recorded round, in the order in which policies and graphs first appear.

    Examples
    --------
    >>> curves = pd.DataFrame({"policy": "ucb", "graph": "none", "run": [0, 0, 1, 1],
    ...                        "round": [1, 10, 1, 10], "regret": [0.0, 4.0, 1.0, 6.0]})
    >>> regret_bands(curves, low=0, high=1)[["round", "mean", "low", "high", "runs"]].values.tolist()
    [[1.0, 0.5, 0.0, 1.0, 2.0], [10.0, 5.0, 4.0, 6.0, 2.0]]
    """
    grouped = curves.groupby(["policy", "graph", "round"], sort=False)["regret"]
    bands = grouped.agg(
        mean="mean",
        low=lambda values: values.quantile(low),
        high=lambda values: values.quantile(high),
        runs="count",
    )
    return bands.reset_index()


def draw_regret(bands: pd.DataFrame, *, title: str = "", band_name: str = "band: 10–90 % of runs") -> Figure:
    """Draw mean regret against rounds, one curve per policy and graph, listed below by its last value.

    Parameters
    ----------
    bands
        As `regret_bands` returns it.
    title
        The first line of the figure's title.
    band_name
        The description of the band; it is left out if every curve is a single run.
    """
    with mpl.rc_context(STYLE):
        count = bands[["policy", "graph"]].drop_duplicates().shape[0]
        figure = new_figure(WIDTH, 3.6 + 0.25 * count)
        axes = figure.subplots()
        for index, ((policy, graph), line) in enumerate(bands.groupby(["policy", "graph"], sort=False)):
            style = line_style(index)
            name = line_name(str(policy), str(graph))
            axes.plot(line["round"], line["mean"], linewidth=2, label=name, **style)
            if line["runs"].max() > 1:
                axes.fill_between(
                    line["round"], line["low"], line["high"], color=style["color"], alpha=0.18, linewidth=0
                )
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(EngFormatter(sep=""))
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlim(0, max(2, int(bands["round"].max())))
        axes.margins(y=0.04)
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.8)
        axes.set_axisbelow(True)
        runs = int(bands["runs"].max())
        about = f"mean of {runs} runs; {band_name}" if runs > 1 else "one run"
        axes.set_xlabel("rounds")
        axes.set_ylabel("cumulative pseudo-regret")
        below = "below 0: better than any intervention on one variable" if bands["mean"].min() < 0 else ""
        axes.set_title("\n".join(filter(None, [title, about, below])), loc="left", fontsize=11)
        lines = sorted(axes.get_lines(), key=_last, reverse=True)
        figure.legend(
            lines,
            [f"{line.get_label()}\u2002{round(_last(line)):,}" for line in lines],
            loc="outside lower left",
            frameon=False,
            handlelength=3.2,
        )
    return figure


def line_name(policy: str, graph: str) -> str:
    """Return the label of a policy on a graph in figures and tables.

    Examples
    --------
    >>> line_name("ucb", "none"), line_name("cn-ucb", "oracle"), line_name("cn-ucb", "pc 300 rows")
    ('ucb', 'cn-ucb, oracle graph', 'cn-ucb, pc 300 rows')
    """
    if graph in ("none", policy):
        return policy
    return f"{policy}, {graph} graph" if graph in ("estimated", "oracle") else f"{policy}, {graph}"


@contextmanager
def saving() -> Iterator[None]:
    """Keep the style while a figure is written, and ignore warnings about glyphs that its font lacks."""
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        yield


def log_scale(axes: Axes, which: Literal["x", "y"], *, unit: str = "") -> None:
    """Make an axis logarithmic, with tick labels like 300, 1k and 30k; draw the data before calling it."""
    getattr(axes, f"set_{which}scale")("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_data_interval()
    if high < 30 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(EngFormatter(unit, sep="\N{THIN SPACE}" if unit else ""))
    axis.set_minor_formatter(NullFormatter())  # the usual one writes formulas


def line_style(index: int) -> dict[str, Any]:
    """Return colour and dashes of the curve with that number; 49 differ, the first 7 in both."""
    return {"color": OKABE_ITO[index % 7], "linestyle": _LINE_STYLES[(index + index // 7) % 7]}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of the given size in inches, drawn by Agg, with a constrained layout."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write ``stem.png`` and ``stem.svg`` and return both paths; equal figures give equal bytes."""
    png, svg = stem.with_suffix(".png"), stem.with_suffix(".svg")
    with saving():
        with replaced(png) as partial:
            figure.savefig(partial, format="png", dpi=150, metadata={"Software": None})
        with replaced(svg) as partial:
            partial.write_text(svg_text(figure), encoding="utf-8")
    return png, svg


def svg_text(figure: Figure) -> str:
    """Return the figure as SVG; characters of a name that XML can't hold are replaced."""
    written = io.StringIO()
    with saving():
        figure.savefig(written, format="svg", metadata={"Date": None})
    return legal(written.getvalue())


def legal(text: str) -> str:
    """Return the text with escapes for controls, and a replacement character for each that XML can't hold."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", visible(text))


def _last(line: Line2D) -> float:
    return float(np.asarray(line.get_ydata())[-1])
