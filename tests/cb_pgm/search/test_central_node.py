import random
from collections.abc import Mapping

import networkx as nx
import pytest

from cb_pgm.search.central_node import branch, central_node


def heaviest_branch(tree: nx.Graph, node: int, weights: Mapping[int, int]) -> int:
    """The heaviest branch around a node, by Definition 2 itself."""
    rest = tree.subgraph(set(tree) - {node})
    return max((sum(weights[other] for other in part) for part in nx.connected_components(rest)), default=0)


@pytest.mark.parametrize("seed", range(200))
def test_no_branch_weighs_more_than_half(seed: int) -> None:
    rng = random.Random(seed)
    tree = nx.random_labeled_tree(rng.randint(1, 40), seed=seed)
    weights = {node: rng.choice([0, 0, 1, 1, 2, 7]) for node in tree}
    central = central_node({node: list(tree[node]) for node in tree}, weights)
    assert 2 * heaviest_branch(tree, central, weights) <= sum(weights.values())


def test_a_branch_of_exactly_half_ends_the_walk() -> None:
    # The printed "≥ 1/2" would walk to and fro between the two for ever.
    assert central_node({"A": "B", "B": "A"}, {"A": 1, "B": 1}) == "A"


def test_the_only_weight_is_central() -> None:
    path = {"A": "B", "B": "AC", "C": "BD", "D": "C"}
    for node in path:
        assert central_node(path, {node: 3.5}) == node


def test_without_weight_any_node_is_central() -> None:
    assert central_node({"A": "B", "B": "A"}, {}) == "A"


def test_long_paths_take_linear_time() -> None:
    n = 100_000
    path = {i: [j for j in (i - 1, i + 1) if 0 <= j < n] for i in range(n)}
    assert central_node(path, dict.fromkeys(path, 1)) in (n // 2 - 1, n // 2)


def test_a_branch_is_what_is_cut_off_by_an_edge() -> None:
    tree = nx.random_labeled_tree(30, seed=4)
    for node, other in tree.edges:
        cut = tree.copy()
        cut.remove_edge(node, other)
        assert set(branch(tree.adj, node, [other])) == nx.node_connected_component(cut, other)
