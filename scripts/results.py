"""Makes the tables and figures of RESULTS.md and other pages, each by a small script of its own.

    scripts/results                            all of them: hours; one that was stopped goes on
    scripts/results --only trees ucb_plus      these
    scripts/results --only headline --help     what else one of them takes

Files go to runs/NAME, or to FOLDER/NAME with --out FOLDER (with one NAME: to FOLDER itself). Equal seeds give
equal numbers, whatever the number of processes; times depend on the machine.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from results_page import FIGURES, keep_figure, page_of, write_section
from results_run import Run

#: Name of the table → module with ``make(run)``.
TABLES = {
    "headline": "headline",
    "hard_worlds": "hard_worlds",
    "trees": "trees",
    "large_trees": "trees",
    "tuned_numbers": "tuned_numbers",
    "ucb_plus": "ucb_plus",
    "estimated_vs_oracle": "estimated_vs_oracle",
    "discovery_accuracy": "discovery_accuracy",
    "discovery_widths": "discovery_widths",
    "effects_calibration": "effects_calibration",
    "answers": "answers",
    "paper_slips": "paper_slips",
    "bench": "bench",
    "real_tables": "real_tables",
    "soak": "soak",
    "sessions": "sessions",
    "stops": "stops",
    "layers": "layers",
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, add_help=False
    )
    parser.add_argument("--only", nargs="+", choices=TABLES, metavar="NAME", help=", ".join(TABLES))
    names = parser.parse_known_args(arguments)[0].only or list(TABLES)
    parser.add_argument("--help", action="help", help="show this and exit")
    parser.add_argument("--quick", action="store_true", help="a small part of it, to see that it works")
    parser.add_argument("--seed", type=int, default=0, help="everything random comes from it (0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2); they change no number")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="folder for the files (runs)")
    parser.add_argument("--force", action="store_true", help="start over instead of going on")
    parser.add_argument("--write-results", action="store_true", help="write the tables into the pages, too")
    modules = {name: import_module(TABLES[name]) for name in names}
    for module in dict.fromkeys(modules.values()) if len(names) == 1 else ():
        if hasattr(module, "add_options"):
            module.add_options(parser)
    given = parser.parse_args(arguments)
    if given.quick and given.write_results:
        parser.error("--write-results takes all of a table, without --quick")
    for name, module in modules.items():
        folder = given.out if given.out and len(names) == 1 else (given.out or Path("runs")) / name
        if given.force:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        sections = module.make(Run(name, folder, given.seed, given.quick, given.jobs, given))
        for section, text in sections.items():
            (folder / f"{section}.md").write_text(f"{text}\n", encoding="utf-8")
            sys.stdout.write(f"{text}\n\n")
            if given.write_results:
                write_section(section, text, page_of(section))
        if given.write_results:
            for figure in folder.glob("*.png"):
                if (FIGURES / figure.name).exists():
                    keep_figure(figure, figure.stem)
        sys.stdout.write(f"Written to {folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
