"""Where to intervene when hidden common causes are known: possibly-optimal minimal intervention sets (POMIS).

Terms, after [1]_. A causal diagram has directed edges and, between variables with a hidden common cause,
bidirected ones. A *district* (c-component) is a set of variables connected by bidirected edges. The *minimal
unobserved-confounders' territory* of the reward (MUCT) is the smallest set that has the reward, the districts
of its members and their descendants, among the reward's ancestors. The *interventional border* (IB) is the
parents of that territory outside of it. A set of variables is a POMIS if some system with this diagram has
its unique best intervention on exactly these variables. These sets are the interventional borders of the
diagrams in which some variables are cut from their causes (Proposition 2 and Theorem 6), and `pomis_sets`
lists them by Algorithm 1. Variables that can't be set are projected out first ([2]_).

References
----------
.. [1] S. Lee, E. Bareinboim, "Structural causal bandits: where to intervene?", NeurIPS 2018.
.. [2] S. Lee, E. Bareinboim, "Structural causal bandits with non-manipulable variables", AAAI 2019.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter

__all__ = ["CausalDiagram", "interventional_border", "muct", "pomis_sets"]


@dataclass(frozen=True)
class CausalDiagram:
    """Variables with directed edges, and bidirected ones between variables with a hidden common cause.

    Attributes
    ----------
    parents
        For each variable, in variable order, its parents.
    spouses
        For each variable the variables that a hidden common cause connects it with.

    Examples
    --------
    >>> diagram = CausalDiagram.of(["Z", "X", "Y"], [("Z", "X"), ("X", "Y")], [("X", "Y")])
    >>> sorted(diagram.ancestors({"X"})), sorted(diagram.district("X"))
    (['X', 'Z'], ['X', 'Y'])
    """

    parents: Mapping[str, frozenset[str]]
    spouses: Mapping[str, frozenset[str]]

    @classmethod
    def of(
        cls,
        variables: Iterable[str],
        edges: Iterable[tuple[str, str]],
        hidden_causes: Iterable[Collection[str]] = (),
    ) -> CausalDiagram:
        """Return the diagram with these (parent, child) edges and the children of each hidden cause."""
        names = tuple(variables)
        parents: dict[str, set[str]] = {name: set() for name in names}
        spouses: dict[str, set[str]] = {name: set() for name in names}
        for parent, child in edges:
            parents[child].add(parent)
        for children in hidden_causes:
            for one, other in itertools.permutations(children, 2):
                spouses[one].add(other)
        return cls(
            {name: frozenset(parents[name]) for name in names},
            {name: frozenset(spouses[name]) for name in names},
        )

    def restricted(self, variables: Collection[str]) -> CausalDiagram:
        """Return the diagram over `variables` only."""
        kept = frozenset(variables)
        return CausalDiagram(
            {name: above & kept for name, above in self.parents.items() if name in kept},
            {name: beside & kept for name, beside in self.spouses.items() if name in kept},
        )

    def cut(self, variables: Collection[str]) -> CausalDiagram:
        """Return the diagram under an intervention on `variables`: no edge points to any of them."""
        cut = frozenset(variables)
        none: frozenset[str] = frozenset()
        return CausalDiagram(
            {name: none if name in cut else above for name, above in self.parents.items()},
            {name: none if name in cut else beside - cut for name, beside in self.spouses.items()},
        )

    def without(self, variable: str) -> CausalDiagram:
        """Return the latent projection in which `variable` is hidden.

        Its parents become parents of its children, its children share a hidden cause with each other, and so
        do they with its spouses.
        """
        above, beside = self.parents[variable], self.spouses[variable]
        below = {name for name, parents in self.parents.items() if variable in parents}
        parents = {
            name: (self.parents[name] - {variable}) | (above if name in below else frozenset())
            for name in self.parents
            if name != variable
        }
        spouses = {}
        for name in parents:
            joined: frozenset[str] = self.spouses[name] - {variable}
            if name in below:
                joined |= below | beside
            if name in beside:
                joined |= below
            spouses[name] = joined - {name}
        return CausalDiagram(parents, spouses)

    def ancestors(self, variables: Collection[str]) -> frozenset[str]:
        """Return the ancestors of `variables`, these included."""
        return _reached(variables, self.parents)

    def descendants(self, variables: Collection[str]) -> frozenset[str]:
        """Return the descendants of `variables`, these included."""
        children: dict[str, set[str]] = {name: set() for name in self.parents}
        for child, parents in self.parents.items():
            for parent in parents:
                children[parent].add(child)
        return _reached(variables, children)

    def district(self, variable: str) -> frozenset[str]:
        """Return the variables that bidirected edges connect with `variable`, itself included."""
        return _reached({variable}, self.spouses)

    def backward_order(self) -> tuple[str, ...]:
        """Return the variables with every child before its parents."""
        return tuple(reversed(tuple(TopologicalSorter(self.parents).static_order())))


def muct(diagram: CausalDiagram, reward: str) -> frozenset[str]:
    """Return the minimal unobserved-confounders' territory of the reward, a set with the reward in it.

    Examples
    --------
    >>> instrument = CausalDiagram.of("ZXY", [("Z", "X"), ("X", "Y")], [("X", "Y")])
    >>> sorted(muct(instrument, "Y")), sorted(interventional_border(instrument, "Y"))
    (['X', 'Y'], ['Z'])
    """
    above = diagram.restricted(diagram.ancestors({reward}))
    territory: frozenset[str] = frozenset()
    added = frozenset({reward})
    while added:
        territory |= added
        districts = frozenset().union(*(above.district(name) for name in added))
        added = above.descendants(districts) - territory
    return territory


def interventional_border(diagram: CausalDiagram, reward: str) -> frozenset[str]:
    """Return the parents of the reward's territory (`muct`) that aren't in it."""
    return _border(diagram, muct(diagram, reward))


def pomis_sets(diagram: CausalDiagram, reward: str) -> tuple[tuple[str, ...], ...]:
    """Return all possibly-optimal minimal intervention sets, smallest first, in variable order.

    Without hidden common causes the only one is the reward's parents. The empty set is do(). Their number may
    be exponential in the number of variables that share hidden causes.

    Examples
    --------
    >>> pomis_sets(CausalDiagram.of("ZXY", [("Z", "X"), ("X", "Y")], [("X", "Y")]), "Y")
    (('Z',), ('X',))
    """
    diagram = diagram.restricted(diagram.ancestors({reward}))
    territory = muct(diagram, reward)
    border = _border(diagram, territory)
    inner = diagram.cut(border).restricted(territory | border)
    order = [name for name in inner.backward_order() if name in territory and name != reward]
    found = {border, *_below(inner, reward, order, frozenset())}
    place = {name: number for number, name in enumerate(diagram.parents)}
    ordered = (tuple(sorted(names, key=place.__getitem__)) for names in found)
    return tuple(sorted(ordered, key=lambda names: (len(names), [place[name] for name in names])))


def _below(
    diagram: CausalDiagram, reward: str, order: list[str], seen: frozenset[str]
) -> Iterator[frozenset[str]]:
    """Yield the borders that cuts at variables of `order` lead to (subPOMISs of Algorithm 1).

    A border with a variable in `seen` is found elsewhere, where that variable was cut first.
    """
    for number, variable in enumerate(order):
        territory = muct(diagram.cut({variable}), reward)
        border = _border(diagram.cut({variable}), territory)
        seen_now = seen | frozenset(order[:number])
        if border & seen_now:
            continue
        yield border
        left = [name for name in order[number + 1 :] if name in territory]
        if left:
            inner = diagram.cut(border).restricted(territory | border)
            yield from _below(inner, reward, left, seen_now)


def _border(diagram: CausalDiagram, territory: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(diagram.parents[name] for name in territory)) - territory


def _reached(start: Collection[str], steps: Mapping[str, Collection[str]]) -> frozenset[str]:
    reached, left = set(start), list(start)
    while left:
        fresh = set(steps[left.pop()]) - reached
        reached |= fresh
        left.extend(fresh)
    return frozenset(reached)
