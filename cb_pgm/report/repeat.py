"""The section on how to get the same numbers again: command, seed, data and versions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from cb_pgm.report.html.page import Block, Code, Facts, Paragraph, Section

__all__ = ["repeat_section"]


def repeat_section(
    command: str | None,
    seed: int,
    versions: Mapping[str, str],
    hashes: Mapping[str, str],
    further: Mapping[str, str | None] | None = None,
) -> Section:
    """Return the section.

    Parameters
    ----------
    command
        The ``cb-pgm`` command as one shell line; None where the results were computed from Python.
    seed
        The one in use, drawn or given.
    versions
        Library → version.
    hashes
        Path → SHA-256 of its content as read.
    further
        Further facts by their term; None: unknown.
    """
    blocks: list[Block] = [*_how(command, seed)]
    facts = [("Seed", str(seed))]
    facts += [(path, f"SHA-256 {digest}") for path, digest in hashes.items()]
    facts += [(term, value or "unknown") for term, value in (further or {}).items()]
    facts += [("Versions", ", ".join(f"{library} {version}" for library, version in versions.items()))]
    return Section("again", "How to run it again", [*blocks, Facts(facts)])


def _how(command: str | None, seed: int) -> list[Block]:
    if command is None:
        return [Paragraph("Started from Python: call it again with the same settings, seed and data.")]
    words = shlex.split(command)
    if words[1:2] == ["run"] and not any(word.partition("=")[0] == "--seed" for word in words):
        words += ["--seed", str(seed)]
    return [Code(shlex.join(words))]
