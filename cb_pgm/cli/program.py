"""The program `cb-pgm`: one subcommand a module of `cb_pgm.cli`, loaded only when it is the one called.

Results go to stdout, everything else to stderr. Exit status: 0 done; 1 bad data, a bad path or a domain
error, in one line, or a line for each problem of a table; 2 wrong usage; 130 interrupted, 129 and
143 ended by SIGHUP and SIGTERM.
"""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys
import threading
import warnings
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

from cb_pgm.cli.console import note
from cb_pgm.cli.usage import COMMANDS, Parser, UsageError
from cb_pgm.errors import CausalBanditError
from cb_pgm.provenance import VERSION, recorded_command
from discovery.errors import DiscoveryError, TableError

__all__ = ["main", "run"]


def run() -> NoReturn:
    """Run the program on the process's own arguments, and end the process."""
    status = main()
    if status > _SIGNALLED:  # all is closed and cleared up; the interpreter's own farewell takes a second
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program on `argv` (the process's own arguments by default) and return its exit status.

    Raises
    ------
    SystemExit
        After --help and --version (0) and on wrong usage (2), as argparse does.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    closed = _prepare_output(debug)
    try:
        plain = [text for text in arguments if text != "--debug"]
        options, unknown = _parser(plain).parse_known_args(plain)
        options.parser.refuse_unknown(unknown)
        try:
            with recorded_command(arguments), _ending_on_signals():
                _module(options.command).execute(options)
        except UsageError as error:
            options.parser.error(str(error))
        sys.stdout.flush()
        if closed:
            raise CausalBanditError("Expected an open stdout but found it closed: redirect it to a file")
    except KeyboardInterrupt:
        return _stopped("interrupted", _SIGNALLED + signal.SIGINT, debug)
    except _Ended as ended:
        return _stopped(f"ended by {signal.Signals(ended.number).name}", _SIGNALLED + ended.number, debug)
    except BrokenPipeError:  # whoever read our output has seen enough
        _drop_stdout()
        return 0
    except OSError as error:
        _drop_stdout()
        return _stopped(f"error: {_os_message(error)}", 1, debug)
    except MemoryError as error:
        found = f"too little ({error})" if str(error) else "too little"
        return _stopped(f"error: Expected memory for the input but found {found}: give less of it", 1, debug)
    except (CausalBanditError, DiscoveryError) as error:
        return _stopped(f"error: {_message(error)}", 1, debug)
    return 0


_SIGNALLED = 128  # what shells add to the number of a signal


class _Ended(BaseException):
    """The process is to end, by a signal with this number."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the program as Ctrl-C does, so that it ends its workers too.

    One that is ignored stays so, as under nohup. Only the main thread may set them.
    """
    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: FrameType | None) -> None:
        raise _Ended(number)

    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler == signal.SIG_DFL:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _parser(arguments: Sequence[str]) -> Parser:
    """Build the parser; only subcommands among `arguments` get their flags, so that --help is quick."""
    parser = Parser(
        prog="cb-pgm",
        description="Causal bandits with an unknown graph: find the intervention with the best mean reward.",
        epilog="Flags of a command: cb-pgm run --help. Only --policy module:attribute and the file of a "
        "study run code of yours: play no study that you don't trust. All other files are read as data.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument("--debug", action="store_true", help="print the traceback of an error, too")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for name, summary in COMMANDS.items():
        command = subparsers.add_parser(name, help=summary, description=summary)
        if name in arguments:
            _module(name).add_arguments(command)
    return parser


def _module(command: str) -> Any:
    return import_module(f"cb_pgm.cli.{command}")


class _Version(Action):
    def __call__(
        self, parser: ArgumentParser, namespace: Namespace, values: Any, option_string: str | None = None
    ) -> None:
        sys.stdout.write(f"cb-pgm {VERSION}\n")
        parser.exit()


def _prepare_output(debug: bool) -> bool:
    """Escape what stdout's encoding can't show, and silence the warnings of libraries.

    Python has no streams where the shell closed them: what is written there goes nowhere. Returns whether
    that is so of stdout.
    """
    closed = sys.stdout is None
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - until the end
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if not debug:
        warnings.simplefilter("ignore")
    return closed


def _stopped(line: str, status: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    note(line)
    return status


def _message(error: Exception) -> str:
    """Return the message in one line; of a table with several problems in a line for each."""
    lines = str(error).splitlines() if isinstance(error, TableError) else [str(error)]
    return "\n  ".join(" ".join(line.split()) for line in lines) or type(error).__name__


def _os_message(error: OSError) -> str:
    path = f" {os.fspath(error.filename)!r}" if isinstance(error.filename, str | os.PathLike) else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = path or " the output"
        return f"Expected room on the disk for{where} but found it full ({error.strerror}): free some space"
    return f"Expected a usable file or folder but found{path} {error.strerror or error}: check the path"


def _drop_stdout() -> None:
    """Send what is left in stdout's buffer nowhere, so that the interpreter doesn't fail on it at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
