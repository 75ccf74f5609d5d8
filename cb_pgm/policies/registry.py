"""The registry of policies by name.

A new policy is a class in a file of this package and a line in `POLICIES`. Its module is imported only when
the policy is constructed, so listing the names imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cb_pgm.errors import PolicyError
from cb_pgm.wording import listed

if TYPE_CHECKING:  # `--help` lists the policies, and importing these would slow it down
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.context import PolicyContext

__all__ = ["POLICIES", "PolicyKind", "make_policy", "policy_kind"]


@dataclass(frozen=True)
class PolicyKind:
    """A registered policy.

    Attributes
    ----------
    home
        "module:Class", with a module of this package.
    summary
        Its description for `--help`, one line.
    settings
        Keyword arguments of the class that this name implies.
    needs_graph
        Whether it needs an essential graph.
    is_oracle
        Whether it is an oracle that knows the true system, as a reference for the others.
    identifies
        Whether it identifies the reward's parents.
    """

    home: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_graph: bool = False
    is_oracle: bool = False
    identifies: bool = True


def make_policy(name: str, context: PolicyContext) -> Policy:
    """Construct the policy of that name from `context`.

    Raises
    ------
    PolicyError
        If there is no such policy, or it needs a graph, gaps or a truth that the context doesn't have.
    """
    kind = policy_kind(name)
    module, _, attribute = kind.home.partition(":")
    made: type[Policy] = getattr(import_module(f"cb_pgm.policies.{module}"), attribute)
    return made.from_context(context, **kind.settings)


def policy_kind(name: str) -> PolicyKind:
    """Return the registry entry of that name, or raise a PolicyError that lists all names."""
    if name not in POLICIES:
        names = listed(POLICIES, most=len(POLICIES), last="or")
        raise PolicyError(f"Expected the policy {names} but found {name!r}")
    return POLICIES[name]


#: name → kind, in the order in which lists show them.
POLICIES: Mapping[str, PolicyKind] = {
    "cn-ucb": PolicyKind(
        "cn_ucb:CNUCB",
        "identify the reward's causes by screening and queries on the graph, then MOSS over their values",
        needs_graph=True,
    ),
    "cn-ucb-sequential": PolicyKind(
        "cn_ucb:CNUCB",
        "the same, with the queries first and screening only as a guard",
        settings={"evidence": "sequential"},
        needs_graph=True,
    ),
    "cn-ucb-fixed": PolicyKind(
        "cn_ucb:CNUCB",
        "the same, with the fixed number of pulls of each arm of Lu et al. (2021)",
        settings={"evidence": "fixed"},
        needs_graph=True,
    ),
    "screening": PolicyKind(
        "screening_ucb:ScreeningUCB",
        "identify the reward's causes by screening, without a graph, then MOSS over their values",
    ),
    "ucb": PolicyKind("ucb:UCB", "UCB over single-variable interventions", identifies=False),
    "moss": PolicyKind("moss:MOSS", "anytime MOSS over single-variable interventions", identifies=False),
    "thompson": PolicyKind(
        "thompson:ThompsonSampling", "Thompson sampling over single-variable interventions", identifies=False
    ),
    "kl-ucb": PolicyKind("kl_ucb:KLUCB", "KL-UCB over single-variable interventions", identifies=False),
    "bbb": PolicyKind(
        "bbb:BackdoorBandit",
        "start from a table's back-door estimates of all arms, then Thompson sampling (rewards in [0, 1])",
        identifies=False,
    ),
    "ucb-plus": PolicyKind(
        "ucb_plus:UCBPlus",
        "UCB+ over random interventions on three variables, enough for the number of causes given",
        identifies=False,
    ),
    "ucb-plus-unknown-k": PolicyKind(
        "ucb_plus:UnknownKUCBPlus",
        "the same without the number of causes, in phases that halve the interventions",
        identifies=False,
    ),
    "raps": PolicyKind(
        "raps:RAPS",
        "identify the reward's causes by interventions on random variables, then UCB over their values",
    ),
    "learn-graph": PolicyKind(
        "learn_graph_ucb:LearnGraphThenUCB",
        "orient the whole graph, then identify the reward's causes on it, then MOSS over their values",
        needs_graph=True,
    ),
    "causal-ucb": PolicyKind(
        "causal_ucb:CausalUCB",
        "an oracle that knows the true graph and its probabilities: C-UCB, for comparison",
        is_oracle=True,
        identifies=False,
    ),
    "pomis": PolicyKind(
        "pomis:POMISBandit",
        "an oracle that knows the true graph and its hidden causes: MOSS over possibly-optimal sets",
        is_oracle=True,
        identifies=False,
    ),
    "oracle": PolicyKind(
        "oracle:OracleUCB",
        "an oracle that knows the reward's causes: MOSS over their values, for comparison",
        is_oracle=True,
        identifies=False,
    ),
}
