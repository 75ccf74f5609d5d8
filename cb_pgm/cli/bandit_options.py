"""Options of the commands that run one policy on real rows, and the settings that they make up."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from cb_pgm.cli.options import add_reward_scale, count, positive, probability, seed
from cb_pgm.policies.registry import POLICIES

__all__ = ["add_bandit"]


def add_bandit(parser: ArgumentParser, *, horizon: int | None = None) -> None:
    """Add what a policy is and works with, as `Setup` takes it."""
    group = parser.add_argument_group("the bandit")
    names = [name for name, kind in POLICIES.items() if not kind.is_oracle]
    group.add_argument(
        "--policy",
        default="screening",
        choices=names,
        metavar="NAME",
        help="; ".join(f"{name}: {POLICIES[name].summary}" for name in names) + " (default: screening)",
    )
    group.add_argument(
        "--horizon",
        type=count,
        required=horizon is None,
        default=horizon,
        metavar="T",
        help="rows to ask for in all",
    )
    group.add_argument(
        "--graph", type=Path, metavar="FILE", help="a graph (JSON or BIF) to use instead of an estimate"
    )
    group.add_argument(
        "--not-settable", nargs="+", default=(), metavar="COL", help="variables that can't be set"
    )
    group.add_argument("--minimize", action="store_true", help="look for the lowest reward")
    group.add_argument(
        "--failure-prob",
        type=probability,
        default=0.05,
        metavar="P",
        help="allowed chance of a wrong answer (default: .05)",
    )
    fitted = "(default: from a model fitted to the table)"
    group.add_argument(
        "--reward-gap", type=positive, metavar="GAP", help=f"least effect on the reward {fitted}"
    )
    group.add_argument(
        "--effect-gap", type=positive, metavar="GAP", help=f"least effect on a neighbour {fitted}"
    )
    group.add_argument(
        "--max-parents", type=count, metavar="N", help=f"causes of the reward to look for {fitted}"
    )
    add_reward_scale(
        group, reward_range="numeric rewards lie in it; others are refused (default: as in the table)"
    )
    group.add_argument(
        "--no-warm-start",
        dest="warm_start",
        action="store_false",
        help="don't let the rows of the table teach the policy",
    )
    group.add_argument("--seed", type=seed, metavar="N", help="what the policy draws from (default: drawn)")
