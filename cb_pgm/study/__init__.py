"""Studies: many policies on many systems, configured in a TOML file and resumable.

In: a TOML file, whose keys `config` documents. Out: a folder with `results.jsonl`, `results.csv` and
`curves.csv`. A study is a grid of cells. The result of a cell depends on that cell and the seed of the study
only (`cells`), so adding a policy or a run changes no other number. `runner` plays the cells in one process,
in several or on a cluster, with the same numbers. `results` saves every result as it finishes.
"""

from cb_pgm.study.config import Study
from cb_pgm.study.runner import run_study

__all__ = ["Study", "run_study"]
