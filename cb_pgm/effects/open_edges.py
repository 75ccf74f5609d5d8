"""The edges of the drawn graphs, and those whose direction decides which arm is best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cb_pgm.effects.arms import Arm
from cb_pgm.effects.decision import GraphDraws
from cb_pgm.effects.draws import MODELS_A_DRAW
from cb_pgm.effects.values import DrawnEdge, OpenEdge
from cb_pgm.model.intervention import Intervention

__all__ = ["deciding_edges", "drawn_edges"]

_RARE = 0.02  # of the graphs: edges in fewer aren't worth showing
_FEW = 0.05  # of the draws at least have either direction
_CLEAR = 4.0  # standard errors by which the direction has to shift the two best arms against each other
_MOST = 10

Array = NDArray[np.float64]


def drawn_edges(variables: Sequence[str], draws: GraphDraws) -> tuple[DrawnEdge, ...]:
    """Return every edge with its shares of graphs in either direction, sorted by name."""
    counts = Counter(edge for edges in draws.directed for edge in edges)
    total = len(draws.directed)
    pairs = sorted({tuple(sorted(edge)) for edge in counts})
    return tuple(
        DrawnEdge((variables[one], variables[other]), counts[one, other] / total, counts[other, one] / total)
        for one, other in pairs
        if counts[one, other] + counts[other, one] >= _RARE * total
    )


def deciding_edges(
    variables: Sequence[str], arms: Sequence[Arm], draws: GraphDraws, sign: int
) -> tuple[OpenEdge, ...]:
    """Return the edges that occur in both directions and on whose direction the best arm depends.

    Over the draws with each direction the arm with the best mean is taken, do() being one of the arms. The
    direction decides if the two differ, and if it shifts them against each other by four standard errors; the
    models of one resampled table count as one draw in these.
    """
    present: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for draw, edges in enumerate(draws.directed):
        for edge in edges:
            if edge not in present:
                present[edge] = np.zeros(len(draws.directed), dtype=np.bool_)
            present[edge][draw] = True
    gains = np.column_stack([np.zeros(len(draws.nothing)), draws.gains(sign)])
    choices = [Intervention(), *(arm.intervention for arm in arms)]
    found = []
    for (tail, head), forward in present.items():
        backward = present.get((head, tail))
        if tail > head or backward is None:
            continue
        if min(forward.sum(), backward.sum()) < max(_FEW * len(forward), 2):
            continue
        best, other = int(gains[forward].mean(axis=0).argmax()), int(gains[backward].mean(axis=0).argmax())
        difference = gains[:, best] - gains[:, other]
        shift = _shift(difference[forward], difference[backward])
        if best != other and shift > _CLEAR:
            deciding = OpenEdge(
                (variables[tail], variables[head]),
                int(forward.sum()),
                int(backward.sum()),
                choices[best],
                choices[other],
            )
            found.append((-shift, deciding.edge, deciding))
    return tuple(edge for *_, edge in sorted(found)[:_MOST])


def _shift(one: Array, other: Array) -> float:
    """Return the difference of two means in standard errors."""
    error = math.sqrt(MODELS_A_DRAW * (one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other)))
    shift = float(one.mean() - other.mean())
    return shift / error if error > 0 else math.copysign(math.inf, shift)
