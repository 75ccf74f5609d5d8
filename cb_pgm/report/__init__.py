"""Reports: what a run, a study or a session left in its folder, as one HTML file for people.

`write_report` makes the file. `material` is what a run leaves for it beside its results; `run_page`,
`study_page` and `session_page` turn a folder into a `Page` of plain blocks; `figures`, `story_figures` and
`svg` make the pictures; `page` holds the blocks and renders them. Everything from data is escaped, and the
file needs nothing from elsewhere: no script, no font, no picture.
"""

from cb_pgm.report.writing import ReportError, write_report

__all__ = ["ReportError", "write_report"]
