"""The subcommands of `cb-pgm`.

A new one is a module here, named like the command, and a line in `COMMANDS`. The module has

    add_arguments(parser)   its options (argparse); imports nothing heavy, since --help goes through it
    execute(options)        does it: results to stdout, the rest through `cb_pgm.cli.console`; raises a
    `CausalBanditError` or a
                            `DiscoveryError` for what the user can mend, `UsageError` for options that don't
                            go together
"""

__all__ = ["COMMANDS", "UsageError"]

#: name → one line of help; the order is that of --help.
COMMANDS = {
    "run": "from a CSV to the intervention worth doing: estimate the graph, play policies, report"
    " regret and the best arm",
    "discover": "estimate the essential graph of a CSV and write it as JSON and as a picture",
    "compare": "say how an estimated graph differs from the true one",
    "study": "play policies on many systems from a TOML file, resumable, on several processes or machines",
    "report": "write one HTML file for people, of what a run, a study or a session left in its folder",
    "plan": "say beforehand what each policy will pull and lose, and from when on it beats UCB",
    "session": "real experiments: ask, do it, tell, stop, resume",
    "replay": "try a policy on logged interventions, drawn without replacement",
}


class UsageError(Exception):
    """Options that don't go together: told with the usage line, exit status 2."""
