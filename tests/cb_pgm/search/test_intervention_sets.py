"""Possibly-optimal intervention sets: published examples, the definition, and systems that realise them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from cb_pgm.search.intervention_sets import CausalDiagram, interventional_border, muct, pomis_sets

Sets = set[tuple[str, ...]]
Edges = tuple[tuple[int, int], ...]
Hidden = tuple[tuple[int, ...], ...]

SIX = CausalDiagram.of(
    "STWZXY",
    [("Z", "X"), ("X", "Y"), ("W", "Y"), ("S", "W"), ("T", "X"), ("T", "Y")],
    [("X", "W"), ("Z", "Y")],
)


class TestPublishedExamples:
    """The tasks of Lee & Bareinboim (2018) and their code."""

    def test_instrument(self) -> None:
        diagram = CausalDiagram.of("ZXY", [("Z", "X"), ("X", "Y")], [("X", "Y")])
        assert muct(diagram, "Y") == {"X", "Y"}
        assert interventional_border(diagram, "Y") == {"Z"}
        assert set(pomis_sets(diagram, "Y")) == {("Z",), ("X",)}

    def test_four_variables(self) -> None:
        """Figure 3(a): do(), W alone, and W and X; never X alone, nor Z."""
        diagram = SIX.restricted("WZXY")
        assert muct(diagram, "Y") == {"W", "X", "Y", "Z"}
        assert interventional_border(diagram, "Y") == set()
        assert set(pomis_sets(diagram, "Y")) == {(), ("W",), ("W", "X")}

    def test_six_variables(self) -> None:
        assert muct(SIX, "Y") == {"W", "X", "Y", "Z"}
        assert interventional_border(SIX, "Y") == {"S", "T"}
        assert set(pomis_sets(SIX, "Y")) == {("S", "T"), ("T", "W"), ("T", "W", "X")}

    def test_without_hidden_causes_the_parents_alone(self) -> None:
        edges = [("X1", "Y"), ("X2", "Y"), ("Z1", "X1"), ("Z1", "X2"), ("Z2", "X1"), ("Z2", "X2")]
        diagram = CausalDiagram.of(["X1", "X2", "Z1", "Z2", "Y"], edges)
        assert muct(diagram, "Y") == {"Y"}
        assert pomis_sets(diagram, "Y") == (("X1", "X2"),)

    def test_a_variable_that_cannot_be_set_is_projected_out(self) -> None:
        """X ← U → Y, X → Y and Z → X: without X there is Z → Y with nothing hidden between them."""
        diagram = CausalDiagram.of("ZXY", [("Z", "X"), ("X", "Y")], [("X", "Y")]).without("X")
        assert diagram == CausalDiagram.of("ZY", [("Z", "Y")])
        fork = CausalDiagram.of("ABC", [("B", "A"), ("B", "C")]).without("B")
        assert fork == CausalDiagram.of("AC", [], [("A", "C")])
        spouse = CausalDiagram.of("ABC", [("B", "C")], [("A", "B")]).without("B")
        assert spouse == CausalDiagram.of("AC", [], [("A", "C")])


def graphs(most_observed: int) -> Iterator[tuple[Edges, Hidden]]:
    """Every DAG of at most so many variables and a reward, 0, with up to two hidden causes, up to renaming.

    Variables have numbers from 1. A hidden cause is its children. The reward has no children: what it causes
    doesn't matter.
    """
    for n in range(most_observed + 1):
        numbers = range(n + 1)
        forward = [(i, j) for i, j in itertools.permutations(range(1, n + 1), 2) if i < j]
        into_reward = [(i, 0) for i in range(1, n + 1)]
        causes = [c for size in range(2, n + 2) for c in itertools.combinations(numbers, size)]
        known = set()
        for edges in _subsets(forward + into_reward):
            for hidden in itertools.chain.from_iterable(
                itertools.combinations(causes, count) for count in range(3)
            ):
                if _smallest(n, edges, hidden) not in known:
                    known.add(_smallest(n, edges, hidden))
                    yield edges, hidden


def _smallest(n: int, edges: Edges, hidden: Hidden) -> object:
    renamings = ((0, *order) for order in itertools.permutations(range(1, n + 1)))
    return min(
        (
            tuple(sorted((to[i], to[j]) for i, j in edges)),
            tuple(sorted(tuple(sorted(to[i] for i in cause)) for cause in hidden)),
        )
        for to in renamings
    )


def _subsets(items: list[tuple[int, int]]) -> Iterator[Edges]:
    return itertools.chain.from_iterable(
        itertools.combinations(items, size) for size in range(len(items) + 1)
    )


def _diagram(edges: Edges, hidden: Hidden, n: int) -> CausalDiagram:
    names = [str(number) for number in range(n + 1)]
    return CausalDiagram.of(
        names,
        [(str(i), str(j)) for i, j in edges],
        [[str(number) for number in cause] for cause in hidden],
    )


def _size(edges: Edges, hidden: Hidden) -> int:
    return max((max(each) for each in (*edges, *hidden)), default=0)


def _by_definition(diagram: CausalDiagram, reward: str) -> Sets:
    """The borders of the diagrams in which any set of variables is cut (Theorem 6 of the paper)."""
    others = [name for name in diagram.parents if name != reward]
    sets = itertools.chain.from_iterable(
        itertools.combinations(others, size) for size in range(len(others) + 1)
    )
    borders = (interventional_border(diagram.cut(chosen), reward) for chosen in sets)
    return {tuple(name for name in diagram.parents if name in border) for border in borders}


@pytest.mark.parametrize("most", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_algorithm_finds_the_borders_of_all_cuts(most: int) -> None:
    for edges, hidden in graphs(most):
        diagram = _diagram(edges, hidden, _size(edges, hidden))
        assert set(pomis_sets(diagram, "0")) == _by_definition(diagram, "0"), (edges, hidden)


def test_the_algorithm_on_random_diagrams_of_six() -> None:
    rng = np.random.default_rng(0)
    for _ in range(150):
        edges = tuple((i, j) for i in range(1, 7) for j in (*range(i + 1, 7), 0) if rng.random() < 0.4)
        hidden = tuple(tuple(rng.choice(7, 2, replace=False)) for _ in range(4))
        diagram = _diagram(edges, hidden, 6)
        assert set(pomis_sets(diagram, "0")) == _by_definition(diagram, "0")


class _Systems:
    """Many random systems of one graph at once; hidden causes have two fair states.

    Variables are binary. Half of the systems have random tables. In the others every variable is a
    conjunction of up to three parities of some of its causes, now and then replaced by a coin.
    """

    def __init__(self, edges: Edges, hidden: Hidden) -> None:
        self.n = _size(edges, hidden)
        self.hidden = len(hidden)
        # A cause is an axis: variables first, then the hidden ones.
        self.causes = [
            [i for i, j in edges if j == v]
            + [self.n + 1 + number for number, below in enumerate(hidden) if v in below]
            for v in range(self.n + 1)
        ]

    def best_means(self, size: int, rng: np.random.Generator) -> dict[tuple[int, ...], np.ndarray]:
        """Return the mean of the best intervention on each set of variables, float64 [size]."""
        axes = self.n + 1 + self.hidden
        factors = []
        for v in range(self.n + 1):
            ones = self._table(size, len(self.causes[v]), rng)  # [size, states of causes]: P(v = 1)
            table = np.stack([1 - ones, ones], axis=-1)
            order = [*self.causes[v], v]
            shape = [size] + [2 if axis in order else 1 for axis in range(axes)]
            table = np.transpose(table, [0, *(1 + np.argsort(order))])
            factors.append(table.reshape(shape))
        best = {}
        for chosen in itertools.chain.from_iterable(
            itertools.combinations(range(1, self.n + 1), count) for count in range(self.n + 1)
        ):
            joint = np.full([size] + [1] * axes, 0.5**self.hidden)
            for v in range(self.n + 1):
                if v not in chosen:
                    joint = joint * factors[v]
            joint = np.broadcast_to(joint, [size] + [2] * axes)
            # A variable that is set is an axis of its own, whose states are the interventions.
            unset = tuple(1 + axis for axis in range(1, axes) if axis not in chosen)
            means = joint[:, 1].sum(axis=tuple(axis - 1 for axis in unset))
            best[chosen] = means.reshape(size, -1).max(axis=1)
        return best

    def _table(self, size: int, n_causes: int, rng: np.random.Generator) -> np.ndarray:
        states = np.indices([2] * n_causes).reshape(n_causes, -1) if n_causes else np.zeros((0, 1), int)
        half = size // 2
        dense = rng.random((half, states.shape[1]))
        sharp = np.ones((size - half, states.shape[1]))
        share = rng.choice([0.4, 0.6, 0.8], size=(size - half, 1))
        terms = rng.integers(1, 4, size=(size - half, 1))
        for term in range(3):
            masks = (rng.random((size - half, n_causes)) < share).astype(int)
            parity = (masks @ states + rng.integers(2, size=(size - half, 1))) % 2
            sharp = np.where(term < terms, sharp * parity, sharp)
        noise = rng.choice([0.0, 0.1, 1.0], p=[0.8, 0.1, 0.1], size=(size - half, 1))
        if not n_causes:
            noise[:] = 1.0
        return np.concatenate([dense, sharp * (1 - noise) + 0.5 * noise]).reshape([size] + [2] * n_causes)


def _brute_force(edges: Edges, hidden: Hidden) -> None:
    """Every POMIS beats all other minimal sets in some system, and no set ever beats all POMISs."""
    systems = _Systems(edges, hidden)
    diagram = _diagram(edges, hidden, systems.n)
    possible = [tuple(int(name) for name in names) for names in pomis_sets(diagram, "0")]
    unseen = set(possible)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        best = systems.best_means(300, rng)
        highest = np.max([best[chosen] for chosen in possible], axis=0)
        assert (np.max([*best.values()], axis=0) <= highest + 1e-9).all(), (edges, hidden, possible)
        minimal = [chosen for chosen in best if _is_minimal(diagram, chosen)]
        for chosen in list(unseen):
            rivals = [best[other] for other in minimal if other != chosen]
            if not rivals or (best[chosen] > np.max(rivals, axis=0) + 1e-3).any():
                unseen.remove(chosen)
        if not unseen:
            return
    raise AssertionError(f"no system was found in which {unseen} are the best: {edges, hidden}")


def _is_minimal(diagram: CausalDiagram, chosen: tuple[int, ...]) -> bool:
    """Whether each variable of the set still has a way to the reward while the others are set."""
    names = {str(number) for number in chosen}
    return names <= diagram.cut(names).ancestors({"0"})


def test_a_sample_of_graphs_against_brute_force() -> None:
    """All graphs of up to two variables beside the reward, and every 60th of three."""
    for number, (edges, hidden) in enumerate(graphs(3)):
        if _size(edges, hidden) <= 2 or number % 60 == 0:
            _brute_force(edges, hidden)


@pytest.mark.slow
def test_all_graphs_of_four_variables_against_brute_force() -> None:
    """The reward and up to three variables, with up to two hidden causes."""
    for edges, hidden in graphs(3):
        _brute_force(edges, hidden)


@pytest.mark.slow
def test_random_graphs_of_four_variables_and_a_reward_against_brute_force() -> None:
    rng = np.random.default_rng(0)
    pairs = [(i, j) for i in range(1, 5) for j in (*range(i + 1, 5), 0)]
    for _ in range(150):
        edges = tuple(pair for pair in pairs if rng.random() < 0.5)
        hidden = tuple(
            tuple(sorted(int(v) for v in rng.choice(5, rng.integers(2, 4), replace=False))) for _ in range(2)
        )
        _brute_force(edges, hidden)
