"""`estimate_effects`: everything that a table says of every arm, in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cb_pgm.effects.arms import Arm, Draws, arms_of, draws_of, draws_of_set_rows
from cb_pgm.effects.canonical import Rows, canonical_rows
from cb_pgm.effects.decision import decide, seen_rows
from cb_pgm.effects.draws import MODELS_A_DRAW, Source, draw_models, fit_models
from cb_pgm.effects.measured import Interval, Sample, anytime_interval, bounds, mean_interval, set_bounds
from cb_pgm.effects.noise import RewardScale, reward_scale
from cb_pgm.effects.open_edges import deciding_edges, drawn_edges
from cb_pgm.effects.parents import likely_parents
from cb_pgm.effects.report import EffectsReport
from cb_pgm.effects.sink import sink_warnings
from cb_pgm.effects.units import report_outside
from cb_pgm.effects.values import ArmEffect, ArmRows
from cb_pgm.errors import CausalBanditError
from cb_pgm.model.intervention import States
from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.wording import did_you_mean, listed
from discovery import DiscreteTable, EssentialGraph, Knowledge, estimate
from discovery.estimation.settings import EstimateSettings
from discovery.table.rows import MIN_ROWS

__all__ = ["estimate_effects"]


def estimate_effects(
    table: DiscreteTable,
    *,
    settings: EstimateSettings | None = None,
    graph: EssentialGraph | None = None,
    settable: States | None = None,
    not_settable: Collection[str] = (),
    randomised: Collection[str] = (),
    minimize: bool = False,
    reward_range: tuple[float, float] | None = None,
    noise_scale: float | None = None,
    failure_prob: float = 0.05,
    power: float = 0.8,
    draws: int = 100,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> EffectsReport:
    """Return what a table with rewards says of every arm, how sure that is, and what it hangs on.

    The same rows give the same answer, whatever the order of columns and rows and the number of processes.

    Parameters
    ----------
    table
        Observations with rewards; rows in which a variable was set count as such. With such rows and fewer
        than 20 others the answer is that of the set rows alone: no graphs are drawn, and where no row is left
        alone the best arm is compared with the other arms instead of with do().
    settings
        How graphs are estimated, and the background knowledge, which every graph respects; None: the
        defaults.
    graph
        A graph over the table's variables to use instead of estimates.
    settable, not_settable
        The states that can be set, by variable (None: all); variables that can't be set.
    randomised
        Variables that were set at random in every row, as the treatment of a trial. Their states' rows count
        as set, and no edge leads into them.
    minimize
        Look for the lowest mean reward.
    reward_range
        The lowest and the highest reward possible, for the bounds that assume nothing; None: as in the table.
    noise_scale
        σ of the reward given its parents; None: that of the residuals.
    failure_prob
        δ: intervals of measured means and of gains are at 1 − δ.
    power
        The power of the experiment that is advised.
    draws
        The number of resampled tables; five models are drawn of each.
    seed
        The source of all randomness. It has a default, so that one table has one answer.
    jobs
        The number of processes.
    dask
        Used instead of `jobs`: the address of a Dask scheduler, or "local" for two workers on this machine.
    progress
        Called with 1 after each resampled table.

    Raises
    ------
    CausalBanditError
        If the table has no rewards, a setting doesn't fit it, or Dask is missing or not reachable.
    DiscoveryError
        If the knowledge doesn't fit the table.

    Examples
    --------
    >>> from discovery import read_csv
    >>> table = read_csv("data/kidney_stones.csv", reward="success=yes")
    >>> report = estimate_effects(table, not_settable=["size"], draws=20)
    >>> [(edge.edge, str(edge.best_if_forward)) for edge in report.hangs_on]
    [(('size', 'treatment'), 'do(treatment = A)')]
    >>> report.decision.is_decided
    False
    """
    _check(failure_prob, power, draws, jobs)
    settings = (settings or EstimateSettings()).resolved()
    unit = RewardUnit.of(table)
    rows = canonical_rows(unit.table(table))
    _check_names(rows, randomised, "set at random")
    _check_names(rows, not_settable, "that can't be set")
    knowledge = settings.known
    known = replace(settings, knowledge=_with_roots(knowledge, randomised))
    parents = likely_parents(rows.all_codes, rows.all_rewards, rows.cards)
    names = [rows.variables[column] for column in next(iter(parents))]
    scale = reward_scale(rows, names, noise_scale, reward_range, unit)
    arms = arms_of(rows, _settable(rows, settable, not_settable), randomised)
    if not arms:
        raise CausalBanditError(
            "Expected a variable that can be set but found none: there is no arm to compare"
        )
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(draws,)))
    sign = -1 if minimize else 1
    used = None
    if rows.are_set_only:
        arms, notes = _set_arms(rows, arms)
        drawn = draws_of_set_rows(rows, arms, scale, draws * MODELS_A_DRAW, sign, rng)
    else:
        used = _given_graph(rows, known) if graph is None else _in_order(graph, rows)
        source = Source(rows, known, used, parents)
        models = draw_models(source, draws, seed, jobs, dask, progress)
        drawn = draws_of(rows, arms, models, fit_models(source, seed), sign, rng)
        notes = list(sink_warnings(rows, known)) if graph is None else []
    decision = decide(
        rows,
        arms,
        drawn,
        scale,
        sign=sign,
        failure_prob=failure_prob,
        power=power,
        assumed=graph is not None or bool(knowledge),
        rng=rng,
        unit=unit,
    )
    effects = _effects(rows, arms, drawn, scale, failure_prob, sign)
    nothing = Sample.of(rows.rewards) if len(rows.rewards) else None
    report = EffectsReport(
        reward=table.reward or "the reward",
        minimize=minimize,
        rows=len(rows.codes),
        set_rows=len(rows.targets),
        draws=draws,
        models=len(drawn.directed),
        is_searched=used is None,
        failure_prob=failure_prob,
        do_nothing=None if nothing is None else nothing.mean,
        do_nothing_interval=None
        if nothing is None
        else mean_interval(nothing, failure_prob, binary=scale.binary),
        scale=scale,
        arms=effects,
        edges=drawn_edges(rows.variables, drawn),
        hangs_on=deciding_edges(rows.variables, arms, drawn),
        decision=decision,
        warnings=(
            *sorted(table.warnings),
            *notes,
        ),
    )
    report = report_outside(report, unit)
    return replace(report, warnings=(*report.warnings, *_contradictions(report.arms)))


def _check(failure_prob: float, power: float, draws: int, jobs: int) -> None:
    for name, value in (("failure_prob", failure_prob), ("power", power)):
        if not 0 < value < 1:
            raise CausalBanditError(f"Expected a {name} between 0 and 1 but found {value}")
    for name, number in (("draw", draws), ("job", jobs)):
        if number < 1:
            raise CausalBanditError(f"Expected at least one {name} but found {number}")


def _check_names(rows: Rows, names: Collection[str], what: str) -> None:
    for name in names:
        if name not in rows.states:
            raise CausalBanditError(
                f"Expected variables {what} to be in the table but found {name!r}: "
                f"{did_you_mean(name, rows.states)}"
            )


def _with_roots(known: Knowledge, roots: Collection[str]) -> Knowledge:
    """Return the knowledge that these variables have no cause, beside what is known."""
    return replace(known, roots=tuple(dict.fromkeys([*known.roots, *sorted(roots)])))


def _given_graph(rows: Rows, settings: EstimateSettings) -> EssentialGraph | None:
    """Return the only graph that the knowledge leaves; None if it leaves any pair of variables open."""
    known = settings.known
    required = {frozenset(edge) for edge in known.required}
    if any(
        frozenset(pair) not in required and known.may_be_adjacent(*pair)
        for pair in combinations(rows.variables, 2)
    ):
        return None
    return estimate(rows.observations, **settings.estimate_keywords()).graph


def _in_order(graph: EssentialGraph, rows: Rows) -> EssentialGraph:
    """Return the graph with its nodes in canonical order."""
    if sorted(graph.nodes) != list(rows.variables):
        odd = sorted(set(graph.nodes) ^ set(rows.variables))[0]
        raise CausalBanditError(
            f"Expected a graph over the table's variables but {odd!r} is in only one of the two: give a "
            f"graph of this table"
        )
    return EssentialGraph(rows.variables, graph.directed, graph.undirected, graph.background)


def _settable(
    rows: Rows, settable: States | None, not_settable: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the states that can be set, of the variables that can be set."""
    chosen = rows.states if settable is None else settable
    for variable, states in chosen.items():
        _check_names(rows, [variable], "that can be set")
        for state in states:
            if state not in rows.states[variable]:
                raise CausalBanditError(
                    f"Expected states of {variable!r} that can be set but found {state!r}: "
                    f"{did_you_mean(state, rows.states[variable])}"
                )
    return {name: tuple(states) for name, states in chosen.items() if name not in not_settable}


def _set_arms(rows: Rows, arms: Sequence[Arm]) -> tuple[list[Arm], list[str]]:
    """Return the arms with set rows, and warnings that the others have no answer, and why."""
    found = [arm for arm in arms if len(arm.set_rewards)]
    if not found:
        raise CausalBanditError(
            f"Expected rows in which a settable variable was set, or {MIN_ROWS} in which none was, but found "
            f"neither: let more variables be settable"
        )
    alone = f"only {len(rows.codes)}" if len(rows.codes) else "none"
    notes = [
        f"no graph is estimated: that takes {MIN_ROWS} rows in which nothing was set, and there is {alone}"
    ]
    never = sorted({arm.variable for arm in arms} - {arm.variable for arm in found})
    if never:
        notes.append(f"never set, so that nothing is said of setting them: {listed(never, len(never))}")
    return found, notes


def _effects(
    rows: Rows, arms: Sequence[Arm], drawn: Draws, scale: RewardScale, failure_prob: float, sign: int
) -> tuple[ArmEffect, ...]:
    """Return what is said of each arm: those with enough set rows first, then by their gain over do()."""
    p_best, p_better, gains = drawn.p_best, drawn.p_better, drawn.gains.mean(axis=0)
    found = []
    for column, arm in enumerate(arms):
        seen = seen_rows(rows, arm, scale, failure_prob)
        set_rows, order = None, (1, -round(float(gains[column]), 12), arm.name)
        if len(arm.set_rewards):
            own = Sample.of(arm.set_rewards)
            interval = anytime_interval(own, failure_prob, scale.arm)
            set_rows = ArmRows(own.rows, own.mean, scale.cut(interval))
            order = (0, -sign * own.mean, arm.name) if arm.is_measured else order
        over_graphs = None if drawn.means is None else drawn.means[:, column]
        effect = ArmEffect(
            variable=arm.variable,
            state=arm.state,
            seen=seen,
            set_rows=set_rows,
            bounds=set_bounds(Sample.of(arm.set_rewards), scale.low, scale.high)
            if over_graphs is None
            else bounds(arm.shown, rows.rewards, scale.low, scale.high, binary=scale.binary),
            mean=None if over_graphs is None else float(over_graphs.mean()),
            interval=None if over_graphs is None else _central(over_graphs),
            p_best=float(p_best[column]),
            p_better=None if p_better is None else float(p_better[column]),
        )
        found.append((order, effect))
    return tuple(effect for _, effect in sorted(found, key=lambda pair: pair[0]))


def _central(drawn: NDArray[np.float64]) -> Interval:
    """Return the middle 90 % of draws."""
    low, high = np.quantile(drawn, [0.05, 0.95])
    return float(low), float(high)


def _contradictions(effects: Sequence[ArmEffect]) -> list[str]:
    """Return a line for every arm whose set rows contradict the means over graphs."""
    return [
        f"the rows in which {arm.variable} = {arm.state} was set have a mean from "
        f"{arm.set_rows.interval[0]:.3g} to {arm.set_rows.interval[1]:.3g}, the graphs one from "
        f"{arm.interval[0]:.3g} to {arm.interval[1]:.3g}: a hidden cause or a wrong graph would explain that"
        for arm in effects
        if arm.set_rows is not None
        and arm.interval is not None
        and (arm.set_rows.interval[0] > arm.interval[1] or arm.set_rows.interval[1] < arm.interval[0])
    ]
