"""A run's folder: written by `cb-pgm run --out`, read back and checked by `cb-pgm report`.

result.json     the outcome, as `RunReport.to_dict` returns it
settings.json   all that the run depends on (`resolved_settings`)
report.json     what a report shows beside the outcome (`run_material`)
summary.txt     the outcome as text
regret.csv      the regret curves: columns policy, graph, run, round, regret
regret, graph   pictures as .png and .svg; without a truth also effects, the arms, and graphs, those drawn
model.bif       the network that was simulated
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pandas as pd

from cb_pgm.decoding import decoded
from cb_pgm.errors import ReportError
from cb_pgm.files import json_text, write_text
from cb_pgm.model.bif import write_bif
from cb_pgm.pipeline.run_report import RunReport
from cb_pgm.pipeline.task import Played, Task
from cb_pgm.plotting.effects import draw_effects, effects_frame
from cb_pgm.plotting.graphs import draw_graphs, drawn_edges_frame, edge_verdicts, place_graph, with_reward
from cb_pgm.plotting.regret import draw_regret, regret_bands, save
from cb_pgm.problem.truth import with_flipped_reward
from cb_pgm.provenance import command, versions
from cb_pgm.report.shapes import Asked, Effects, Material, Result, Settings
from cb_pgm.report.shared import surroundings
from discovery import EssentialGraph
from discovery.documents import json_content
from discovery.table.discrete_table import source_name
from discovery.wording import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RunFolder", "read_run", "resolved_settings", "run_material", "write_run"]

Shape = TypeVar("Shape")

_CURVES = {"policy": str, "graph": str, "run": int, "round": int, "regret": float}


def write_run(report: RunReport, folder: Path) -> None:
    """Write the outcome, the settings, what a report needs, curves and pictures."""
    task = report.task
    result, settings, material = report.to_dict(), resolved_settings(task), run_material(report)
    write_text(folder / "result.json", json_text(result))
    write_text(folder / "settings.json", json_text(settings))
    write_text(folder / "report.json", json_text(material))
    write_text(folder / "summary.txt", visible(report.to_text()))
    curves = report.curves()
    curves.to_csv(folder / "regret.csv", index=False, float_format="%.10g")
    title = f"Reward {task.settings.reward}{', minimized' if task.settings.minimize else ''}"
    save(draw_regret(regret_bands(curves), title=title), folder / "regret")
    run = RunFolder(cast(Result, result), cast(Settings, settings), cast(Material, material), curves)
    for name, drawn in run.drawn_graphs().items():
        save(draw_graphs(**drawn), folder / name)
    if (effects := run.result["effects"]) is not None:
        save(run.drawn_effects(effects), folder / "effects")
    system = task.system
    flipped = task.settings.minimize and system.reward.noise is None  # the file has the reward as asked for
    write_bif((with_flipped_reward(system) if flipped else system).network(), folder / "model.bif")


def resolved_settings(task: Task) -> dict[str, Any]:
    """Return all that a run depends on: settings, what was filled in for them, data hash and versions."""
    context = task.context
    asked = {name: _plain(value) for name, value in asdict(task.settings).items()}
    asked["csv"] = source_name(task.settings.csv)
    if not isinstance(task.settings.graph, str | os.PathLike | None):
        asked["graph"] = "a graph of Python's"
    return {
        "settings": asked | {"seed": task.seed},
        "resolved": {
            "reward_gap": task.unit.difference(context.known_gaps("a run")[0]),
            "effect_gap": context.effect_gap,
            "noise_scale": task.unit.difference(context.noise_scale),
            "failure_prob": context.failure_prob,
            "max_parents": context.max_parents,
            "settable": list(task.system.settable),
        },
        "data": {"path": source_name(task.settings.csv), "sha256": task.table.sha256},
        "versions": versions(),
        "command": command(),
    }


def run_material(report: RunReport) -> dict[str, Any]:
    """Return it ready for JSON.

    Keys: "graphs", with "used" and, if one is known to be true, "true"; "stories", of every policy that asks
    questions the one of its first run; "measured", what the assumptions are about, in the system that is
    simulated; "recommendation".
    """
    task, system = report.task, report.task.system
    graphs = {"used": task.graph.graph}
    true = system.true_graph()
    if task.is_truth and true is not None:
        graphs["true"] = true
    firsts = [group[0] for group in report.groups()]
    reward_gap, effect_gap = system.effective_gaps(true)
    return {
        "graphs": {name: json.loads(graph.to_json()) for name, graph in graphs.items()},
        "stories": [_story(played) for played in firsts if played.outcome.story is not None],
        "measured": {
            "reward_parents": list(system.reward_parents),
            "hidden": list(system.hidden),
            "hidden_confounders": list(system.hidden_confounders),
            "reward_gap": task.unit.difference(system.reward_gap()),
            "effect_gap": system.effect_gap(),
            "effective_reward_gap": task.unit.difference(reward_gap),
            "effective_effect_gap": effect_gap,
            "noise_scale": task.unit.difference(system.noise_scale),
            "smallest_probability": min(float(table.min()) for table in system.model.tables),
            "observational_mean": task.unit.outside(system.mean_reward()),
            "marginal_rows": task.table.n_rows,
            "marginal_error": _marginal_error(report),
        },
        "recommendation": _recommendation(report),
    }


@dataclass(frozen=True)
class RunFolder:
    """A run's files.

    Attributes
    ----------
    result, settings, material
        The contents of result.json, settings.json and report.json.
    curves
        regret.csv: columns policy, graph, run, round, regret.
    """

    result: Result
    settings: Settings
    material: Material
    curves: pd.DataFrame

    @cached_property
    def graphs(self) -> dict[str, EssentialGraph]:
        """The graph in "used" and, if one is known to be true, the "true" one."""
        return {
            name: EssentialGraph.from_json(json.dumps(graph))
            for name, graph in self.material["graphs"].items()
        }

    @cached_property
    def entries(self) -> pd.DataFrame:
        """One row a policy, graph and run: policy, graph, run, correct, interventions_to_find, regret, …"""
        return pd.DataFrame(self.result["policies"])

    @property
    def asked(self) -> Asked:
        """The settings as asked for, the seed in use among them."""
        return self.settings["settings"]

    def drawn_effects(self, effects: Effects) -> Figure:
        """Draw the arms, given what the table says of them: only a run without a truth has it."""
        title = "What the table says of every intervention"
        alone, level = effects["do_nothing"]["mean"], 100 * (1 - self.asked["failure_prob"])
        frame, reward = effects_frame(effects), self.asked["reward"]
        return draw_effects(frame, alone, reward=reward, title=title, level=f"{level:.4g} %")

    def drawn_graphs(self) -> dict[str, dict[str, Any]]:
        """Return the arguments of `draw_graphs` by name, with every node at the same place in all pictures.

        "graph" is the graph in use, beside the true one where it is known; "graphs" are those drawn from the
        table.
        """
        used, true, effects = self.graphs["used"], self.graphs.get("true"), self.result["effects"]
        reward, found = self.asked["reward"], self.material["recommendation"]
        parents = self.material["measured"]["reward_parents"]
        frames = {"graph": edge_verdicts(used, true)}
        if effects is not None and effects["edges"]:
            frames["graphs"] = drawn_edges_frame(effects)
        frames = {name: with_reward(frame, reward, parents) for name, frame in frames.items()}
        placed = used if true is None else true
        near = surroundings(placed, [name for name in parents if name in placed.nodes])
        placement = place_graph(placed, *frames.values(), nodes=near, reward=reward)
        settable = self.settings["resolved"]["settable"]
        roles = {name: "fixed" for name in used.nodes if name not in settable} | {reward: "reward"}
        roles |= dict.fromkeys([] if found is None else found["leader"], "marked")
        meanings = {"reward": "the reward", "fixed": "can't be set", "marked": "looks best to set"}
        return {
            name: {"edges": frame, "placement": placement, "roles": roles, "meanings": meanings}
            for name, frame in frames.items()
        }


def read_run(folder: Path) -> RunFolder:
    """Read a run's folder.

    Raises
    ------
    ReportError
        If a file is missing, isn't JSON, or lacks something.
    """
    result = _read(folder / "result.json", Result)
    settings = _read(folder / "settings.json", Settings)
    material = _read(folder / "report.json", Material)
    curves = folder / "regret.csv"
    if not curves.is_file():
        raise ReportError(f"Expected regret.csv in {folder} but found none: run again with --out")
    try:
        table = pd.read_csv(curves, keep_default_na=False, dtype=_CURVES)[list(_CURVES)]
    except (ValueError, LookupError, OverflowError) as error:
        raise ReportError(
            f"Expected the columns {', '.join(_CURVES)} in {curves} but found something else ({error}): run "
            f"again with --out"
        ) from None
    return RunFolder(result, settings, material, table)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def _story(played: Played) -> dict[str, Any]:
    outcome = played.outcome
    story = {} if outcome.story is None else outcome.story.to_dict()
    return {"policy": played.policy, "graph": played.graph, "run": played.run, **story}


def _marginal_error(report: RunReport) -> float:
    """How far the table's frequencies may be off, all at once, at the failure probability in use."""
    task = report.task
    return task.problem.marginals(task.system.states).sampling_error(task.context.failure_prob)


def _recommendation(report: RunReport) -> dict[str, Any] | None:
    found = report.recommendation
    if found is None:
        return None
    return {
        "source": found.source,
        "leader": dict(found.leader),
        "sentences": list(found.sentences),
        "next_steps": list(found.next_steps),
    }


def _read(path: Path, shape: type[Shape]) -> Shape:
    if not path.is_file():
        raise ReportError(
            f"Expected {path.name} in {path.parent} but found none: run again with --out, with this version"
        )
    try:
        return decoded(shape, json_content(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ReportError(
            f"Expected JSON as a run writes it in {path} but found something else ({error}): run again with "
            f"--out"
        ) from None
