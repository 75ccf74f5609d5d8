"""The state of a search: the queries so far, the edges that the answers directed, and the candidates left.

The searches differ in their queries and in their conclusions. All of them query, direct edges by the answers,
rule out candidates and keep a record in the same way, which is implemented here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace

from cb_pgm.search.query import Probe, Query, SearchResult, Step
from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["NOTHING_MOVED", "SearchState"]

#: The note of a search that found no ancestor of the reward at all.
NOTHING_MOVED = "no variable moved the reward"


class SearchState:
    """The knowledge of one search. No variable is queried twice while the same variables are held.

    Attributes
    ----------
    known
        The graph with its background knowledge and every edge that the answers directed, closed under Meek's
        rules. Answers that contradict it are ignored, so at least one DAG always agrees with it.
    candidates
        The variables that can still be the reward's parent: the keys of a dictionary, in node order.
    deepest
        The last variable that moved the reward. All candidates are then this variable or descendants of it.
        None before any variable has moved the reward.
    steps
        One `Step` per query, in order.
    """

    def __init__(self, graph: EssentialGraph) -> None:
        self.known = graph.closure()
        self.candidates: dict[str, None] = dict.fromkeys(graph.nodes)
        self.deepest: str | None = None
        self.steps: list[Step] = []
        self._position = {node: position for position, node in enumerate(graph.nodes)}
        self._step_of: dict[str, int] = {}
        self._fixed: dict[str, None] = {}
        self._excluded: set[str] = set()

    # -- asking ----------------------------------------------------------------------------------------------

    def ask(self, variable: str) -> Generator[Query, Probe, bool]:
        """Yield the query about `variable` unless it was answered before; return whether it moves the reward.

        The answer also directs all edges of `variable`.
        """
        if variable not in self._step_of:
            query = Query(variable, self.in_order(self.known.neighbours(variable)), dict(self._fixed))
            answer = yield query
            probe = Probe(
                answer.is_ancestor, (child for child in query.undecided if child in answer.children)
            )
            self._step_of[variable] = len(self.steps)
            self.steps.append(Step(query, probe, (), ""))
            self._direct(query, probe)
        return self.steps[self._step_of[variable]].probe.is_ancestor

    def asked(self, variable: str) -> bool:
        """Return whether the answer about `variable` is known."""
        return variable in self._step_of

    def _direct(self, query: Query, probe: Probe) -> None:
        # Children first: a neighbour that moved is evidence, one that didn't may only lack evidence.
        children = [child for child in query.undecided if child in probe.children]
        for child in children:
            if self.known.has_line(query.variable, child):
                self.known.orient(query.variable, child)
        for parent in query.undecided:
            if self.known.has_line(parent, query.variable):
                self.known.orient(parent, query.variable)

    # -- ruling out ------------------------------------------------------------------------------------------

    def rule_out(self, variable: str, variables: Iterable[str], reason: str) -> None:
        """Remove `variables` from the candidates after the answer about `variable`; record the reason."""
        ruled_out = self.in_order({other for other in variables if other in self.candidates})
        for candidate in ruled_out:
            del self.candidates[candidate]
        step = self.steps[self._step_of[variable]]
        if ruled_out or not step.reason:
            self.steps[self._step_of[variable]] = replace(
                step,
                ruled_out=step.ruled_out + ruled_out,
                reason=f"{step.reason}; {reason}" if step.reason else reason,
            )

    def below(self, variable: str) -> set[str]:
        """Return `variable`, whose edges must all be directed, and its descendants.

        If `variable` is a candidate, only the candidates among them are returned.

        Notes
        -----
        From such a variable every unshielded path starts with a directed edge, so by Meek's rule 1 all its
        edges are directed. Its descendants are therefore the same in every remaining DAG, and no later
        answer changes them. Between two candidates such a path passes through candidates only, so the search
        for descendants of a candidate need not leave the candidates.
        """
        if variable not in self.candidates:
            return self.known.descendants(variable)
        reached, frontier = {variable}, [variable]
        while frontier:
            for child in self.known.children(frontier.pop()):
                if child in self.candidates and child not in reached:
                    reached.add(child)
                    frontier.append(child)
        return reached

    def conclude(self, variable: str, moves: bool) -> None:
        """Draw the conclusion from the answer about `variable` that holds for every search.

        After a no, rule out `variable` and its descendants. After a yes, rule out all other variables.
        """
        below = self.below(variable)
        if moves:
            self.deepest = variable
            others = [candidate for candidate in self.candidates if candidate not in below]
            reason = f"{variable} moves the reward, so its parent is {variable} or below it"
            self.rule_out(variable, others, reason)
        else:
            self._excluded |= below
            reason = f"{variable} doesn't move the reward, so its parent isn't {variable} nor below it"
            self.rule_out(variable, below, reason)

    def hold(self, found: str) -> None:
        """Start the search for a further parent of the reward, with the parent `found` held from now on.

        Variables that were answered yes are candidates again and have to be queried anew. A no stays valid: a
        variable without a parent of the reward below it has none either while `found` is held.
        """
        self._fixed[found] = None
        self._step_of = {
            variable: step
            for variable, step in self._step_of.items()
            if not self.steps[step].probe.is_ancestor
        }
        self.candidates = dict.fromkeys(self.not_excluded())
        self.deepest = None

    def not_excluded(self) -> list[str]:
        """Return the variables, apart from those held, that no answer of no has ruled out."""
        return [node for node in self._position if node not in self._excluded and node not in self._fixed]

    # -- ending ----------------------------------------------------------------------------------------------

    def named(self, *reward_variables: str, note: str = "") -> SearchResult:
        """Return the result that identifies `reward_variables`."""
        return SearchResult(reward_variables, reward_variables, tuple(self.steps), note)

    def unnamed(self, note: str, candidates: Iterable[str] | None = None) -> SearchResult:
        """Return a result that identifies no parent; `note` gives the reason.

        Parameters
        ----------
        note
            The reason, in words.
        candidates
            The variables that remain possible; None: all candidates of this state.
        """
        left = self.candidates if candidates is None else candidates
        return SearchResult((), self.in_order(left), tuple(self.steps), note)

    def in_order(self, variables: Iterable[str]) -> tuple[str, ...]:
        """Return `variables` in node order."""
        return tuple(sorted(variables, key=self._position.__getitem__))
