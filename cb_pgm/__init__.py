"""Causal bandits with an unknown graph: systems, searches, evidence, policies, simulation.

Three nouns. A `CausalSystem` is a truth to learn against. A `Policy` chooses interventions: `ask` it, do
that, `tell` it. `simulate` plays a policy against a system and keeps its exact pseudo-regret; a `Session`
plays it against the real world.

Names are loaded on first use, so that importing the package costs little.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cb_pgm import instances, search, theory
    from cb_pgm.errors import (
        CausalBanditError,
        CausalSystemError,
        PolicyError,
        SearchError,
        SessionBusyError,
        SessionError,
    )
    from cb_pgm.intervention import Intervention, Observations, Pull
    from cb_pgm.pipeline import Pipeline
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.causal_ucb import CausalUCB
    from cb_pgm.policies.cn_ucb import CNUCB
    from cb_pgm.policies.kl_ucb import KLUCB
    from cb_pgm.policies.learn_graph_ucb import LearnGraphThenUCB
    from cb_pgm.policies.oracle import OracleUCB
    from cb_pgm.policies.raps import RAPS
    from cb_pgm.policies.screening_ucb import ScreeningUCB
    from cb_pgm.policies.thompson import ThompsonSampling
    from cb_pgm.policies.ucb import UCB
    from cb_pgm.run_report import RunReport
    from cb_pgm.session.verbs import Session
    from cb_pgm.simulation import Run, simulate
    from cb_pgm.system import CausalSystem

__version__ = "0.1.0"

_HOME = {
    "CNUCB": "policies.cn_ucb",
    "CausalBanditError": "errors",
    "CausalSystem": "system",
    "CausalSystemError": "errors",
    "CausalUCB": "policies.causal_ucb",
    "Intervention": "intervention",
    "KLUCB": "policies.kl_ucb",
    "LearnGraphThenUCB": "policies.learn_graph_ucb",
    "Observations": "intervention",
    "OracleUCB": "policies.oracle",
    "Pipeline": "pipeline",
    "Policy": "policies.base",
    "PolicyError": "errors",
    "Pull": "intervention",
    "RAPS": "policies.raps",
    "Run": "simulation",
    "RunReport": "run_report",
    "ScreeningUCB": "policies.screening_ucb",
    "SearchError": "errors",
    "Session": "session.verbs",
    "SessionBusyError": "errors",
    "SessionError": "errors",
    "ThompsonSampling": "policies.thompson",
    "UCB": "policies.ucb",
    "simulate": "simulation",
}
_SUBMODULES = ("instances", "search", "theory")

__all__ = [
    "CNUCB",
    "KLUCB",
    "RAPS",
    "UCB",
    "CausalBanditError",
    "CausalSystem",
    "CausalSystemError",
    "CausalUCB",
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
    "ThompsonSampling",
    "instances",
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
