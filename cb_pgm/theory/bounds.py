"""The guarantees of the paper's theorems in numbers: pulls per arm, pulls until identification, and regret.

::

    B  = batch_size(n, K, reward_gap=Δ, effect_gap=ε, failure_prob=δ)   # pulls of each queried arm
    T1 = exploration_bound(graph, K, B)                                 # pulls until X_R is identified
    regret_bound(graph, K, B, horizon=T)                                # regret of CN-UCB after T rounds
    minimax_lower_bound(n, K, T)                                        # regret that no policy can avoid

n is the number of variables and K the largest number of states of a variable that can be set. The bounds
contain every constant that the proofs give. The upper bounds hold with probability 1 − δ, for rewards with
means in [0, 1], on graphs of their kind.

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
    """Return B, the number of pulls of each arm with which a search can decide all its queries (Theorem 1).

    By a union bound over arms, all decisions are correct with probability ≥ 1 − δ.

    Parameters
    ----------
    n, n_states
        The number of variables n and the largest number of states K.
    reward_gap, effect_gap
        Δ of Assumption 3 and ε of Assumption 2.
    failure_prob
        δ, the probability that any decision of the search is wrong.
    noise_scale
        σ of the rewards; the paper has 1.
    marginal_rows
        The number N of observations from which P(X) was estimated; None if it is exact, as the paper assumes.

    Returns
    -------
    float
        A whole number, or infinity if no number of pulls suffices: if a gap is 0, or if the sampling error of
        the marginals is at least half the effect gap.

    Raises
    ------
    CausalBanditError
        If a parameter is out of its range.

    Notes
    -----
    ::

        B = ⌈max{32σ²/Δ² · log(8nK/δ),  log(8n²K²/δ) / 2(ε/2)²}⌉

    With N observations every estimate of P(x) is within η = √(log(16nK/δ)/2N) of its true value, except with
    probability δ/8. The second part is then log(16n²K²/δ) / 2(ε/2 − η)².

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
    """Return T1, the number of pulls within which CN-UCB identifies X_R with probability 1 − δ.

    The pulls of do() are included.

    Parameters
    ----------
    graph
        The essential graph over the variables.
    n_states, batch
        K and B.
    kind
        The algorithm and its theorem: "tree" (Lemma 1), "forest" (Theorem 2) or "general" (Theorem 3).
        Theorem 3 assumes that every component's clique graph is intersection-incomparable, and its algorithm
        can miss X_R even then.

    Returns
    -------
    float
        A number of pulls; infinity if `batch` is.

    Raises
    ------
    CausalBanditError
        If the graph is not of that kind, or K or B is not positive.

    Notes
    -----
    Let d be the largest number of neighbours of a node within its component and C the number of chain
    components. For a component G let ω(G) be the size of its largest clique, |C(G)| its number of maximal
    cliques and d(G) the largest number of neighbours in its clique tree. Then T1 is::

        tree     KB·max{1, (2 + d)·log₂ n} + B
        forest   KB·max{1, (d + C + 1)·log₂ n} + B
        general  KB·{Σ_G ω(G)·ℓ(G) + max_G (1 + d(G))·ω(G)·ℓ(G)} + B,   ℓ(G) = log₂|C(G)| + 1

    These differ from the printed text in four places. Theorem 1's T1 leaves out the B pulls of do() that
    Lemma 1 counts. Theorem 2 prints 2KB(d + C)·log₂ n, and its proof gives the line above. The proof of
    Theorem 3 has log₂|C(G)|, which is 0 for a component of a single clique although that is queried, and T1
    contains a d that isn't defined. A single variable takes one query, where the printed log₂ n is 0.
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
    """Return the bound of Theorems 1 to 3 on CN-UCB's regret after `horizon` rounds.

    Parameters
    ----------
    graph, n_states, batch, kind
        As in `exploration_bound`.
    horizon
        T, in rounds.

    Returns
    -------
    float
        Regret in units of the reward, summed over all rounds.

    Raises
    ------
    CausalBanditError
        As in `exploration_bound`, or if the horizon is not positive.

    Notes
    -----
    The bound is T1 + √(m·T·log T), where m = K arms for "tree" and "forest" and K·max_G ω(G) for "general".
    The second term stands for UCB's regret on m arms in the proofs, without its constants. With them it is
    8√(m·T·log T) + 3m for means in [0, 1] ([1]_, Theorem 7.2), about eight times as large.

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
    """Return the regret that every policy suffers on some instance of the families of Theorems 4 and 5.

    Parameters
    ----------
    n, n_states
        The number of variables n and the number of states K of each that can be set.
    horizon
        T, in rounds.
    noise_scale
        σ of the Gaussian rewards.

    Returns
    -------
    float
        σ·√(nKT)/8, in units of the reward, summed over all rounds.

    Raises
    ------
    CausalBanditError
        If nK < 3 or T < σ²nK/16. The proof puts the best arm's mean at (σ/4)·√(nK/T), which may not exceed 1.

    Notes
    -----
    The essential graphs E(D) differ between the instances, so E(D) alone would identify X_R. The bound
    therefore holds for learners without access to E(D).

    Examples
    --------
    >>> minimax_lower_bound(10, 10, 10_000)
    125.0
    """
    _check(n=n, n_states=n_states, horizon=horizon, noise_scale=noise_scale)
    arms = n * n_states
    if arms < 3 or horizon < noise_scale**2 * arms / 16:
        raise CausalBanditError(
            f"Expected at least 3 arms and σ²/16 rounds for each but found {arms} arms and {horizon} rounds: "
            f"the bound needs a larger problem or horizon"
        )
    return noise_scale * sqrt(arms * horizon) / 8


@dataclass(frozen=True)
class _Shape:
    """The quantities of a chain component that the bounds contain; cliques are maximal cliques."""

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
