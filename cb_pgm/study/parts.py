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
    content
        Of a network or a table the hash (SHA-256) of its file; else empty.
    frame
        The data frame of a system that is fitted to one; the settings have its hash.
    """

    label: str
    settings: tuple[tuple[str, Any], ...]
    content: str = ""
    frame: pd.DataFrame | None = field(default=None, compare=False, repr=False)

    @property
    def identity(self) -> tuple[tuple[str, Any], ...]:
        """What the part is, wherever its file is: the settings, with a file's content for its path."""
        return tuple(
            (key, self.content if key in ("network", "table") else value) for key, value in self.settings
        )

    def __getitem__(self, key: str) -> Any:
        return dict(self.settings)[key]

    def get(self, key: str, default: Any = None) -> Any:
        return dict(self.settings).get(key, default)
