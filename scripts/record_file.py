"""What a long measurement has found so far, a line of JSON for each result: it can stop and go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["keep", "kept"]


def kept(path: Path | None) -> list[Any]:
    """Return the records in the file, none without one; a last line that is half-written is cut off."""
    if path is None or not path.exists():
        return []
    whole = path.read_text(encoding="utf-8").rpartition("\n")[0]
    path.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def keep(path: Path | None, record: object) -> None:
    """Append a record to the file, if there is to be one."""
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, default=lambda value: value.item()) + "\n")
