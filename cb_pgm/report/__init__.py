"""Reports: what a run, a study or a session left in its folder, as one HTML file for people.

In: the folder that `--out` named. Out: one HTML file. `writing` finds out which kind of folder it is; `run/`,
`study/` and `session/` turn it into a `Page` of plain blocks; `story/` replays a search step by step; `html/`
holds the blocks and renders them. Everything from data is escaped, and the file needs nothing from elsewhere:
no script, no font, no picture.
"""

from cb_pgm.errors import ReportError
from cb_pgm.report.writing import write_report

__all__ = ["ReportError", "write_report"]
