"""What results depend on beside their settings: the versions of this package and of its libraries."""

from __future__ import annotations

import platform
from importlib.metadata import version

__all__ = ["VERSION", "versions"]

VERSION = "0.1.0"

_LIBRARIES = (
    "causal-learn",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "pandas",
    "pgmpy",
    "scikit-learn",
    "scipy",
)


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries in use."""
    libraries = {library: version(library) for library in _LIBRARIES}
    return {"python": platform.python_version(), "cb-pgm": VERSION, **libraries}
