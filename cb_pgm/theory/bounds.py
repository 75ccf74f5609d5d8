"""What the paper's theorems promise, in numbers: pulls an arm, pulls before stage 3, regret, and what
nobody can beat.

    B  = batch_size(n, K, reward_gap=Δ, effect_gap=ε, failure_prob=δ)   # pulls of each arm asked about
    T1 = exploration_bound(graph, K, B)                                 # pulls until the reward variable is
    named regret_bound(graph, K, B, horizon=T), minimax_lower_bound(n, K, T)

The bounds carry every constant that the proofs give. n is the number of variables and K the largest number
of their states that can be set. All hold with probability 1 − δ, for rewards with means in [0, 1], on
graphs of their kind.

References
----------
.. [1] Lu, Meisami & Tewari (2021), Causal bandits with unknown graph structure, NeurIPS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, log, log2, sqrt
from typing import TYPE_CHECKING, Literal

from cb_pgm.errors import CausalBanditError

if TYPE_CHECKING:
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["batch_size", "exploration_bound", "minimax_lower_bound", "regret_bound"]

Kind = Literal["tree", "forest", "general"]


def batch_size(
    n: int,
    n_states: int,
    reward_gap: float,
    effect_gap: float,
    failure_prob: float,
    *,
    noise_scale: float = 1.0,
    marginal_rows: int | None = None,
) -> float:
    """Return B, the pulls of one arm after which its answers are right with probability enough for all arms
    (Theorem 1).

    Parameters
    ----------
    n, n_states
        The number of variables and the largest number of states, n and K.
    reward_gap, effect_gap
        Δ of Assumption 3 and ε of Assumption 2.
    failure_prob
        δ, for everything a search asks, together.
    noise_scale
        σ of the rewards; the paper has 1.
    marginal_rows
        The number N of observations behind P(X); None when it is exact, as the paper assumes.

    Returns
    -------
    float
        A whole number, or infinity: if a gap is 0, or if the marginals' own error is half of the effect gap
        or more, so that no number of pulls is enough.

    Raises
    ------
    CausalBanditError
        If a parameter is out of its range.

    Notes
    -----
    ::

        B = ⌈max{32σ²/Δ² · log(8nK/δ),  log(8n²K²/δ) / 2(ε/2)²}⌉

    With N observations each P(x) may be off by η = √(log(16nK/δ)/2N), with probability δ/8 that any is off
    by more. Then the second part is log(16n²K²/δ) / 2(ε/2 − η)².

    Examples
    --------
    >>> batch_size(10, 3, reward_gap=0.3, effect_gap=0.5, failure_prob=0.05)
    3014
    >>> batch_size(10, 3, reward_gap=0.3, effect_gap=0.0, failure_prob=0.05)
    inf
    """
    _check(n=n, n_states=n_states, noise_scale=noise_scale)
    _check_at_least_zero(reward_gap=reward_gap, effect_gap=effect_gap)
    if not 0 < failure_prob < 1:
        raise CausalBanditError(f"Expected a failure_prob between 0 and 1 but found {failure_prob}")
    arms = n * n_states
    threshold = effect_gap / 2
    effects = log(8 * arms**2 / failure_prob)
    if marginal_rows is not None:
        _check(marginal_rows=marginal_rows)
        threshold -= sqrt(log(16 * arms / failure_prob) / (2 * marginal_rows))
        effects = log(16 * arms**2 / failure_prob)
    if reward_gap == 0 or threshold <= 0:
        return inf
    for_rewards = 32 * noise_scale**2 / reward_gap**2 * log(8 * arms / failure_prob)
    return ceil(max(for_rewards, effects / (2 * threshold**2)))


def exploration_bound(graph: EssentialGraph, n_states: int, batch: float, kind: Kind = "general") -> float:
    """Return T1: CN-UCB names X_R within as many pulls, those of do() counted, with probability 1 − δ.

    Parameters
    ----------
    graph
        The essential graph over the variables.
    n_states, batch
        K and B.
    kind
        Which algorithm and theorem: "tree" (Lemma 1), "forest" (Theorem 2) or "general" (Theorem 3, which
        says nothing unless every component's clique graph is intersection-incomparable, and whose algorithm
        can miss X_R even then).

    Raises
    ------
    CausalBanditError
        If the graph is not of that kind.

    Notes
    -----
    With d the most neighbours a node has within its component, C the number of chain components, ω(G),
    |C(G)| and d(G) a component's largest clique, number of maximal cliques and largest number of neighbours
    in its clique tree::

        tree     KB·max{1, (2 + d)·log₂ n} + B
        forest   KB·max{1, (d + C + 1)·log₂ n} + B
        general  KB·{Σ_G ω(G)·ℓ(G) + max_G (1 + d(G))·ω(G)·ℓ(G)} + B,   ℓ(G) = log₂|C(G)| + 1

    Theorem 1's T1 leaves out the B pulls of do() that Lemma 1 counts. The proof of Theorem 3 has
    log₂|C(G)|, which is 0 for a component of one clique although that is asked; and a d in T1 without
    saying of what. A single variable is one question where the printed log₂ n is 0.
    """
    _check(n_states=n_states, batch=batch)
    n = len(graph.nodes)
    shapes = [_shape(graph, component) for component in graph.chain_components()]
    _check_kind(kind, shapes)
    if kind == "general":
        stage_one = sum(shape.clique_number * shape.rounds for shape in shapes)
        stage_two = max((1 + shape.tree_degree) * shape.clique_number * shape.rounds for shape in shapes)
        return n_states * batch * (stage_one + stage_two) + batch
    degree = max(len(graph.neighbours(node)) for node in graph.nodes)
    searches = len(shapes) + 1  # stage 1 in each component, stage 2 in one
    return n_states * batch * max(1.0, (searches + degree) * log2(n)) + batch


def regret_bound(
    graph: EssentialGraph, n_states: int, batch: float, horizon: int, kind: Kind = "general"
) -> float:
    """Return the bound on CN-UCB's regret after `horizon` rounds that the proofs of Theorems 1 to 3 end in.

    Parameters
    ----------
    graph, n_states, batch, kind
        As in `exploration_bound`.
    horizon
        T.

    Notes
    -----
    T1 + √(m·T·log T), where m = K arms for "tree" and "forest" and K·max_G ω(G) for "general". The second
    term is the proofs' word for UCB's regret on m arms; a bound with its constants, 8√(m·T·log T) + 3m for
    means in [0, 1] ([1]_, Theorem 7.2), is some eight times as large.

    References
    ----------
    .. [1] Lattimore & Szepesvári (2020), Bandit algorithms, Cambridge University Press.
    """
    _check(horizon=horizon)
    exploration = exploration_bound(graph, n_states, batch, kind)
    arms = n_states
    if kind == "general":
        arms *= max(_shape(graph, component).clique_number for component in graph.chain_components())
    return exploration + sqrt(arms * horizon * log(horizon))


def minimax_lower_bound(n: int, n_states: int, horizon: int, *, noise_scale: float = 1.0) -> float:
    """Return the regret that any policy has on some instance of the families of Theorems 4 and 5.

    Parameters
    ----------
    n, n_states
        Variables and states of each that can be set, n and K.
    horizon
        T.
    noise_scale
        σ of the Gaussian rewards.

    Raises
    ------
    CausalBanditError
        If nK < 3 or T < σ²nK/16: the proof puts the best arm's mean at (σ/4)·√(nK/T), which may not exceed 1.

    Notes
    -----
    σ·√(nKT)/8. The essential graphs differ between the instances, so that E(D) would give X_R away: the
    bound is one for learners who aren't told E(D).

    Examples
    --------
    >>> minimax_lower_bound(10, 10, 10_000)
    125.0
    """
    _check(n=n, n_states=n_states, horizon=horizon, noise_scale=noise_scale)
    arms = n * n_states
    if arms < 3 or horizon < noise_scale**2 * arms / 16:
        raise CausalBanditError(
            f"Expected at least 3 arms and σ²/16 rounds for each but found {arms} arms and {horizon} rounds"
        )
    return noise_scale * sqrt(arms * horizon) / 8


@dataclass(frozen=True)
class _Shape:
    """The figures of a chain component that the bounds speak of."""

    is_tree: bool
    clique_number: int
    n_cliques: int
    tree_degree: int

    @property
    def rounds(self) -> float:
        return log2(self.n_cliques) + 1


def _shape(graph: EssentialGraph, component: Sequence[str]) -> _Shape:
    from cb_pgm.search.cliques import rooted_clique_tree

    adjacency = {node: dict.fromkeys(graph.neighbours(node)) for node in component}
    tree = rooted_clique_tree(component, adjacency)
    return _Shape(
        is_tree=sum(map(len, adjacency.values())) == 2 * (len(component) - 1),
        clique_number=max(map(len, tree.cliques)),
        n_cliques=len(tree.cliques),
        tree_degree=max(map(len, tree.neighbours().values())),
    )


def _check_kind(kind: Kind, shapes: Sequence[_Shape]) -> None:
    if kind not in ("tree", "forest", "general"):
        raise CausalBanditError(f"Expected kind to be tree, forest or general but found {kind!r}")
    if kind == "tree" and len(shapes) != 1:
        raise CausalBanditError(f"Expected one chain component but found {len(shapes)}: use kind='forest'")
    if kind != "general" and not all(shape.is_tree for shape in shapes):
        raise CausalBanditError(
            "Expected chain components that are trees but found a cycle: use kind='general'"
        )


def _check(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise CausalBanditError(f"Expected {name} to be positive but found {value}")


def _check_at_least_zero(**values: float) -> None:
    for name, value in values.items():
        if not value >= 0:
            raise CausalBanditError(f"Expected {name} to be 0 or more but found {value}")
