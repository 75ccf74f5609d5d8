"""What a search has asked so far, what is known of the graph because of it, and which variables are left.

The searches differ in what they ask and in what they conclude; asking, directing edges by the answers,
ruling out and keeping the record are the same for all and done here.
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
    """One search's knowledge. No question is asked twice.

    Attributes
    ----------
    known
        The graph with its background and everything the answers showed, closed under Meek's rules. Answers
        that contradict what is known change nothing, so it always has a DAG that agrees with it.
    candidates
        The variables that can still be the reward's parent, as the keys of a dictionary, in node order.
    deepest
        The variable that was the last to move the reward; all candidates are then it and what is below it.
        None while none has.
    steps
        One for each question, in order.
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
        """Return whether `variable` moves the reward, after asking unless it is known; direct its edges."""
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
        # Children first: that a neighbour moved is evidence, that it didn't may be lack of it.
        children = [child for child in query.undecided if child in probe.children]
        for child in children:
            if self.known.has_line(query.variable, child):
                self.known.orient(query.variable, child)
        for parent in query.undecided:
            if self.known.has_line(parent, query.variable):
                self.known.orient(parent, query.variable)

    # -- ruling out ------------------------------------------------------------------------------------------

    def rule_out(self, variable: str, variables: Iterable[str], reason: str) -> None:
        """Strike `variables` off the candidates because of the answer about `variable`; `reason` says why."""
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
        """Return `variable`, whose edges must all be directed, and its descendants; of a candidate,
        candidates.

        Notes
        -----
        From such a variable every unshielded path starts with an arrow, so by rule 1 it is one of arrows
        only: what is below it is below it in every DAG left, and nothing learned later changes that.
        Between two candidates such a path leads over candidates only, so from one it isn't followed
        further.
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
        """Rule out what the answer about `variable` rules out.

        After a no, `variable` and what is below it; after a yes, everything else.
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
        """Go on to a further parent of the reward with `found` held: what a yes said has to be asked anew.

        After a no without it there is no parent below with it either.
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
        """Return the variables, apart from those held, that no answer of no speaks against."""
        return [node for node in self._position if node not in self._excluded and node not in self._fixed]

    # -- ending ----------------------------------------------------------------------------------------------

    def named(self, *reward_variables: str, note: str = "") -> SearchResult:
        """Return the result that names `reward_variables`."""
        return SearchResult(reward_variables, reward_variables, tuple(self.steps), note)

    def unnamed(self, note: str, candidates: Iterable[str] | None = None) -> SearchResult:
        """Return a result without a name: the `candidates` left (all of them by default), and why."""
        left = self.candidates if candidates is None else candidates
        return SearchResult((), self.in_order(left), tuple(self.steps), note)

    def in_order(self, variables: Iterable[str]) -> tuple[str, ...]:
        """Return `variables` in node order."""
        return tuple(sorted(variables, key=self._position.__getitem__))
