"""The errors of this package; all descend from `DiscoveryError`.

A message says what was expected, what was found, where, and what to do, in one line.
"""

__all__ = ["DiscoveryError", "EstimationError", "GraphError", "KnowledgeError", "TableError"]


class DiscoveryError(ValueError):
    """Root of every error that `discovery` raises on purpose."""


class TableError(DiscoveryError):
    """A file or table that can't be read as observations of discrete variables."""


class GraphError(DiscoveryError):
    """A graph that isn't what it must be: the message names the nodes at fault."""


class EstimationError(DiscoveryError):
    """A graph can't be estimated with these settings from this table."""


class KnowledgeError(DiscoveryError):
    """Background knowledge that contradicts itself, the table or the graph."""
