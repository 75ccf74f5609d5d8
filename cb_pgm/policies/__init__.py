"""Policies: `ask` a policy for a pull, make that pull, and `tell` the policy the rows observed.

A policy takes the states, σ and, for some policies, a graph, marginals and gaps (`context.PolicyContext`). It
returns pulls, the variables identified as the reward's parents, and a confidence interval for every arm.
`base` defines the interface, and `arms` keeps the statistics that index policies share. Each policy has one
file here and a line in `registry`. `posterior` has the default, which draws what to play from
the posterior over hypotheses; `cn_ucb` adds queries on a graph to it. `baselines` has the rivals.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cb_pgm.policies.arm_policy import ArmPolicy
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.context import PolicyContext

_HOME = {"ArmPolicy": "arm_policy", "Policy": "base", "PolicyContext": "context"}

__all__ = ["ArmPolicy", "Policy", "PolicyContext"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
