"""Reports: the folder of a run, a study or a session as one HTML file for people.

In: a run's or a study's --out folder, or a session's folder. Out: one HTML file that needs no other file, no
script and no font; all text from data is escaped. `writing` finds out which kind of folder it is; `run_page`,
`study_page` and `session_page` turn it into a `Page` of plain blocks and share the pictures of `shared`;
`page` renders the blocks.
"""

from cb_pgm.errors import ReportError
from cb_pgm.report.writing import write_report

__all__ = ["ReportError", "write_report"]
