"""What `--out` leaves of a run: the outcome, how it came about, curves and pictures."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.files import json_text, write_text
from cb_pgm.model.bif import write_bif
from cb_pgm.pipeline.inputs import turned_over
from cb_pgm.plotting.graph_plots import draw_graphs, edge_verdicts
from cb_pgm.plotting.regret import draw_regret, regret_bands, save
from cb_pgm.provenance import versions
from cb_pgm.report.run.material import run_material

if TYPE_CHECKING:
    from cb_pgm.pipeline.run_report import RunReport
    from cb_pgm.pipeline.task import Task

__all__ = ["resolved_settings", "write_run"]


def write_run(report: RunReport, folder: Path) -> None:
    """Write the outcome, the settings, what a report needs, curves, pictures and the system's network."""
    task = report.task
    write_text(folder / "result.json", json_text(report.to_dict()))
    write_text(folder / "settings.json", json_text(resolved_settings(task)))
    write_text(folder / "report.json", json_text(run_material(report)))
    write_text(folder / "summary.txt", report.to_text())
    curves = report.curves()
    curves.to_csv(folder / "regret.csv", index=False, float_format="%.10g")
    title = f"Reward {task.settings.reward}{', minimized' if task.settings.minimize else ''}"
    save(draw_regret(regret_bands(curves), title=title), folder / "regret")
    system = task.system
    truth = system.essential_graph() if task.is_truth else None
    picture = draw_graphs(
        edge_verdicts(task.graph.graph, truth),
        task.graph.graph if truth is None else truth,
        marked=system.reward_parents,
        marked_as="cause of the reward" if task.is_truth else "cause of the reward in the fitted model",
    )
    save(picture, folder / "graph")
    flipped = bool(task.turn) and system.reward.noise is None  # the file has the reward as asked for
    write_bif((turned_over(system) if flipped else system).network(), folder / "model.bif")


def resolved_settings(task: Task) -> dict[str, Any]:
    """Return all that a run depends on: settings, what was filled in for them, data hash and versions."""
    context = task.context
    asked = {name: _plain(value) for name, value in asdict(task.settings).items()}
    return {
        "settings": asked | {"seed": task.seed},
        "resolved": {
            "reward_gap": context.reward_gap,
            "effect_gap": context.effect_gap,
            "noise_scale": context.noise_scale,
            "failure_prob": context.failure_prob,
            "max_parents": context.max_parents,
            "settable": list(task.system.settable),
        },
        "data": {"path": str(task.settings.csv), "sha256": task.table.sha256},
        "versions": versions(),
        "command": shlex.join(sys.argv),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, Path) else value
