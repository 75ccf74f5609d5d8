"""`Part`: one system, graph or policy of a study."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Part"]


@dataclass(frozen=True)
class Part:
    """One system, graph or policy of a study.

    Attributes
    ----------
    label
        Its name in tables and figures.
    settings
        (key, value) pairs in the order of the file, without the label.
    frame
        The data frame of a system that is fitted to one; the settings have its hash.
    """

    label: str
    settings: tuple[tuple[str, Any], ...]
    frame: pd.DataFrame | None = field(default=None, compare=False, repr=False)

    def __getitem__(self, key: str) -> Any:
        return dict(self.settings)[key]

    def get(self, key: str, default: Any = None) -> Any:
        return dict(self.settings).get(key, default)
