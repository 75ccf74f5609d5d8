"""Every policy by the name that people type, and what it takes to make one.

A new policy is one function here and its line in `POLICIES`. Policy modules are imported when a policy is
made, so that listing names costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cb_pgm.errors import PolicyError

if TYPE_CHECKING:
    from cb_pgm.model.system import CausalSystem
    from cb_pgm.policies.base import Policy, States
    from discovery import EssentialGraph, Marginals

__all__ = ["POLICIES", "PolicyContext", "PolicyKind", "make_policy", "policy_kind"]


@dataclass(frozen=True)
class PolicyContext:
    """What is known when a policy is made; each takes what it needs.

    Attributes
    ----------
    states, settable, noise_scale
        As in `Policy`.
    failure_prob
        δ, for policies that promise something.
    graph, marginals
        The essential graph over the variables and P(X); None for policies that need no graph.
    reward_gap, effect_gap
        Δ and ε for fixed budgets; None where unknown.
    max_parents
        How many parents the reward is allowed to have.
    parent_noise_scale
        σ of the reward given its parents, where it is known to be smaller than `noise_scale`.
    truth
        The system itself, for the policies that others are measured against and that are told what to find.
    """

    states: States
    noise_scale: float
    settable: States | None = None
    failure_prob: float = 0.05
    graph: EssentialGraph | None = None
    marginals: Marginals | None = None
    reward_gap: float | None = None
    effect_gap: float | None = None
    max_parents: int = 1
    parent_noise_scale: float | None = None
    truth: CausalSystem | None = None

    @classmethod
    def of_system(
        cls,
        system: CausalSystem,
        graph: EssentialGraph | None,
        marginals: Marginals | None,
        gaps: tuple[float, float],
    ) -> PolicyContext:
        """Return what holds of a system, with the graph and P(X) to play on, and the gaps Δ and ε."""
        reward_gap, effect_gap = gaps
        return cls(
            states=system.states,
            noise_scale=system.noise_scale,
            settable=system.settable,
            graph=graph,
            marginals=marginals,
            reward_gap=reward_gap,
            effect_gap=effect_gap,
            max_parents=max(1, len(system.reward_parents)),
            truth=system,
        )


@dataclass(frozen=True)
class PolicyKind:
    """One name: how to make its policy, whether that needs a graph, a line about it.

    `told` is for policies that know what they play against and serve as a floor for the others, `names` for
    those that look for the reward's parents.
    """

    make: Callable[[PolicyContext], Policy]
    needs_graph: bool
    summary: str
    told: bool = False
    names: bool = True


def make_policy(name: str, context: PolicyContext) -> Policy:
    """Return the policy of that name.

    Raises
    ------
    PolicyError
        If there is no such policy, or it needs a graph or gaps that the context doesn't have.
    """
    return policy_kind(name).make(context)


def policy_kind(name: str) -> PolicyKind:
    """Return what is known of the policy of that name, or raise PolicyError that lists the names."""
    if name not in POLICIES:
        raise PolicyError(f"Expected a policy out of {', '.join(POLICIES)} but found {name!r}")
    return POLICIES[name]


def _cn_ucb(evidence: Literal["fixed", "sequential"]) -> Callable[[PolicyContext], Policy]:
    def make(context: PolicyContext) -> Policy:
        from cb_pgm.policies.cn_ucb import CNUCB

        if context.graph is None or context.marginals is None:
            raise PolicyError(
                "Expected a graph and marginals for cn-ucb but found none: estimate or give them"
            )
        if context.reward_gap is None or context.effect_gap is None:
            raise PolicyError("Expected a reward gap and an effect gap for cn-ucb but found none: give both")
        return CNUCB(
            context.graph,
            context.states,
            context.marginals,
            reward_gap=context.reward_gap,
            effect_gap=context.effect_gap,
            failure_prob=context.failure_prob,
            noise_scale=context.noise_scale,
            evidence=evidence,
            max_parents=context.max_parents,
            settable=context.settable,
        )

    return make


def _screening(context: PolicyContext) -> Policy:
    from cb_pgm.policies.screening_ucb import ScreeningUCB

    return ScreeningUCB(
        context.states,
        failure_prob=context.failure_prob,
        noise_scale=context.noise_scale,
        parent_noise_scale=context.parent_noise_scale,
        max_parents=context.max_parents,
        settable=context.settable,
    )


def _ucb(context: PolicyContext) -> Policy:
    from cb_pgm.policies.ucb import UCB

    return UCB(context.states, noise_scale=context.noise_scale, settable=context.settable)


def _moss(context: PolicyContext) -> Policy:
    from cb_pgm.policies.moss import MOSS

    return MOSS(context.states, noise_scale=context.noise_scale, settable=context.settable)


def _thompson(context: PolicyContext) -> Policy:
    from cb_pgm.policies.thompson import ThompsonSampling

    return ThompsonSampling(context.states, noise_scale=context.noise_scale, settable=context.settable)


def _kl_ucb(context: PolicyContext) -> Policy:
    from cb_pgm.policies.kl_ucb import KLUCB

    return KLUCB(context.states, noise_scale=context.noise_scale, settable=context.settable)


def _raps(context: PolicyContext) -> Policy:
    from cb_pgm.policies.raps import RAPS

    reward_gap, effect_gap = _gaps("raps", context)
    if context.truth is not None:  # it may ask about any variable, where effective gaps aren't enough
        reward_gap = min(reward_gap, context.truth.reward_gap())
        effect_gap = min(effect_gap, context.truth.effect_gap())
    return RAPS(
        context.states,
        reward_gap=reward_gap,
        effect_gap=effect_gap,
        failure_prob=context.failure_prob,
        noise_scale=context.noise_scale,
        max_parents=context.max_parents,
        settable=context.settable,
    )


def _learn_graph(context: PolicyContext) -> Policy:
    from cb_pgm.policies.learn_graph_ucb import LearnGraphThenUCB

    if context.graph is None or context.marginals is None:
        raise PolicyError(
            "Expected a graph and marginals for learn-graph but found none: estimate or give them"
        )
    reward_gap, effect_gap = _gaps("learn-graph", context)
    if context.truth is not None:
        effect_gap = min(effect_gap, _effect_gap_over_lines(context.truth, context.graph))
    return LearnGraphThenUCB(
        context.graph,
        context.states,
        context.marginals,
        reward_gap=reward_gap,
        effect_gap=effect_gap,
        failure_prob=context.failure_prob,
        noise_scale=context.noise_scale,
        max_parents=context.max_parents,
        settable=context.settable,
    )


def _causal_ucb(context: PolicyContext) -> Policy:
    from cb_pgm.policies.causal_ucb import CausalUCB, parent_distributions

    truth = _truth("causal-ucb", context)
    return CausalUCB(
        context.states,
        truth.reward_parents,
        parent_distributions(truth),
        noise_scale=context.noise_scale,
        parent_noise_scale=context.parent_noise_scale,
        settable=context.settable,
    )


def _oracle(context: PolicyContext) -> Policy:
    from cb_pgm.policies.oracle import OracleUCB

    return OracleUCB(
        context.states,
        _truth("oracle", context).reward_parents,
        noise_scale=context.noise_scale,
        settable=context.settable,
    )


def _gaps(name: str, context: PolicyContext) -> tuple[float, float]:
    if context.reward_gap is None or context.effect_gap is None:
        raise PolicyError(f"Expected a reward gap and an effect gap for {name} but found none: give both")
    return context.reward_gap, context.effect_gap


def _effect_gap_over_lines(truth: CausalSystem, graph: EssentialGraph) -> float:
    """Return ε over all the graph's lines that are true edges: what directing each of them has to see."""
    from cb_pgm.model import gaps
    from cb_pgm.model.exact import ExactInference

    model, lines = truth.model, {frozenset(line) for line in graph.undirected}
    names = model.variables
    edges = [(a, b) for a, b in gaps.all_edges(model) if frozenset((names[a], names[b])) in lines]
    every_state = {variable: range(states) for variable, states in enumerate(model.cards)}
    return gaps.effect_gap(ExactInference(model), edges, every_state)


def _truth(name: str, context: PolicyContext) -> CausalSystem:
    if context.truth is None:
        raise PolicyError(
            f"Expected a known truth for {name}, which is told the reward's parents, but found none: "
            f"use it in studies and rehearsals only"
        )
    return context.truth


#: name → kind, in the order in which lists show them.
POLICIES: Mapping[str, PolicyKind] = {
    "cn-ucb": PolicyKind(
        _cn_ucb("sequential"), True, "central nodes find the reward's cause, then MOSS on it"
    ),
    "cn-ucb-fixed": PolicyKind(
        _cn_ucb("fixed"), True, "the same with the paper's fixed number of pulls an arm"
    ),
    "screening": PolicyKind(
        _screening, False, "rule out variables by every row seen, no graph needed, then MOSS"
    ),
    "ucb": PolicyKind(_ucb, False, "UCB over all arms", names=False),
    "moss": PolicyKind(_moss, False, "anytime MOSS over all arms", names=False),
    "thompson": PolicyKind(_thompson, False, "Thompson sampling over all arms", names=False),
    "kl-ucb": PolicyKind(_kl_ucb, False, "KL-UCB over all arms", names=False),
    "raps": PolicyKind(_raps, False, "find the reward's parents by variables drawn at random, then UCB"),
    "learn-graph": PolicyKind(_learn_graph, True, "learn the whole graph first, then search it, then MOSS"),
    "causal-ucb": PolicyKind(
        _causal_ucb, False, "told graph and tables: C-UCB, a floor for the others", told=True, names=False
    ),
    "oracle": PolicyKind(
        _oracle,
        False,
        "told the reward's parents: MOSS on them, a floor for the others",
        told=True,
        names=False,
    ),
}
