"""`cb-pgm policies`: what the policies do, by name."""

from __future__ import annotations

import textwrap
from argparse import Namespace

from cb_pgm.cli.options import add_result
from cb_pgm.cli.usage import Parser
from cb_pgm.files import json_text, print_text
from cb_pgm.policies.registry import POLICIES

__all__ = ["add_arguments", "execute"]


def add_arguments(parser: Parser) -> None:
    """Add the flags of `policies`."""
    add_result(parser)


def execute(options: Namespace) -> None:
    """Print a line or two about each policy."""
    if options.json:
        print_text(json_text({name: kind.summary for name, kind in POLICIES.items()}))
        return
    width = max(map(len, POLICIES)) + 2
    for name, kind in POLICIES.items():
        print_text(
            textwrap.fill(kind.summary, 100, initial_indent=name.ljust(width), subsequent_indent=" " * width)
        )
