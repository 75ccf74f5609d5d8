"""The subcommands of `cb-pgm`.

A new one is a module here, named like the command, and a line in `COMMANDS`. The module has two functions:

    add_arguments(parser)   adds its options (argparse). It imports nothing heavy, since --help runs it.
    execute(options)        runs the command. Results go to stdout, all else through `cb_pgm.cli.console`.
                            It raises a `CausalBanditError` or a `DiscoveryError` for what the user can put
                            right, and `UsageError` for options that don't go together.

The modules import the rooms that do the work inside `execute`, so that --help takes a tenth of a second.
"""

import textwrap
from argparse import HelpFormatter

__all__ = ["COMMANDS", "UsageError", "WholeNames"]

#: Each command with its line of help, in the order of --help.
COMMANDS = {
    "run": "read a CSV, estimate its graph, play policies and recommend an intervention",
    "effects": "say what a CSV shows of every intervention, how sure that is and what it hangs on",
    "discover": "estimate the essential graph of a CSV; write it as JSON and as a picture",
    "compare": "compare an estimated graph with the true one",
    "study": "play policies on many systems, on several processes or machines; resumable",
    "report": "write one HTML report of a run, a study or a session",
    "plan": "predict each policy's rounds to identification and regret before a real experiment",
    "session": "conduct a real experiment: start, ask, tell, status, withdraw, export",
    "replay": "evaluate a policy on logged interventions, drawn without replacement",
}


class WholeNames(HelpFormatter):
    """Help whose lines end between words only: a name with a hyphen, such as cn-ucb, can be searched for."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class UsageError(Exception):
    """Options that don't go together: printed with the usage line, exit status 2."""
