"""Every policy by the name that people type.

A new policy is a class in a file of this room and a line in `POLICIES`. Its module is imported when the
policy is made, so that listing names costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cb_pgm.errors import PolicyError
from cb_pgm.wording import listed

if TYPE_CHECKING:  # `--help` lists policies, and is quick because nothing else is loaded for that
    from cb_pgm.policies.base import Policy
    from cb_pgm.policies.context import PolicyContext

__all__ = ["POLICIES", "PolicyKind", "make_policy", "policy_kind"]


@dataclass(frozen=True)
class PolicyKind:
    """One name.

    Attributes
    ----------
    home
        "module:Class", the module in this room.
    summary
        A line about it for `--help`.
    settings
        Keywords of its own that go with the name.
    needs_graph
        Whether it works on a graph.
    is_oracle
        Whether it knows what the others have to find out: it serves as a floor for them.
    identifies
        Whether it looks for the reward's parents.
    """

    home: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs_graph: bool = False
    is_oracle: bool = False
    identifies: bool = True


def make_policy(name: str, context: PolicyContext) -> Policy:
    """Return the policy of that name.

    Raises
    ------
    PolicyError
        If there is no such policy, or it needs a graph or gaps that the context doesn't have.
    """
    kind = policy_kind(name)
    module, _, attribute = kind.home.partition(":")
    made: type[Policy] = getattr(import_module(f"cb_pgm.policies.{module}"), attribute)
    return made.from_context(context, **kind.settings)


def policy_kind(name: str) -> PolicyKind:
    """Return what is known of the policy of that name, or raise PolicyError that lists the names."""
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
        "the same, queries first and screening as a guard only",
        settings={"evidence": "sequential"},
        needs_graph=True,
    ),
    "cn-ucb-fixed": PolicyKind(
        "cn_ucb:CNUCB",
        "the same with the fixed number of pulls an arm of Lu et al. (2021)",
        settings={"evidence": "fixed"},
        needs_graph=True,
    ),
    "screening": PolicyKind(
        "screening_ucb:ScreeningUCB", "rule out variables with every row, without a graph, then MOSS"
    ),
    "ucb": PolicyKind("ucb:UCB", "UCB over all arms", identifies=False),
    "moss": PolicyKind("moss:MOSS", "anytime MOSS over all arms", identifies=False),
    "thompson": PolicyKind("thompson:ThompsonSampling", "Thompson sampling over all arms", identifies=False),
    "kl-ucb": PolicyKind("kl_ucb:KLUCB", "KL-UCB over all arms", identifies=False),
    "raps": PolicyKind(
        "raps:RAPS", "identify the reward's causes by interventions on random variables, then UCB"
    ),
    "learn-graph": PolicyKind(
        "learn_graph_ucb:LearnGraphThenUCB",
        "orient the whole graph first, then identify the causes on it, then MOSS",
        needs_graph=True,
    ),
    "causal-ucb": PolicyKind(
        "causal_ucb:CausalUCB",
        "an oracle: C-UCB with the true graph and probabilities, for comparison",
        is_oracle=True,
        identifies=False,
    ),
    "oracle": PolicyKind(
        "oracle:OracleUCB",
        "an oracle: MOSS over the true causes of the reward, for comparison",
        is_oracle=True,
        identifies=False,
    ),
}
