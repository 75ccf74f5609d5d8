"""`cb-pgm plan`: predict what each policy will cost, before the first real pull."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cb_pgm.cli.console import note, progress, waiting
from cb_pgm.cli.flags import add_flags, count, positive, settings_of
from cb_pgm.cli.options import TABLE, TABLE_HELP, add_result, add_table_rest, take_export
from cb_pgm.cli.usage import Parser, UsageError
from cb_pgm.files import json_text, print_text
from cb_pgm.pipeline.settings import RunSettings
from discovery.estimation.settings import EstimateSettings
from discovery.table.settings import TableSettings
from discovery.wording import decimal

if TYPE_CHECKING:
    from cb_pgm.study.plan import Forecast, Plan

__all__ = ["add_arguments", "execute"]


#: After these no further run begins, but for the first of each policy.
_SECONDS = 30.0

_DEFAULTS = {"policies": None, "horizon": 10_000, "runs": 20, "failure_prob": 0.05, "seed": 0, "cold": False}


def add_arguments(parser: Parser) -> None:
    """Add the flags of `plan`."""
    parser.epilog = "example: cb-pgm plan --data data/asia.csv --reward xray=yes --horizon 2000"
    parser.add_argument("--data", type=Path, metavar="CSV", help=f"table to fit a model to. {TABLE_HELP}")
    parser.add_argument("--model", type=Path, metavar="BIF", help="network to simulate")
    parser.add_argument(
        "--states",
        type=Path,
        metavar="TOML",
        help="states of an experiment's variables, as session start has",
    )
    parser.add_argument(
        "--n", type=count, metavar="N", help="variables of a random tree, drawn anew for each run"
    )
    add_flags(parser, RunSettings, "not_settable")
    add_flags(parser, RunSettings, "policies horizon runs cold seed", defaults=_DEFAULTS)
    add_result(parser)
    add_flags(parser, RunSettings, TABLE, title="the table", defaults={"reward": None})
    parser.add_rare("--n-states", type=count, default=3, metavar="K", help="states of the tree's variables")
    parser.add_rare(
        "--reward-gap", type=positive, metavar="GAP", help="Δ of the tree or the states, for the mean reward"
    )
    add_table_rest(parser)


def execute(options: Namespace) -> None:
    """Make the plan and print it."""
    sources = [name for name in ("data", "model", "states", "n") if getattr(options, name) is not None]
    if len(sources) != 1:
        raise UsageError("give one of --data, --model, --states and --n")
    if options.data is not None:
        take_export(options, options.data)
    needs_reward = options.data is not None or options.model is not None
    if needs_reward == (options.reward is None):
        raise UsageError("--reward goes with --data and --model, and only with them")
    if hasattr(options, "not_settable") and options.data is None and options.states is None:
        raise UsageError("--not-settable goes with --data and --states, and only with them")

    # Late imports, here and below: --help loads no other room.
    from cb_pgm.study.plan import DEFAULT_POLICIES, make_plan, plan_study
    from cb_pgm.study.tables import problem_of

    with waiting("Setting up the problem"):
        study = plan_study(
            _system(options),
            horizon=options.horizon,
            policies=options.policies or DEFAULT_POLICIES,
            runs=options.runs,
            seed=options.seed,
        )
    if options.data is not None:
        for warning in problem_of(study.systems[0]).table.warnings:
            note(f"warning: {warning}")
    total = options.horizon * options.runs * len(study.policies)
    with progress(total, "Simulating") as step:
        plan = make_plan(study, seconds=_SECONDS, progress=step)
    print_text(json_text(plan.to_dict()) if options.json else _text(plan))


def _system(options: Namespace) -> dict[str, Any]:
    """Return the keys of the system as in a study's file."""
    if options.model is not None:
        return {"network": options.model, "reward": options.reward}
    if options.data is not None:
        table = {"table": options.data, "reward": options.reward, **settings_of(options, TableSettings)}
        table |= {"not_settable": list(getattr(options, "not_settable", ()))}
        search = {name: str(value) for name, value in settings_of(options, EstimateSettings).items()}
        return table | search | ({"rows": 0} if options.cold else {})
    gap = {} if options.reward_gap is None else {"reward_gap": options.reward_gap}
    if options.states is not None:
        from cb_pgm.session.beginning import given_states

        known, reward = given_states(options.states)
        column = (reward or "").partition("=")[0].strip()
        states = tuple((name, values) for name, values in known.items() if name != column)
        fixed = {"not_settable": tuple(getattr(options, "not_settable", ()))}
        return {"instance": "factors", "states": states, **fixed, **gap, "label": options.states.name}
    return {"instance": "tree", "n": options.n, "n_states": options.n_states, **gap}


def _text(plan: Plan) -> str:
    lines = [
        f"Problem  {plan.n} variables of up to {plan.n_states} states, noise scale {plan.noise_scale:.4g}, "
        f"failure probability {plan.failure_prob:g}, {plan.horizon:,} rounds",
        *([f"Start    from {plan.rows:,} rows of the model, as many as the table has"] * (plan.rows > 0)),
        "",
        "The fixed budget of the theorems",
    ]
    for title, budget in (("gaps as printed", plan.printed), ("effective gaps", plan.effective)):
        gaps = f"reward {decimal(budget.reward_gap, 4)}, effect {budget.effect_gap:.4f}"
        if budget.batch is None:
            lines.append(f"  {title:<16} {gaps}: no number of pulls is enough")
        else:
            lines.append(
                f"  {title:<16} {gaps}: {budget.batch:,} pulls an arm, at most {budget.exploration:,} to "
                f"identify the cause, regret at most {decimal(budget.regret or 0.0)}"
            )
    if (floor := plan.floor) is not None:
        grows, plain = (decimal(each, 1) for each in (floor.constant, floor.constant_without_structure))
        lines += [
            "",
            "What no policy can do without",
            f"  {floor.pulls_to_name:,.0f} rounds to identify the cause",
            f"  regret of {decimal(floor.regret, 1)}, here or where another state of the cause is the best;",
            f"  {grows} · log T as T grows, {plain} · log T if the arms had nothing in common",
        ]
    several = f"{plan.instances:,} instances, one for each run" if plan.instances > 1 else "one system"
    lines += ["", f"Simulated on {several}: means, and in brackets the 10 % and 90 % quantiles over runs"]
    head = ["policy", "runs", "identified", "right", "rounds to identification", "regret", "beats ucb from"]
    rows = [head, *(_row(forecast) for forecast in plan.forecasts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines += [
        "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    if plan.stopped is not None:
        lines += [
            "",
            f"{plan.stopped[0].upper()}{plan.stopped[1:]}: give a shorter --horizon or fewer policies",
        ]
    return "\n".join([*lines, "", *(f"* {line}" for line in plan.advice)])


def _row(forecast: Forecast) -> list[str]:
    beats, pulls = forecast.beats_ucb_from, forecast.pulls_to_name
    lost, low, high = (
        decimal(regret, 1) for regret in (forecast.regret, forecast.regret_low, forecast.regret_high)
    )
    return [
        forecast.policy,
        f"{forecast.runs}",
        "-" if forecast.fits is None else f"{forecast.named:.0%}",
        "-" if forecast.fits is None else f"{forecast.right:.0%}",
        "-" if pulls is None else f"{pulls:,} ({forecast.pulls_low:,}–{forecast.pulls_high:,})",
        f"{lost} ({low}–{high})",
        "-" if forecast.policy == "ucb" else "not in time" if beats is None else f"round {beats:,}",
    ]
