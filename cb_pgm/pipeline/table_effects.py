"""What the table itself says of every arm, for the recommendation of a rehearsal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cb_pgm.effects.estimate import estimate_effects

if TYPE_CHECKING:
    from cb_pgm.effects.report import EffectsReport
    from cb_pgm.pipeline.task import Task

__all__ = ["table_effects"]


def table_effects(task: Task, progress: Callable[[int], object] | None = None) -> EffectsReport | None:
    """Return what the table of a rehearsal says of every arm; None where the truth is known.

    The seed is fixed, so that one table has one answer whatever the seed of the run. `progress` is called
    with 1 after each resampled table.

    Raises
    ------
    DiscoveryError, CausalBanditError
        As in `estimate_effects`.
    """
    settings = task.settings
    if task.is_truth:
        return None
    return estimate_effects(
        task.table,
        settings=task.estimation,
        graph=None if settings.graph is None else task.graph.graph,
        not_settable=settings.not_settable,
        randomised=settings.randomised,
        control=settings.control,
        block=settings.block,
        graphs=settings.graphs,
        keep=settings.keep,
        worth=settings.worth,
        minimize=settings.minimize,
        reward_range=settings.reward_range,
        noise_scale=settings.noise_scale,
        failure_prob=settings.failure_prob,
        draws=settings.draws,
        jobs=settings.jobs,
        dask=settings.dask,
        progress=progress,
    )
