"""What policies that work on a graph check alike, and the kinds of evidence that they can go by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.base import Evidence
from cb_pgm.evidence.fixed import FixedEvidence
from cb_pgm.evidence.sequential import SequentialEvidence
from cb_pgm.model.intervention import States
from cb_pgm.wording import listed

__all__ = ["EVIDENCE", "check_graph_settings"]

EVIDENCE: Mapping[str, type[Evidence]] = {"fixed": FixedEvidence, "sequential": SequentialEvidence}


def check_graph_settings(
    states: States, nodes: Iterable[str], marginals: Iterable[str], *, evidence: str, max_parents: int
) -> None:
    """Raise PolicyError if graph, states and marginals hold other variables, or a setting is out of range."""
    for other in (nodes, marginals):
        odd = sorted(set(states) ^ set(other))
        if odd:
            raise PolicyError(
                f"Expected the graph, the states and the marginals to hold the same variables but "
                f"{listed(map(repr, odd), most=5)} isn't in all of them"
            )
    if evidence not in EVIDENCE:
        raise PolicyError(f"Expected evidence to be {listed(EVIDENCE, last='or')} but found {evidence!r}")
    if max_parents < 1:
        raise PolicyError(f"Expected max_parents of at least 1 but found {max_parents}")
