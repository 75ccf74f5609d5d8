"""The errors of this package; all descend from `DiscoveryError`.

A message is one line: what was expected, what was found, where, and what to do. Where a setting helps, the
message gives the command line's flag; the Python argument has the same name (``--merge-rare``, `merge_rare`).
"""

__all__ = ["DiscoveryError", "EstimationError", "GraphError", "KnowledgeError", "TableError"]


class DiscoveryError(ValueError):
    """Root of every error that `discovery` raises on purpose."""


class TableError(DiscoveryError):
    """A file or table that can't be read as observations of discrete variables."""


class GraphError(DiscoveryError):
    """A graph that is invalid; the message names the nodes at fault."""


class EstimationError(DiscoveryError):
    """A graph can't be estimated from this table with these settings."""


class KnowledgeError(DiscoveryError):
    """Background knowledge that contradicts itself, the table or the graph."""
