"""What a search has asked so far, what is known of the graph because of it, and which variables are left.

The searches differ in what they ask and in what they conclude; asking, directing edges by the answers,
ruling out and keeping the record are the same for all and done here.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from dataclasses import replace

from cb_pgm.search.query import Probe, Query, SearchResult, Step
from discovery.essential_graph import EssentialGraph

__all__ = ["NOTHING_MOVED", "Inquiry"]

#: The note of a search that found no ancestor of the reward at all.
NOTHING_MOVED = "no variable moved the reward"


class Inquiry:
    """One search's knowledge. No question is asked twice.

    Attributes
    ----------
    known
        The graph with its background and everything the answers showed, closed under Meek's rules. Answers
        that contradict what is known change nothing, so it always has a DAG that agrees with it.
    candidates
        The variables that can still be the reward's parent, as the keys of a dictionary, in node order.
    steps
        One for each question, in order.
    """

    def __init__(self, graph: EssentialGraph) -> None:
        self.known = graph.closure()
        self.candidates: dict[str, None] = dict.fromkeys(graph.nodes)
        self.steps: list[Step] = []
        self._position = {node: position for position, node in enumerate(graph.nodes)}
        self._step_of: dict[str, int] = {}

    # -- asking ----------------------------------------------------------------------------------------------

    def ask(self, variable: str) -> Generator[Query, Probe, bool]:
        """Return whether `variable` moves the reward, after asking unless it is known; direct its edges."""
        if variable not in self._step_of:
            query = Query(variable, self.in_order(self.known.neighbours(variable)))
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

    def rule_out_below(self, variable: str) -> None:
        """A no: strike `variable` off, and all its descendants."""
        self.rule_out(
            variable,
            self.known.descendants(variable),
            f"{variable} doesn't move the reward, so the reward's parent isn't it nor below it",
        )

    def rule_out_all_but(self, variable: str, others: Collection[str]) -> None:
        """A yes: strike off everything except `others`, `variable` and what may be below it."""
        self.rule_out(
            variable,
            [candidate for candidate in self.candidates if candidate not in others],
            f"{variable} moves the reward, so the reward's parent is {variable} or below it",
        )

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
