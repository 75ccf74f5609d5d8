"""What `cb-pgm run --out` left in a folder, read back and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.errors import ReportError
from discovery import EssentialGraph

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RunFolder", "read_run"]

_NEEDED = {
    "result.json": ("data", "graph", "truth", "rehearsal", "horizon", "seed", "policies", "warnings"),
    "settings.json": ("settings", "resolved", "data", "versions", "command"),
    "report.json": ("graphs", "stories", "measured", "recommendation"),
}


@dataclass(frozen=True)
class RunFolder:
    """A run's files.

    Attributes
    ----------
    result, settings, material
        The contents of result.json, settings.json and report.json.
    curves
        regret.csv: columns policy, graph, run, round, regret.
    """

    result: dict[str, Any]
    settings: dict[str, Any]
    material: dict[str, Any]
    curves: pd.DataFrame

    @cached_property
    def graphs(self) -> dict[str, EssentialGraph]:
        """The graph in "used" and, against a truth, the "true" one."""
        return {
            name: EssentialGraph.from_json(json.dumps(graph))
            for name, graph in self.material["graphs"].items()
        }

    @cached_property
    def entries(self) -> pd.DataFrame:
        """One row a policy, graph and run: policy, graph, run, correct, interventions_to_find, regret, …"""
        import pandas as pd

        return pd.DataFrame(self.result["policies"])

    @property
    def asked(self) -> dict[str, Any]:
        """The settings as asked for, the seed in use among them."""
        settings: dict[str, Any] = self.settings["settings"]
        return settings


def read_run(folder: Path) -> RunFolder:
    """Read a run's folder.

    Raises
    ------
    ReportError
        If a file is missing, isn't JSON, or lacks something.
    """
    import pandas as pd

    contents = {name: _read(folder / name, keys) for name, keys in _NEEDED.items()}
    curves = folder / "regret.csv"
    if not curves.exists():
        raise ReportError(f"Expected regret.csv in {folder} but found none: run again with --out")
    return RunFolder(
        contents["result.json"],
        contents["settings.json"],
        contents["report.json"],
        pd.read_csv(curves, keep_default_na=False, dtype={"policy": str, "graph": str}),
    )


def _read(path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    if not path.exists():
        raise ReportError(
            f"Expected {path.name} in {path.parent} but found none: run again with --out, with this version"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ReportError(f"Expected JSON in {path} but found {error}: run again with --out") from None
    missing = [key for key in keys if not isinstance(content, dict) or key not in content]
    if missing:
        raise ReportError(f"Expected {missing[0]!r} in {path} but found none: run again with this version")
    found: dict[str, Any] = content
    return found
