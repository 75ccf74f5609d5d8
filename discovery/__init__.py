"""Estimate an essential graph and marginals from a table of observations; independent of the bandits.

    table  = read_csv("data/asia.csv")
    result = estimate(table)            # BOSS from GES's graph by default
    result.graph, result.marginals

A public name's module is imported when the name is first used, so that importing the package takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discovery.errors import DiscoveryError, EstimationError, GraphError, KnowledgeError, TableError
    from discovery.estimation.check import GraphCheck, check_graph
    from discovery.estimation.edge_confidence import EdgeConfidence, edge_confidence
    from discovery.estimation.estimation import EstimatedGraph, estimate
    from discovery.estimation.fci import EstimatedPag, estimate_pag
    from discovery.estimation.knowledge import Knowledge, read_knowledge
    from discovery.estimation.marginals import Marginals
    from discovery.graphs.comparison import compare, compare_marks
    from discovery.graphs.essential_graph import EssentialGraph
    from discovery.graphs.mixed_graph import MixedGraph
    from discovery.graphs.repair import Change, repair
    from discovery.table.discrete_table import DiscreteTable, InterventionalRows, read, read_csv
    from discovery.table.settings import TableSettings

__all__ = [
    "Change",
    "DiscoveryError",
    "DiscreteTable",
    "EdgeConfidence",
    "EssentialGraph",
    "EstimatedGraph",
    "EstimatedPag",
    "EstimationError",
    "GraphCheck",
    "GraphError",
    "InterventionalRows",
    "Knowledge",
    "KnowledgeError",
    "Marginals",
    "MixedGraph",
    "TableError",
    "TableSettings",
    "check_graph",
    "compare",
    "compare_marks",
    "edge_confidence",
    "estimate",
    "estimate_pag",
    "read",
    "read_csv",
    "read_knowledge",
    "repair",
]

_HOME = {
    "Change": "graphs.repair",
    "DiscoveryError": "errors",
    "DiscreteTable": "table.discrete_table",
    "EdgeConfidence": "estimation.edge_confidence",
    "EssentialGraph": "graphs.essential_graph",
    "EstimatedGraph": "estimation.estimation",
    "EstimatedPag": "estimation.fci",
    "EstimationError": "errors",
    "GraphCheck": "estimation.check",
    "GraphError": "errors",
    "InterventionalRows": "table.discrete_table",
    "Knowledge": "estimation.knowledge",
    "KnowledgeError": "errors",
    "Marginals": "estimation.marginals",
    "MixedGraph": "graphs.mixed_graph",
    "TableError": "errors",
    "TableSettings": "table.settings",
    "check_graph": "estimation.check",
    "compare": "graphs.comparison",
    "compare_marks": "graphs.comparison",
    "edge_confidence": "estimation.edge_confidence",
    "estimate": "estimation.estimation",
    "estimate_pag": "estimation.fci",
    "read": "table.discrete_table",
    "read_csv": "table.discrete_table",
    "read_knowledge": "estimation.knowledge",
    "repair": "graphs.repair",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
