"""The program `cb-pgm`.

In: the process's arguments. Out: results on stdout, everything else on stderr, an exit status, and the files
that `--out` names. `program` finds the subcommand and reports errors; `usage` lists the subcommands; there is
one file for each; they share `options` and `console`.
"""

from cb_pgm.cli.program import main

__all__ = ["main"]
