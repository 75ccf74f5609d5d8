"""The subcommands of `cb-pgm`, and how they explain themselves and their misuse.

A new one is a module here, named like the command, and a line in `COMMANDS`. The module has two functions:

    add_arguments(parser)   adds its flags (`cb_pgm.cli.flags`). It imports nothing heavy: --help runs it.
    execute(options)        runs the command. Results go to stdout, all else through `cb_pgm.cli.console`.
                            It raises a `CausalBanditError` or a `DiscoveryError` for what the user can put
                            right, and `UsageError` for flags that don't go together.

The modules import the rooms that do the work inside `execute`, so that --help takes a tenth of a second.
"""

from __future__ import annotations

import re
import sys
import textwrap
from argparse import SUPPRESS, Action, ArgumentParser, HelpFormatter, Namespace
from typing import Any, NoReturn

from discovery.wording import did_you_mean, listed

__all__ = ["COMMANDS", "Parser", "UsageError"]

#: Each command with its line of help, in the order of --help.
COMMANDS = {
    "run": "estimate the graph of a CSV, simulate bandit algorithms and recommend an intervention",
    "effects": "say what a CSV shows of every intervention, how sure that is and what it depends on",
    "discover": "estimate the essential graph of a CSV; write it as JSON and as a picture",
    "compare": "compare an estimated graph with the true one",
    "study": "play policies on many systems, on several processes or machines; resumable",
    "report": "write one HTML report of a run, a study or a session",
    "plan": "predict each policy's rounds to identification and regret before a real experiment",
    "session": "conduct a real experiment: start, ask, tell, status, withdraw, export",
    "replay": "evaluate a policy on logged interventions, drawn without replacement",
    "policies": "explain the policies that run, plan, replay and session know",
}


class UsageError(Exception):
    """Flags that don't go together: one line, exit status 2."""


class Parser(ArgumentParser):
    """A parser whose --help is short, whose --help-all has the rest, and whose errors are one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False, add_help=False, formatter_class=_WholeNames)
        self.set_defaults(parser=self)
        self.whole: dict[Action, str] = {}
        self._optionals.title = "flags"
        self.rare = self.add_argument_group("rarely needed")
        self.about = self.add_argument_group("help")
        self.about.add_argument("-h", "--help", action="help", help="print this help and exit")
        self.about.add_argument("--help-all", action=_HelpAll, nargs=0, help="explain all flags and exit")

    def add_rare(self, *names: str, help: str, **settings: Any) -> None:
        """Add a flag that only --help-all names."""
        self.explain(self.rare.add_argument(*names, help=SUPPRESS, **settings), help)

    def explain(self, action: Action, whole: str) -> None:
        """Let --help-all say this of a flag that --help leaves out, or explains in fewer words."""
        self.whole[action] = whole

    def format_help(self) -> str:
        """Return the help, with one line of usage: what has to be given."""
        self.usage = self._synopsis().replace("%", "%%")
        self._action_groups.sort(key=lambda group: (group is self.about, group is self.rare))
        return super().format_help()

    def refuse_unknown(self, extra: list[str]) -> None:
        """Refuse arguments that no flag takes, with the flag that was probably meant."""
        if not extra:
            return
        flag = next((text.partition("=")[0] for text in extra if text.startswith("-")), extra[0])
        self.error(f"Expected flags of {self.prog} but found {flag}: {did_you_mean(flag, self._flags())}")

    def error(self, message: str) -> NoReturn:
        """Write one line that says what was expected and found, and exit with status 2."""
        if missing := re.match(r"the following arguments are required: (.*)", message):
            message = f"Expected {listed(missing[1].split(', '))} but found none"
        elif wrong := re.match(r"argument (\S+): invalid choice: (.+?) \(choose from (.+)\)", message):
            choices = [name.strip("'") for name in wrong[3].split(", ")]
            found = wrong[2].strip("'")
            what = "a value of " + wrong[1] if wrong[1].startswith("-") else wrong[1]
            message = f"Expected {what} but found {found!r}: {did_you_mean(found, choices)}"
        elif other := re.match(r"argument (\S+): (expected .*)", message):
            message = f"{other[1]}: {other[2]}"
        sys.stderr.write(f"error: {message} ({self.prog} --help)\n")
        sys.exit(2)

    def _flags(self) -> list[str]:
        return [name for action in self._actions for name in action.option_strings if name.startswith("--")]

    def _synopsis(self) -> str:
        parts = [self.prog]
        for action in self._actions:
            metavar = action.metavar or action.dest
            if not action.option_strings:
                parts.append(str(metavar))
            elif action.required:
                parts.append(f"{action.option_strings[0]} {metavar}")
        return " ".join([*parts, "[FLAG …]"])


class _HelpAll(Action):
    """Print the help with every flag and whole texts, and exit."""

    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        assert isinstance(parser, Parser)
        for action, text in parser.whole.items():
            action.help = text
        parser.print_help()
        parser.exit()


class _WholeNames(HelpFormatter):
    """Help whose lines end between words only: a name with a hyphen, such as cn-ucb, can be searched for."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        wrapped = (textwrap.wrap(line, width, break_on_hyphens=False) for line in text.splitlines())
        return "\n".join("\n".join(lines) for lines in wrapped)

    def _format_args(self, action: Action, default_metavar: str) -> str:
        many = super()._format_args(action, default_metavar)
        return re.sub(r"^(\S+) \[\1 \.\.\.\]$", r"\1 …", many)
