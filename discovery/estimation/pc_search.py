"""Run PC: causal-learn's PC-stable, with a test from this package.

The search is causal-learn's own function ``pc``; `run_pc` calls it. It orients any skeleton (``uc_rule``,
``uc_priority``, Meek's rules). Its own skeleton phase, which takes most of the time, is replaced by
`skeleton.stable_skeleton`, which comes to the same skeleton: on 200 columns PC is 15 times as fast with this
test and skeleton. causal-learn's also makes v-structures of forbidden pairs, whether or not it has tested
them.

A variable with dozens of neighbours makes PC test millions of sets. After `allowed_tests` tests it starts
again with smaller conditioning sets; the results of earlier tests are kept. At the end of a time limit it
does so too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discovery.estimation.causal_learn import MixedGraph, Pair, patched, read_matrix
from discovery.estimation.skeleton import Skeleton, stable_skeleton
from discovery.estimation.watch import SearchStopped, Watch

__all__ = ["PCSettings", "allowed_tests", "run_pc"]

PValue = Callable[[int, int, tuple[int, ...]], float]

_TEST_NAME = "counted G-square"
_HOOK_MOVED = (
    "this version of causal-learn takes tests in another way than the versions known here: PC ran with its "
    "own G² test, which is slow"
)


@dataclass(frozen=True)
class PCSettings:
    """The settings of PC.

    Attributes
    ----------
    alpha
        Two variables count as independent if the p-value of their test is above this level.
    uc_rule, uc_priority
        causal-learn's rules: how v-structures are found, and which one is kept where two disagree.
    max_conditions
        The size of the largest conditioning sets, at least 1; None: no limit.
    required, forbidden
        Pairs of column numbers that are adjacent, or not adjacent, whatever the data say.
    """

    alpha: float = 0.01
    uc_rule: int = 2
    uc_priority: int = 2
    max_conditions: int | None = None
    required: tuple[Pair, ...] = ()
    forbidden: tuple[Pair, ...] = ()


def allowed_tests(n_variables: int) -> int:
    """Return the number of different tests after which PC starts again with smaller conditioning sets."""
    return max(200_000, 10 * n_variables**2)


def run_pc(
    codes: NDArray[np.integer], p_value: PValue, settings: PCSettings, watch: Watch | None = None
) -> MixedGraph:
    """Return the graph that causal-learn's PC finds with the p-values ``p_value(x, y, given)``.

    Parameters
    ----------
    codes
        int [N, n], the index of each variable's state in each row.
    p_value
        The p-value of the test that x and y are independent given a tuple of variables, by column number.
    settings
        The settings of PC.
    watch
        May end the tests of larger sets; those given at most one variable are always made.
    """
    tests = _RememberedTests(p_value, allowed_tests(codes.shape[1]), watch or Watch())
    limit, notes = settings.max_conditions, []
    while True:
        try:
            matrix, used = _one_run(codes, tests, settings, limit)
        except _TooManyTests as reached:
            limit = max(1, min(reached.conditions, limit or reached.conditions) - 1)
            tests.start_again(unlimited=limit == 1 or tests.stopped)
            notes = (
                []
                if tests.stopped
                else [
                    f"PC left out conditioning sets larger than {limit} after {tests.allowed:,} tests, since "
                    "some variable has very many neighbours: try GES, which has no such limit"
                ]
            )
        else:
            return read_matrix(matrix, *notes, *([] if used else [_HOOK_MOVED]))


def _one_run(
    codes: NDArray[np.integer], tests: _RememberedTests, settings: PCSettings, limit: int | None
) -> tuple[NDArray[np.integer], bool]:
    """Return causal-learn's matrix of the graph, and whether it used the given test."""
    module = import_module("causallearn.search.ConstraintBased.PC")
    skeletons = import_module("causallearn.utils.PCUtils.SkeletonDiscovery")
    cit = import_module("causallearn.utils.cit")
    graph_class = _graph_class(skeletons.CausalGraph, limit, tests.allowed)
    replacements = {
        "CausalGraph": graph_class,
        "skeleton_discovery": _skeleton_phase(graph_class, tests, settings, limit),
    }
    registry = dict(getattr(cit, "_custom_ci_tests", {}))
    with patched((skeletons, replacements), (cit, {"_custom_ci_tests": registry})):
        can_register = hasattr(cit, "register_ci_test")
        if can_register:
            cit.register_ci_test(_TEST_NAME, _test_class(cit.CIT_Base, tests))
        found = module.pc(
            codes,
            settings.alpha,
            _TEST_NAME if can_register else "gsq",
            uc_rule=settings.uc_rule,
            uc_priority=settings.uc_priority,
            max_k=limit,
            show_progress=False,
        )
    return found.G.graph, can_register


class _TooManyTests(Exception):
    def __init__(self, conditions: int) -> None:
        super().__init__(conditions)
        self.conditions = conditions


class _RememberedTests:
    """p-values, each computed once.

    Raises `_TooManyTests` when more than `allowed` are needed, or the watch ends those given two or more.
    """

    def __init__(self, p_value: PValue, allowed: int, watch: Watch) -> None:
        self.allowed = allowed
        self.stopped = False
        self._watch = watch
        self._p_value = p_value
        self._p_values: dict[tuple[int, int, tuple[int, ...]], float] = {}
        self._left: float = allowed

    def __call__(self, x: int, y: int, given: tuple[int, ...]) -> float:
        key = (x, y, given) if x < y else (y, x, given)
        if key not in self._p_values:
            if self._left <= 0:
                raise _TooManyTests(len(given))
            self._left -= 1
            if len(given) > 1 and not self.stopped:
                try:
                    self._watch.tick(f"PC tests given {len(given)} variables")
                except SearchStopped:
                    self.stopped = True
                    raise _TooManyTests(len(given)) from None
            self._p_values[key] = self._p_value(*key)
        return self._p_values[key]

    def start_again(self, *, unlimited: bool) -> None:
        self._left = float("inf") if unlimited else self.allowed


def _test_class(base: Any, tests: _RememberedTests) -> Any:
    class CountedGSquare(base):  # type: ignore[misc]
        method = _TEST_NAME

        def __init__(self, data: Any, **_: Any) -> None:
            super().__init__(data)
            self.method = _TEST_NAME

        def __call__(self, x: Any, y: Any, condition_set: Any = None) -> float:
            return tests(int(x), int(y), tuple(sorted(map(int, condition_set or ()))))

        def __deepcopy__(self, _memo: Any) -> CountedGSquare:
            return self

    return CountedGSquare


def _graph_class(base: Any, limit: int | None, allowed: int) -> Any:
    class BoundedGraph(base):  # type: ignore[misc]
        """causal-learn's graph, with conditioning sets for v-structures up to the limit only."""

        def find_cond_sets(self, i: Any, j: Any) -> list[tuple[Any, ...]]:
            sides = [list(self.neighbors(node)) for node in (i, j)]
            largest = max(map(len, sides)) if limit is None else limit
            listed = 0
            for size in range(largest + 1):
                listed += sum(comb(len(side), size) for side in sides)
                if listed > allowed and size > 1:
                    raise _TooManyTests(size)
            sets = (s for side in sides for size in range(largest + 1) for s in combinations(side, size))
            return list(dict.fromkeys(sets))

    return BoundedGraph


def _skeleton_phase(
    graph_class: Any, tests: _RememberedTests, settings: PCSettings, limit: int | None
) -> Callable[..., Any]:
    """Return the function that replaces causal-learn's ``skeleton_discovery``."""

    def skeleton_discovery(data: Any, alpha: float, indep_test: Any, *_: Any, **__: Any) -> Any:
        n = data.shape[1]
        skeleton = stable_skeleton(
            n,
            tests,
            alpha,
            max_conditions=limit,
            all_separators=settings.uc_rule == 0,
            required=settings.required,
            forbidden=settings.forbidden,
        )
        graph = graph_class(n)
        graph.set_ind_test(indep_test)
        graph.G.graph[:] = 0
        for x, others in enumerate(skeleton.neighbours):
            graph.G.graph[x, list(others)] = -1
        separators = skeleton.separators | dict(_separators_of_forbidden(skeleton, tests, settings, limit))
        for (x, y), separator in separators.items():
            graph.sepset[x, y] = graph.sepset[y, x] = [tuple(sorted(separator))]
        return graph

    return skeleton_discovery


def _separators_of_forbidden(
    skeleton: Skeleton, tests: _RememberedTests, settings: PCSettings, limit: int | None
) -> Iterator[tuple[Pair, frozenset[int]]]:
    """Yield for each forbidden pair the union of its smallest separating sets.

    The skeleton phase hasn't tested these pairs. If no set separates a pair, the set of all variables is its
    separating set: then the pair makes no v-structure, for which there is no evidence in the data.
    """
    if settings.uc_rule != 0:
        return
    for x, y in settings.forbidden:
        sides = [skeleton.neighbours[node] for node in (x, y)]
        largest = min(max(map(len, sides)), limit if limit is not None else len(skeleton.neighbours))
        found: frozenset[int] | None = None
        for size in range(largest + 1):
            for given in (s for side in sides for s in combinations(side, size)):
                if tests(x, y, given) > settings.alpha:
                    found = (found or frozenset()) | frozenset(given)
            if found is not None:
                break
        yield (x, y), found if found is not None else frozenset(range(len(skeleton.neighbours)))
