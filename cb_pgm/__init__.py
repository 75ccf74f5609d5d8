"""Causal bandits with an unknown graph: systems, searches, evidence, policies, simulation.

A `CausalSystem` is a known causal model of some variables and a reward. A `Policy` chooses interventions:
`ask` it for one, carry it out, and `tell` it the rows. `simulate` plays a policy against a system and records
its exact pseudo-regret. A `Session` plays a policy in a real experiment, and a `Pipeline` goes from a table
to a recommendation in one call.

Names are loaded on first use, so that importing the package costs little.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cb_pgm.provenance import VERSION

if TYPE_CHECKING:
    from cb_pgm import instances, plots, search, theory
    from cb_pgm.effects.estimate import estimate_effects
    from cb_pgm.effects.report import EffectsReport
    from cb_pgm.errors import (
        CausalBanditError,
        CausalSystemError,
        PolicyError,
        SearchError,
        SessionBusyError,
        SessionError,
    )
    from cb_pgm.model.intervention import Intervention, Observations, Pull
    from cb_pgm.model.system import CausalSystem
    from cb_pgm.pipeline.pipeline import Pipeline
    from cb_pgm.pipeline.run_report import RunReport
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.baselines.causal_ucb import CausalUCB
    from cb_pgm.policies.baselines.learn_graph import LearnGraphThenUCB
    from cb_pgm.policies.baselines.oracle import OracleUCB
    from cb_pgm.policies.baselines.raps import RAPS
    from cb_pgm.policies.cn_ucb import CNUCB
    from cb_pgm.policies.index_policies import KLUCB, MOSS, UCB
    from cb_pgm.policies.posterior import ScreeningUCB
    from cb_pgm.policies.thompson import ThompsonSampling
    from cb_pgm.session.session import Session
    from cb_pgm.simulation import Run, System, simulate
    from cb_pgm.study.compare import compare
    from cb_pgm.tables import read_table

__version__ = VERSION

_HOME = {
    "CNUCB": "policies.cn_ucb",
    "CausalBanditError": "errors",
    "CausalSystem": "model.system",
    "CausalSystemError": "errors",
    "CausalUCB": "policies.baselines.causal_ucb",
    "EffectsReport": "effects.report",
    "Intervention": "model.intervention",
    "KLUCB": "policies.index_policies",
    "LearnGraphThenUCB": "policies.baselines.learn_graph",
    "MOSS": "policies.index_policies",
    "Observations": "model.intervention",
    "OracleUCB": "policies.baselines.oracle",
    "Pipeline": "pipeline.pipeline",
    "Policy": "policies.base",
    "PolicyError": "errors",
    "Pull": "model.intervention",
    "RAPS": "policies.baselines.raps",
    "Run": "simulation",
    "RunReport": "pipeline.run_report",
    "ScreeningUCB": "policies.posterior",
    "SearchError": "errors",
    "Session": "session.session",
    "SessionBusyError": "errors",
    "SessionError": "errors",
    "System": "simulation",
    "ThompsonSampling": "policies.thompson",
    "UCB": "policies.index_policies",
    "compare": "study.compare",
    "estimate_effects": "effects.estimate",
    "read_table": "tables",
    "simulate": "simulation",
}
_SUBMODULES = ("instances", "plots", "search", "theory")

__all__ = [
    "CNUCB",
    "KLUCB",
    "MOSS",
    "RAPS",
    "UCB",
    "CausalBanditError",
    "CausalSystem",
    "CausalSystemError",
    "CausalUCB",
    "EffectsReport",
    "Intervention",
    "LearnGraphThenUCB",
    "Observations",
    "OracleUCB",
    "Pipeline",
    "Policy",
    "PolicyError",
    "Pull",
    "Run",
    "RunReport",
    "ScreeningUCB",
    "SearchError",
    "Session",
    "SessionBusyError",
    "SessionError",
    "System",
    "ThompsonSampling",
    "compare",
    "estimate_effects",
    "instances",
    "plots",
    "read_table",
    "search",
    "simulate",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
