"""The figures that are drawn from this package's values."""

from cb_pgm.plotting.drawn_graph import draw_drawn_graph, drawn_edges_frame
from cb_pgm.plotting.effects import draw_effects, effects_frame
from cb_pgm.plotting.regret import draw_regret, regret_bands, save

__all__ = [
    "draw_drawn_graph",
    "draw_effects",
    "draw_regret",
    "drawn_edges_frame",
    "effects_frame",
    "regret_bands",
    "save",
]
