"""What speaks against a table's columns, or against what is said of them.

Columns that come from the reward, trials that weren't, knowledge that the rows refute, a reward with effects.

A contradiction has several explanations, and a warning names them: the reward acts on the column; something
hidden acts on both; rows were selected by them; what is said is wrong.
"""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cb_pgm.errors import CausalBanditError
from cb_pgm.model.canonical import Rows
from discovery import DiscreteTable, EssentialGraph, InterventionalRows, Knowledge, check_graph, estimate
from discovery.estimation.settings import EstimateSettings
from discovery.wording import listed

__all__ = ["graph_doubts", "not_at_random", "refuse_computed", "suspicious"]

_LEVELS = 4  # intervals of a numeric reward, each with about as many rows
_BY_CHANCE = 1e-4  # that states don't overlap in the reward
_NEARLY_ALL = 0.8  # of the reward's variance, which one column alone hardly explains
_LEVEL = 0.001  # of the tests

Array = NDArray[np.float64]


def refuse_computed(rows: Rows, reward: str, computed: Collection[str], keep: Collection[str]) -> None:
    """Refuse columns that are computed from the reward, or it from them, unless they are to be kept.

    These are the columns `computed`, which the table's reader found, and those whose states don't overlap in
    the reward.

    Raises
    ------
    CausalBanditError
        If there are any; the message has the flags.
    """
    separate = [name for name in rows.variables if _is_separate(rows, rows.variables.index(name))]
    found = [
        name for name in dict.fromkeys([*computed, *separate]) if name in rows.states and name not in keep
    ]
    if found:
        names = shlex.join(found)
        raise CausalBanditError(
            f"Expected columns that don't come from the reward but found {listed(found)}, whose values tell "
            f"{reward} with no overlap: leave out what is computed from it (--ignore {names}), or use it all "
            f"the same (--keep {names})"
        )


def _is_separate(rows: Rows, column: int) -> bool:
    """Return whether the column's states don't overlap in the reward, and hardly by chance."""
    codes, rewards = rows.all_codes[:, column], rows.all_rewards
    shown = [rewards[codes == code] for code in np.unique(codes)]
    ends = sorted((float(own.min()), float(own.max())) for own in shown)
    pairs = list(pairwise(ends))
    if len(ends) < 2 or any(after[0] < before[1] for before, after in pairs):
        return False
    if any(after[0] == before[1] and not before[0] == before[1] == after[1] for before, after in pairs):
        return False
    orders = min(_orders([len(own) for own in shown]), _orders(np.unique(rewards, return_counts=True)[1]))
    return orders - len(ends) * math.log(len(ends)) > math.log(len(rows.cards) / _BY_CHANCE)


def _orders(counts: Sequence[int] | NDArray[np.intp]) -> float:
    """Return the logarithm of the number of orders of so many things of each kind."""
    return math.lgamma(sum(counts) + 1) - sum(math.lgamma(count + 1) for count in counts)


def suspicious(rows: Rows, reward: str) -> list[str]:
    """Return a warning of each column that alone explains nearly all of the reward."""
    total = float(((rows.all_rewards - rows.all_rewards.mean()) ** 2).sum())
    found = []
    for column, name in enumerate(rows.variables):
        codes = rows.all_codes[:, column]
        counts = np.bincount(codes, minlength=rows.cards[column])
        means = np.bincount(codes, rows.all_rewards, minlength=len(counts)) / np.maximum(counts, 1)
        share = float(counts @ (means - rows.all_rewards.mean()) ** 2) / total
        if share >= _NEARLY_ALL and len(rows.all_rewards) >= 10 * len(counts):
            found.append(
                f"{name} alone explains {100 * share:.0f} % of the variance of {reward}: leave it out "
                f"(--ignore {shlex.quote(name)}) if it is computed from the reward, or an effect of it"
            )
    return found


def not_at_random(
    rows: Rows, randomised: Collection[str], known: Knowledge
) -> tuple[dict[str, str], list[str]]:
    """Return for each variable that can't have been set at random what it depends on, and warnings.

    A variable set at random is independent of all that it doesn't act on. Where knowledge excludes that it
    acts on the other one, it wasn't set at random; otherwise that is one of two explanations.
    """
    refuted: dict[str, str] = {}
    lines = []
    others = [name for name in rows.variables if name not in randomised]
    for variable in sorted(randomised):
        for other in others:
            p = _independence(*(rows.codes[:, rows.variables.index(name)] for name in (variable, other)))
            if p * len(others) * len(randomised) > _LEVEL:
                continue
            depends = f"{variable} depends on {other} (p = {p:.1g})"
            if known.allows(variable, other):
                lines.append(f"{depends}: unless {variable} acts on {other}, it wasn't set at random")
            else:
                refuted[variable] = other
                lines.append(
                    f"{depends}, on which it can't act: {variable} wasn't set at random, and its rows count "
                    f"as observed; or rows were selected, or the knowledge is wrong"
                )
    return refuted, lines


def _independence(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    """Return the p-value of the G² test that two variables are independent."""
    counts = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(counts, (one, other), 1)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    statistic = 2 * float(special.xlogy(counts, counts / expected).sum())
    freedom = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    return float(special.chdtrc(freedom, statistic)) if freedom else 1.0


def graph_doubts(rows: Rows, settings: EstimateSettings, given: EssentialGraph | None) -> list[str]:
    """Return a line for every variable that the reward seems to act on, and for refuted independencies.

    A graph is estimated with the reward as one more variable, a numeric one in four levels, from all rows.
    The independencies that are tested are those that a graph `given` or the knowledge claims.
    """
    lines = []
    if given is not None:
        lines += _refuted(given, rows.observations, None)
    else:
        name = "reward"
        while name in rows.states:
            name += "_"
        table = _with_reward(rows, name)
        if len(table.states[name]) > 1:
            with warnings.catch_warnings():
                quick = settings.for_resamples(table.n_rows, len(table.states))
                warnings.simplefilter("ignore")  # the draws' graphs are estimated in the same way
                graph = estimate(table, **quick.estimate_keywords()).graph
            lines += [
                f"the graph estimated with the reward as a variable has an edge from it to {child}: the "
                f"reward acts on {child}, or something hidden acts on both; leave {child} out (--ignore) if "
                f"the reward comes before it"
                for child in graph.children(name)
                if _is_shown(rows, graph, name, child)
            ]
            lines += _refuted(graph, table, settings.known)
    return lines


def _is_shown(rows: Rows, graph: EssentialGraph, reward: str, child: str) -> bool:
    """Return whether the rows themselves show that the reward acts on `child` rather than `child` on it.

    Then what else is tied to the reward acts on the child as well. Where several causes act on the reward, a
    search may turn an edge for want of rows to fill their joint states. Rows in which the child was set may
    show it, too.
    """
    column = rows.variables.index(child)
    tied = set(graph.nodes) - {reward, child}
    others = [rows.variables.index(name) for name in sorted(tied) if graph.adjacent(name, reward)]
    return bool((rows.targets == column).any()) or any(
        _independence(rows.all_codes[:, column], rows.all_codes[:, other]) * len(others) <= _LEVEL
        for other in others
    )


def _refuted(graph: EssentialGraph, table: DiscreteTable, known: Knowledge | None) -> list[str]:
    """Return a line for each independence that the rows refute, of those that only the knowledge claims."""
    if table.n_rows == 0 or (known is not None and not known):
        return []
    return [
        f"the rows refute that {test} (p = {test.p_value:.1g}), as "
        f"{'the graph given' if known is None else 'the knowledge'} says: something hidden acts on both, "
        f"rows were selected, or it is wrong"
        for test in check_graph(graph, table, _LEVEL).failed
        if known is None or not known.may_be_adjacent(test.one, test.other)
    ]


def _with_reward(rows: Rows, name: str) -> DiscreteTable:
    """Return the rows with the reward as the last variable."""
    rewards = rows.all_rewards
    codes = rewards.astype(np.int64)
    if not rows.binary:
        edges = np.unique(np.quantile(rewards, np.linspace(0, 1, _LEVELS + 1)[1:-1]))
        codes = np.unique(np.searchsorted(edges, rewards), return_inverse=True)[1]
    states = {**rows.states, name: tuple(map(str, range(int(codes.max()) + 1)))}
    every = np.asfortranarray(np.column_stack([rows.all_codes, codes]).astype(np.int16))
    n = len(rows.codes)
    done = None
    if len(rows.targets):
        done = InterventionalRows(np.asfortranarray(every[n:]), states, None, rows.targets)
    return DiscreteTable(np.asfortranarray(every[:n]), states, interventional=done)
