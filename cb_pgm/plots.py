"""The figures that are drawn from this package's values."""

from cb_pgm.plotting.effects import arms_frame, draw_effects, effects_frame
from cb_pgm.plotting.graphs import draw_graphs, drawn_edges_frame, edge_verdicts, place, place_graph
from cb_pgm.plotting.regret import draw_regret, regret_bands, save

__all__ = [
    "arms_frame",
    "draw_effects",
    "draw_graphs",
    "draw_regret",
    "drawn_edges_frame",
    "edge_verdicts",
    "effects_frame",
    "place",
    "place_graph",
    "regret_bands",
    "save",
]
