"""Playing the headline study: every policy on every system, and the pulls it takes to name the parent.

Regret is measured against the best of all arms that any policy of the row may play, those on several
variables included (`best_mean`).
"""

from __future__ import annotations

import itertools
import math
import time
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
from headline_settings import COMMON, Setting

from cb_pgm import CausalSystem, Intervention, Policy, instances, search, simulate
from cb_pgm.errors import CausalSystemError
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE
from cb_pgm.policies.baselines.pomis import POMISBandit
from cb_pgm.policies.baselines.raps import Reply, parent_search, raps_batch_size
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import make_policy, policy_kind
from cb_pgm.simulation import drawn_rows
from cb_pgm.theory.information_bound import least_pulls, proven_least_pulls
from cb_pgm.theory.regret_floor import regret_floor

FAILURE_PROB = 0.05
ROWS_AT_ONCE = 20_000

#: In the order of the table.
POLICIES = (
    "ucb",
    "moss",
    "kl-ucb",
    "thompson",
    "bbb",
    "ucb-plus",
    "ucb-plus-unknown-k",
    "raps",
    "cn-ucb-fixed",
    "cn-ucb-sequential",
    "cn-ucb",
    "learn-graph",
    "screening",
    "posterior-sampling",
    "causal-ucb",
    "pomis",
    "oracle",
)
#: Those that look for the reward's parents.
LOOKING = ("raps", "cn-ucb-fixed", "cn-ucb-sequential", "cn-ucb", "learn-graph", "screening")
#: The rivals that know neither the graph nor the reward's parents, nor how many these are.
UNTOLD = ("ucb", "moss", "kl-ucb", "thompson", "bbb", "ucb-plus-unknown-k")
#: What is told of the number of parents, whatever the setting allows.
_TOLD_NUMBER = ("raps", "ucb-plus")


@dataclass(frozen=True)
class Played:
    """What came of one system: a row per policy, and their regret curves."""

    rows: list[dict[str, Any]]
    curves: list[dict[str, Any]]


def rng_of(seed: int, *labels: object) -> np.random.SeedSequence:
    """Return a source that depends on the study's seed and the labels alone."""
    return np.random.SeedSequence(seed, spawn_key=tuple(zlib.crc32(str(label).encode()) for label in labels))


def context_of(system: CausalSystem) -> PolicyContext:
    """Return what policies know: the true essential graph if there is one, marginals, gaps and σ."""
    graph = system.true_graph()
    context = PolicyContext.of_system(system, graph, system.marginals(), system.effective_gaps(graph))
    return replace(context, parent_noise_scale=system.conditional_noise_scale, failure_prob=FAILURE_PROB)


def best_mean(system: CausalSystem, policies: Iterable[Policy] = ()) -> float:
    """Return the highest mean reward of do(), any arm on one variable, and any joint state of the parents.

    The arms of POMIS count too if it is among the policies. Without hidden causes nothing beats the best
    joint state of the parents, and no regret against it is below zero.
    """
    parents = [name for name in system.reward_parents if name in system.settable]
    joint = itertools.product(*(system.settable[name] for name in parents))
    arms: list[Mapping[str, str]] = [dict(zip(parents, states, strict=True)) for states in joint]
    for policy in policies:
        if isinstance(policy, POMISBandit):
            arms += policy.fresh(np.random.default_rng(0)).arms
    return max(system.best_arm()[1], *(system.mean_reward(arm) for arm in arms))


def play(setting: Setting, instance: int, seed: int) -> Played:
    """Play all policies on one system of a setting."""
    system = setting.make(np.random.default_rng(rng_of(seed, setting.name, instance)))
    context = context_of(system)
    allowed = setting.most_parents or context.max_parents
    printed = raps_pulls(system, np.random.default_rng(rng_of(seed, setting.name, instance, "raps")), None)
    table = ()
    if setting.rows:
        draws = np.random.default_rng(rng_of(seed, setting.name, instance, "table"))
        table = drawn_rows(system, {Intervention(): setting.rows}, draws)
    policies = {
        name: make_policy(name, context if name in _TOLD_NUMBER else replace(context, max_parents=allowed))
        for name in POLICIES
        if name in (*COMMON, *setting.also) and can_play(name, context)
    }
    # How much more than the best arm on one variable the best setting of several has.
    beyond = best_mean(system, policies.values()) - system.best_arm()[1]
    floor = None if setting.rows else floor_of(system, setting.horizon)
    rows, curves = [], []
    for name, policy in policies.items():
        row = {
            "group": setting.group,
            "setting": setting.name,
            "instance": instance,
            "n": len(system.states),
            "n_states": max(map(len, system.states.values())),
            "horizon": setting.horizon,
            "table_rows": setting.rows,
            "policy": name,
            "regret_floor": floor,
            "noise_scale": policy.noise_scale,
            "reward_gap": context.reward_gap,
            "effect_gap": context.effect_gap,
            "batch": getattr(policy, "batch", None),
            "raps_pulls_as_printed": printed,
        }
        if name == "raps" and math.isfinite(policy.batch):
            rng = np.random.default_rng(rng_of(seed, setting.name, instance, "raps"))
            needed = raps_pulls(system, rng, len(system.reward_parents))
            if needed > setting.horizon:
                rows.append(
                    row | {"regret": None, "pulls_to_name": needed, "correct": None, "fallback": "not run"}
                )
                continue
        started = time.process_time()
        draws = rng_of(seed, setting.name, instance, name)
        run = simulate(policy, system, setting.horizon, draws, earlier=table)
        named = run.reward_variables
        regrets = run.regrets + beyond * run.rounds
        found = run.interventions_to_find
        rows.append(
            row
            | {
                "regret": run.regret + beyond * run.horizon,
                "regret_to_name": None if found is None else float(np.interp(found, run.rounds, regrets)),
                "pulls_to_name": found,
                "correct": named == system.reward_parents if named else None,
                "fallback": run.fallback,
                "seconds": time.process_time() - started,
            }
        )
        curves += [
            {
                "setting": setting.name,
                "instance": instance,
                "policy": name,
                "round": int(t),
                "regret": float(lost),
            }
            for t, lost in zip(run.rounds, regrets, strict=True)
        ]
    return Played(rows, curves)


def floor_of(system: CausalSystem, horizon: int) -> float | None:
    """Return the regret that no policy avoids on such systems; None but for one parent that can be set."""
    try:
        return regret_floor(system, horizon)
    except CausalSystemError:
        return None


def can_play(name: str, context: PolicyContext) -> bool:
    """Return whether there is a true graph for a policy that needs one, and causes for an oracle to know."""
    kind = policy_kind(name)
    if kind.needs_graph and context.graph is None:
        return False
    if name == "bbb" and context.noise_scale != UNIT_INTERVAL_SCALE:
        return False
    return not (kind.is_oracle and not context.known_truth(name).reward_parents)


def raps_pulls(
    system: CausalSystem, rng: np.random.Generator, max_parents: int | None, repeats: int = 20
) -> float:
    """Return RAPS' pulls until it has found all parents, by its formula: the mean of `repeats` searches.

    The searches get exact replies, each at the price of B rows of every arm in every context, and B for every
    context; the gaps are the system's, B counts as many contexts as `max_parents` says.
    """
    n_states = max(map(len, system.states.values()))
    batch = raps_batch_size(
        len(system.states),
        n_states,
        system.reward_gap(),
        system.effect_gap(),
        FAILURE_PROB,
        noise_scale=system.noise_scale,
        max_parents=max_parents,
    )
    if math.isinf(batch):
        return math.inf
    return batch * fmean(_arms_pulled(system, rng) for _ in range(repeats))


def _arms_pulled(system: CausalSystem, rng: np.random.Generator) -> int:
    """Return how many arms, those of held parents alone counted, a RAPS search with exact replies pulls."""
    answer = search.exact_answers(system.dag, system.reward_parents)
    everything, found, below, pulled = tuple(system.states), {}, set(), 0
    while len(found) < len(system.reward_parents):
        contexts = math.prod(len(system.states[name]) for name in found)
        pulled += contexts
        searching = parent_search(
            [name for name in everything if name not in found and name not in below], rng
        )
        reply, moved = None, {}
        while True:
            try:
                variable = next(searching) if reply is None else searching.send(reply)
            except StopIteration as end:
                parent = end.value
                break
            pulled += contexts * len(system.states[variable])
            probe = answer(search.Query(variable, everything, found))
            reply = Reply(probe.is_ancestor, probe.children)
            moved[variable] = probe.children
        found[parent] = None
        below |= moved[parent]
    return pulled


# -- pulls until the reward's parent is named ----------------------------------------------------------------

#: Policies whose pulls are counted, and how often each is played on a tree.
NAMING = {"cn-ucb-fixed": 1, "cn-ucb-sequential": 1, "learn-graph": 1, "cn-ucb": 5, "screening": 5}


def count_pulls(n: int, instance: int, seed: int) -> list[dict[str, Any]]:
    """Return a row per policy: its median pulls on one random tree, K = 3, copy probability .95, σ = 1."""
    source = rng_of(seed, "pulls", n, instance)
    system = instances.tree(n, 3, copy_probability=0.95, seed=np.random.default_rng(source))
    context = context_of(system)
    about = {"n": n, "instance": instance, "reward_gap": context.reward_gap, "effect_gap": context.effect_gap}
    rows = []
    for name, repeats in NAMING.items():
        policy = make_policy(name, context)
        outcomes = [
            _pulls_to_name(policy, system, rng_of(seed, "pulls", n, instance, name, i))
            for i in range(repeats)
        ]
        pulls = float(np.median([pulls for pulls, _ in outcomes]))
        right = sum(named == system.reward_parents for _, named in outcomes)
        rows.append(about | {"policy": name, "pulls": pulls, "runs": repeats, "right": right})
    rng = np.random.default_rng(rng_of(seed, "pulls", n, instance, "raps"))
    for name, max_parents in (("raps told of one parent", 1), ("raps by its printed formula", None)):
        rows.append(about | {"policy": name, "pulls": raps_pulls(system, rng, max_parents)})
    rows.append(about | {"policy": "proven bound", "pulls": proven_least_pulls(system, FAILURE_PROB)})
    rows.append(about | {"policy": "yardstick", "pulls": least_pulls(system, FAILURE_PROB)})
    return rows


def _pulls_to_name(
    policy: Policy, system: CausalSystem, source: np.random.SeedSequence
) -> tuple[int, tuple[str, ...]]:
    """Play until the policy names a parent; return the pulls so far, those of do() counted, and the name."""
    world, own = (np.random.default_rng(child) for child in source.spawn(2))
    policy = policy.fresh(own)
    pulls = 0
    while True:
        pull = policy.ask()
        if policy.reward_variables:
            return pulls, policy.reward_variables
        size = min(pull.size, ROWS_AT_ONCE)
        policy.tell(pull, system.sample(pull.intervention, size, world))
        pulls += size
