"""The figures that are drawn from this package's values."""

from cb_pgm.plotting.effects import draw_effects, effects_frame
from cb_pgm.plotting.regret import draw_regret, regret_bands, save

__all__ = ["draw_effects", "draw_regret", "effects_frame", "regret_bands", "save"]
