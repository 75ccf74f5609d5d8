"""`estimate_effects`: everything that a table says of every arm, in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from cb_pgm.effects.arms import Arm, arms_of
from cb_pgm.effects.decision import (
    Claims,
    GraphDraws,
    by_experiment,
    over_graphs,
    quantiles,
    rows_of,
    set_rows_of,
)
from cb_pgm.effects.doubts import graph_doubts, not_at_random, refuse_computed, suspicious
from cb_pgm.effects.experiment import ENOUGH_ROWS, Experiment, controls_of, experiment_of
from cb_pgm.effects.measured import bounds
from cb_pgm.effects.noise import RewardScale, reward_scale
from cb_pgm.effects.open_edges import deciding_edges, drawn_edges
from cb_pgm.effects.report import EffectsReport
from cb_pgm.effects.units import report_outside
from cb_pgm.effects.values import ArmEffect, Contrast
from cb_pgm.errors import CausalBanditError
from cb_pgm.model.canonical import Rows, canonical_rows
from cb_pgm.model.intervention import States
from cb_pgm.model.reward_unit import RewardUnit, rewards_of
from discovery import DiscreteTable, EssentialGraph, Knowledge, estimate
from discovery.estimation.settings import EstimateSettings
from discovery.table.rows import MIN_ROWS
from discovery.wording import did_you_mean, listed

if TYPE_CHECKING:
    import networkx as nx

    from cb_pgm.effects.draws import DrawnModels

__all__ = ["estimate_effects"]

_WORTH = 0.1  # of the rewards' standard deviation: smaller differences aren't worth an experiment


def estimate_effects(
    table: DiscreteTable,
    *,
    settings: EstimateSettings | None = None,
    graph: EssentialGraph | nx.Graph[str] | None = None,
    settable: States | None = None,
    not_settable: Collection[str] = (),
    randomised: Collection[str] = (),
    control: Collection[str] = (),
    block: Collection[str] = (),
    graphs: bool = False,
    keep: Collection[str] = (),
    minimize: bool = False,
    reward_range: tuple[float, float] | None = None,
    noise_scale: float | None = None,
    failure_prob: float = 0.05,
    power: float = 0.8,
    worth: float | None = None,
    draws: int | None = None,
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
        Rows with rewards. Rows in which a settable variable was set, if there are any, give the answer by
        themselves, an experiment's; otherwise it comes from graphs, and presumes that nothing hidden acts on
        both a variable and the reward.
    settings
        How graphs are estimated, and the background knowledge, which every graph respects; None: the
        defaults.
    graph
        A graph over the table's variables to use instead of estimates; of networkx or pgmpy, too, where the
        directions of a DAG are taken as known and the reward may be a sink.
    settable, not_settable
        The states that can be set, by variable (None: all); variables that can't be set.
    randomised
        Variables that were set at random in every row, as the treatment of a trial. Their states' rows count
        as set, and no edge leads into them.
    control
        States with which the others of their variables are compared, each "state" or "variable=state".
        Without one it is the state named control, placebo, none, no, false or 0, else the most frequent one.
    block
        Variables within whose joint states an experiment was randomised.
    graphs
        Draw graphs beside an experiment too: means over them stand beside those of the rows.
    keep
        Columns to use although they seem to be computed from the reward.
    minimize
        Look for the lowest mean reward.
    reward_range
        The lowest and the highest reward possible; None: as in the table.
    noise_scale
        σ of the reward given its parents; None: that of the residuals.
    failure_prob
        δ: intervals are at 1 − δ.
    power
        The power of the experiment that is advised.
    worth
        The smallest difference of mean rewards worth having; None: a tenth of their standard deviation.
    draws
        The number of resampled tables; five models are drawn of each. None: 100, and fewer of large tables.
        The settings' time limit may end earlier.
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
    from cb_pgm.effects.draws import draws_within  # late: an experiment alone needs none of this

    if not isinstance(table, DiscreteTable):
        raise CausalBanditError(
            f"Expected a table but found {type(table).__name__}: read one by discovery.read_csv, or take a "
            f"data frame by DiscreteTable.from_frame"
        )
    if graph is not None and not isinstance(graph, EssentialGraph):
        from cb_pgm.problem.graph_files import read_graph

        graph = read_graph(graph, table.variables, reward=table.reward_column, as_said=True).graph
    _check(failure_prob, power, worth, 1 if draws is None else draws, jobs)
    settings = (settings or EstimateSettings()).resolved()
    unit = RewardUnit.of(table)
    rows = canonical_rows(unit.table(table))
    _check_names(rows, randomised, "set at random")
    _check_names(rows, not_settable, "that can't be set")
    _check_names(rows, block, "that are blocks")
    reward = table.reward or "the reward"
    refuted, warnings = not_at_random(rows, () if block else randomised, settings.known)
    randomised = [name for name in randomised if name not in refuted]
    arms = arms_of(rows, _settable(rows, settable, {*not_settable, *block}), randomised, block)
    if not arms:
        raise CausalBanditError(
            "Expected a variable that can be set but found none: there is no arm to compare"
        )
    adapted = []
    if draws is None:
        draws = draws_within(len(rows.codes), len(rows.cards))
        if draws < draws_within(0, 0):
            adapted = [
                f"the table is large: {draws} draws instead of {draws_within(0, 0)} (effects --draws, --jobs)"
            ]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(draws,)))
    unset = rows.rewards[: 0 if randomised else None]
    experiment = experiment_of(arms, unset, control, rows.binary, failure_prob)
    if experiment is None and len(rows.codes) < MIN_ROWS:
        raise CausalBanditError(
            f"Expected rows in which a settable variable was set, or {MIN_ROWS} in which none was, but found "
            f"neither: let more variables be settable"
        )
    if experiment is None or graphs or not rows.binary:
        rewards_of(rows.pooled)  # raises unless they differ; arms that all succeed are an experiment's result
    over, parents = None, [] if experiment is None else list(experiment.controls)
    if experiment is None or graphs:
        from cb_pgm.model.reward_parents import likely_parents  # an experiment alone needs none of this

        set_there = {arm.variable for arm in arms if len(arm.set_rewards)}
        refuse_computed(rows, reward, table.computed, {*keep, *set_there})
        warnings += suspicious(rows, reward)
        known = replace(settings, knowledge=_with_roots(settings.known, randomised))
        used = _given_graph(rows, known) if graph is None else _in_order(graph, rows)
        warnings += graph_doubts(rows, known.part(2), None if graph is None else used)
        with threadpool_limits(1):  # threads spin where matrices are small; other processes have one
            sets = likely_parents(rows.all_codes, rows.all_rewards, rows.cards)
            models = _models(rows, known, used, sets, draws, seed, jobs, dask, progress)
        parents = [rows.variables[column] for column in next(iter(sets))]
        over = _over(models, rows, arms)
        adapted = adapted if used is None else []
        adapted += known.about_resamples(draws, models.draws, models.cut)
        draws = models.draws
    if experiment is not None:
        warnings += [*_never_set(arms), *experiment.without_blocks()]
    scale = reward_scale(rows, parents, noise_scale, reward_range, unit)
    claims = Claims(
        -1 if minimize else 1,
        failure_prob,
        power,
        _WORTH * float(rows.all_rewards.std()) if worth is None else unit.difference_inside(worth),
        unit,
    )
    if experiment is not None:
        p_best, p_better = experiment.probabilities(claims.sign, rng)
        controls, contrasts = experiment.controls, experiment.contrasts()
        decision = by_experiment(experiment, p_best, scale, claims)
    elif over is not None:
        p_best, controls = over.p_best(claims.sign), controls_of(arms, control)
        p_better = (over.gains(claims.sign) > 1e-12).mean(axis=0)
        assumed = graph is not None or bool(settings.known)
        contrasts = _contrasts(arms, over, controls, failure_prob, assumed=assumed)
        cause = _only_cause(rows, scale, failure_prob / 2, rng)
        decision = over_graphs(arms, over, contrasts, cause, rows, scale, claims, assumed=assumed)
    nothing = rows_of(unset, scale, failure_prob)
    report = EffectsReport(
        reward=reward,
        minimize=minimize,
        rows=len(unset),
        set_rows=len(rows.all_rewards) - len(unset),
        draws=draws if over else 0,
        models=len(over.nothing) if over else 0,
        is_searched=over is not None and used is None,
        failure_prob=failure_prob,
        do_nothing=None if nothing is None else nothing.mean,
        do_nothing_interval=None if nothing is None else nothing.interval,
        scale=scale,
        controls=controls,
        within_blocks=() if experiment is None else experiment.within,
        arms=_effects(rows, arms, experiment, over, (p_best, p_better), scale, claims),
        contrasts=tuple(contrasts),
        edges=drawn_edges(rows.variables, over) if over else (),
        hangs_on=deciding_edges(rows.variables, arms, over, claims.sign) if over else (),
        decision=decision,
        warnings=(),
    )
    report = report_outside(report, unit)
    return replace(
        report, warnings=(*warnings, *_contradictions(report.arms), *sorted(table.warnings), *adapted)
    )


def _check(failure_prob: float, power: float, worth: float | None, draws: int, jobs: int) -> None:
    for name, value in (("failure_prob", failure_prob), ("power", power)):
        if not 0 < value < 1:
            raise CausalBanditError(f"Expected a {name} between 0 and 1 but found {value}")
    if worth is not None and not worth > 0:
        raise CausalBanditError(f"Expected a difference worth having above 0 but found {worth}")
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


def _models(
    rows: Rows,
    settings: EstimateSettings,
    graph: EssentialGraph | None,
    sets: dict[tuple[int, ...], float],
    draws: int,
    seed: int,
    jobs: int,
    dask: str | None,
    progress: Callable[[int], object] | None,
) -> DrawnModels:
    from cb_pgm.effects.draws import Source, draw_models  # late: an experiment alone needs none of this

    return draw_models(Source(rows, settings, graph, sets), draws, seed, jobs, dask, progress)


def _over(models: DrawnModels, rows: Rows, arms: Sequence[Arm]) -> GraphDraws:
    """Return draws of the arms' means over graphs.

    A model says by how much an arm differs from do(), whose mean the rows show without any model.
    """
    means = np.stack([models.means[arm.number][:, arm.code] for arm in arms], axis=1)
    nothing = models.observed + float(rows.rewards.mean() - models.observed.mean())
    means += (nothing - models.do_nothing)[:, None]
    low, high = rows.all_rewards.min(), rows.all_rewards.max()
    return GraphDraws(np.clip(means, low, high), nothing, models.directed)


def _never_set(arms: Sequence[Arm]) -> list[str]:
    """Return the warning that nothing is said of some variables of a log."""
    done = {arm.variable for arm in arms if len(arm.set_rewards)}
    never = sorted({arm.variable for arm in arms} - done)
    if not never or any(arm.randomised for arm in arms):
        return []
    return [
        f"never set, so that nothing is said of setting them (effects --graphs draws graphs): "
        f"{listed(never, len(never))}"
    ]


def _only_cause(rows: Rows, scale: RewardScale, failure_prob: float, rng: np.random.Generator) -> int | None:
    from cb_pgm.effects.identified import identified_cause

    return identified_cause(rows, scale, failure_prob, rng)


def _contrasts(
    arms: Sequence[Arm],
    drawn: GraphDraws,
    controls: dict[str, str],
    failure_prob: float,
    *,
    assumed: bool,
) -> list[Contrast]:
    """Return the contrast of every arm with its variable's control, over graphs."""
    place = {arm.name: column for column, arm in enumerate(arms)}
    basis = "given graph" if assumed else "graph-averaged"
    found = []
    for column, arm in enumerate(arms):
        against = controls[arm.variable]
        if arm.state != against:
            differences = drawn.means[:, column] - drawn.means[:, place[arm.variable, against]]
            interval = quantiles(differences, failure_prob)
            found.append(Contrast(*arm.name, against, float(differences.mean()), interval, basis))
    return found


def _effects(
    rows: Rows,
    arms: Sequence[Arm],
    experiment: Experiment | None,
    drawn: GraphDraws | None,
    probabilities: tuple[NDArray[np.float64], NDArray[np.float64] | None],
    scale: RewardScale,
    claims: Claims,
) -> tuple[ArmEffect, ...]:
    """Return what is said of each arm: those of the experiment first, the best of each kind first."""
    done = [] if experiment is None else list(experiment.arms)
    p_best, p_better = probabilities
    place = {arm.name: column for column, arm in enumerate(done or arms)}
    most = min(ENOUGH_ROWS, max((len(arm.set_rewards) for arm in done), default=0))
    found = []
    for column, arm in enumerate(arms):
        if drawn is None and arm not in done:
            continue
        set_rows = None
        if experiment is not None and arm in done:
            set_rows = set_rows_of(experiment, arm, scale, claims.failure_prob)
        over = None if drawn is None else drawn.means[:, column]
        mean = 0.0 if over is None else float(over.mean())
        own = set_rows.mean if set_rows is not None else mean
        few = not arm.has_enough(most)
        order = (arm not in done, few, -round(claims.sign * own, 12), arm.name)
        effect = ArmEffect(
            variable=arm.variable,
            state=arm.state,
            seen=rows_of(rows.rewards[arm.shown], scale, claims.failure_prob),
            set_rows=set_rows,
            bounds=set_rows.interval
            if set_rows is not None
            else bounds(
                arm.shown, rows.rewards, scale.low, scale.high, claims.failure_prob, binary=scale.binary
            ),
            mean=None if over is None else mean,
            interval=None if over is None else scale.cut(quantiles(over, claims.failure_prob)),
            p_best=float(p_best[place[arm.name]]) if arm.name in place else 0.0,
            p_better=None if p_better is None or arm.name not in place else float(p_better[place[arm.name]]),
        )
        found.append((order, effect))
    return tuple(effect for _, effect in sorted(found, key=lambda pair: pair[0]))


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
