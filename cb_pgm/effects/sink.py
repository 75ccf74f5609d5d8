"""Does the table speak against the reward being a sink? Its graph with the reward as a variable tells."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from cb_pgm.effects.canonical import Rows
from cb_pgm.model.fitting import is_binary
from discovery import DiscreteTable, InterventionalRows, estimate
from discovery.estimation.settings import EstimateSettings

__all__ = ["sink_warnings"]

_LEVELS = 4  # intervals of a numeric reward, each with about as many rows


def sink_warnings(rows: Rows, settings: EstimateSettings) -> tuple[str, ...]:
    """Return a line for every variable that the estimated graph has the reward point at.

    The graph is estimated as the others are, from all rows, with the reward as one more variable; a numeric
    reward in four levels.
    """
    name = "reward"
    while name in rows.states:
        name += "_"
    codes, card = _coded(rows)
    if card < 2:
        return ()
    states = {**rows.states, name: tuple(map(str, range(card)))}
    every = np.asfortranarray(np.column_stack([rows.all_codes, codes]).astype(np.int16))
    done = None
    if len(rows.targets):
        done = InterventionalRows(np.asfortranarray(every[len(rows.codes) :]), states, None, rows.targets)
    table = DiscreteTable(np.asfortranarray(every[: len(rows.codes)]), states, interventional=done)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the draws' graphs are estimated in the same way
        graph = estimate(table, **settings.estimate_keywords()).graph
    return tuple(
        f"the graph estimated with the reward as a variable has an edge from it to {child}, but here the "
        f"reward has no effects: leave {child} out (--ignore) if the reward comes before it"
        for child in graph.children(name)
    )


def _coded(rows: Rows) -> tuple[NDArray[np.int64], int]:
    """Return the level of each reward, and the number of levels."""
    rewards = rows.all_rewards
    if is_binary(rewards):
        return rewards.astype(np.int64), 2
    edges = np.unique(np.quantile(rewards, np.linspace(0, 1, _LEVELS + 1)[1:-1]))
    values, codes = np.unique(np.searchsorted(edges, rewards), return_inverse=True)
    return codes, len(values)
