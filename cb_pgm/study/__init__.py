"""Studies: many policies on many systems, configured in a file, resumable, the same on one core or a cluster.

A study is a grid of cells (`cb_pgm.study.config`). What comes of a cell depends on that cell and the study's
seed alone (`cells`), so adding a policy or a seed changes no other number. Results land in one SQLite file as
they finish (`store`), whoever computes them (`runner`).
"""

from cb_pgm.study.config import Study
from cb_pgm.study.runner import run_study

__all__ = ["Study", "run_study"]
