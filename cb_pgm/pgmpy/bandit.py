"""`CausalBanditModel` and `CausalBanditPolicy`, with the names and verbs that pgmpy has proposed.

A policy is a session in memory (`cb_pgm.session.state`): what it asks for and learns is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import networkx as nx

from cb_pgm.errors import CausalBanditError, SessionError
from cb_pgm.policies.registry import policy_kind
from cb_pgm.session.beginning import prepare
from cb_pgm.session.events import Told
from cb_pgm.session.rows import check_rows, read_rows
from cb_pgm.session.setup import Beginning, Setup
from cb_pgm.session.state import SessionState
from cb_pgm.session.status import Status, status_of
from discovery import EssentialGraph
from discovery.wording import did_you_mean, in_python

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CausalBanditModel", "CausalBanditPolicy"]


class CausalBanditModel:
    """The variables, the reward and the interventions of a causal bandit.

    Parameters
    ----------
    causal_model
        A pgmpy network, whose states are then known; or a DAG; or None where the graph is unknown. Its edges
        serve the policies that work on a graph.
    reward_variable
        "R" for a numeric reward, or "R=state" for a reward of 1 in that state of R and 0 in others.
    intervenable_variables
        The variables that can be set.
    intervention_type
        "hard": a variable is set to one state.

    Raises
    ------
    CausalBanditError
        If the type of the interventions is another one, or a variable isn't in the model.
    """

    def __init__(
        self,
        causal_model: nx.DiGraph[str] | None,
        reward_variable: str,
        intervenable_variables: Sequence[str],
        intervention_type: str = "hard",
    ) -> None:
        if intervention_type != "hard":
            raise CausalBanditError(
                f'Expected intervention_type "hard" but found {intervention_type!r}: a variable can only be '
                f"set to a state"
            )
        self.causal_model = causal_model
        self.reward_variable = reward_variable
        self.intervenable_variables = tuple(intervenable_variables)
        self.intervention_type = intervention_type
        if causal_model is not None:
            for variable in self.intervenable_variables:
                self._check(variable, list(map(str, causal_model.nodes)))
        self._space: dict[str, tuple[str, ...]] = {}

    @property
    def reward_column(self) -> str:
        """The name of the reward's column."""
        return self.reward_variable.partition("=")[0].strip()

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """The states of the model's nodes, as text; empty where the model has no tables."""
        names: Mapping[str, Sequence[object]] = getattr(self.causal_model, "states", {})
        return {str(node): tuple(map(str, states)) for node, states in names.items()}

    def set_intervention_space(self, intervention_space: Mapping[str, Sequence[object]]) -> None:
        """Restrict the states that each variable can be set to; a variable that isn't named keeps all.

        Raises
        ------
        CausalBanditError
            If a variable can't be set, or a state isn't one of the model's.
        """
        space = {name: tuple(map(str, values)) for name, values in intervention_space.items()}
        for variable, values in space.items():
            self._check(variable, self.intervenable_variables)
            known = self.states.get(variable)
            for value in values:
                if known is not None and value not in known:
                    raise CausalBanditError(
                        f"Expected states of {variable!r} but found {value!r}: {did_you_mean(value, known)}"
                    )
        self._space = space

    def get_possible_interventions(self) -> list[dict[str, str]]:
        """Return every intervention on one variable, with those of the variables in their order.

        Raises
        ------
        CausalBanditError
            If the states of a variable aren't known.
        """
        possible = []
        for variable in self.intervenable_variables:
            states = self._space.get(variable) or self.states.get(variable)
            if states is None:
                raise CausalBanditError(
                    f"Expected known states of {variable!r} but found none: give a network with tables, or "
                    f"call set_intervention_space"
                )
            possible += [{variable: state} for state in states]
        return possible

    def settable(self, states: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """Return the states that can be set, of the given states of all variables."""
        return {
            variable: tuple(self._space.get(variable, states[variable]))
            for variable in states
            if variable in self.intervenable_variables
        }

    def _check(self, variable: str, known: Sequence[str]) -> None:
        if variable not in known:
            raise CausalBanditError(
                f"Expected a variable of the model but found {variable!r}: {did_you_mean(variable, known)}"
            )


class CausalBanditPolicy:
    """A policy for the interventions of a model.

    Parameters
    ----------
    model
        The variables, reward and interventions.
    objective
        "maximize" or "minimize" the mean reward.
    budget
        The number of rows to ask for in all.
    policy
        A name from `cb_pgm.policies.registry.POLICIES`.
    seed
        Seed of the policy.
    """

    def __init__(
        self,
        model: CausalBanditModel,
        objective: Literal["maximize", "minimize"] = "maximize",
        budget: int = 1_000,
        *,
        policy: str = "screening",
        seed: int | None = None,
    ) -> None:
        if objective not in ("maximize", "minimize"):
            raise CausalBanditError(
                f'Expected the objective "maximize" or "minimize" but found {objective!r}: choose one of them'
            )
        self.model = model
        self.objective = objective
        self.budget = budget
        self.policy = policy
        self.seed = seed
        self._state: SessionState | None = None

    def fit(self, observational_data: pd.DataFrame | None = None) -> Self:
        """Begin: learn from observations, from which a graph is estimated where the policy needs one.

        Parameters
        ----------
        observational_data
            One row an observation, with all variables and the reward; None where there are none. Then the
            states come from the model.

        Raises
        ------
        CausalBanditError, DiscoveryError
            If the data or the settings aren't valid, or the states aren't known.
        """
        beginning = self._beginning(observational_data)
        settings = replace(beginning.settings, settable=self.model.settable(beginning.settings.states))
        state = SessionState(settings)
        for earlier in beginning.earlier:
            state.apply(earlier)
        self._state = state
        return self

    def select_action(self) -> dict[str, str]:
        """Return the intervention to make next; the same until `update`. Empty: only observe.

        Raises
        ------
        CausalBanditError
            If `fit` wasn't called, or the budget is used up.
        """
        state = self._fitted()
        if not state.open:
            if not state.can_ask:
                raise CausalBanditError(f"Expected rows left of the budget but found that {state.over}")
            state.apply(state.propose(1), asked=True)
        (pull,) = state.open.values()
        return dict(pull.intervention)

    def update(self, outcome: pd.DataFrame | Mapping[str, object], *, allow_unknown: bool = False) -> Self:
        """Learn from what was measured under the intervention that `select_action` returned.

        Parameters
        ----------
        outcome
            One row with every variable and the reward, as a mapping or as a data frame of as many rows as
            were asked for.
        allow_unknown
            Accept empty fields and unknown states of variables that weren't set, if the policy can use such
            rows.

        Raises
        ------
        CausalBanditError
            If no intervention was asked for, or a field doesn't fit.
        """
        state = self._fitted()
        if not state.open:
            raise CausalBanditError("Expected an intervention to be open but found none: call select_action")
        (pull,) = state.open.values()
        rows = [outcome] if isinstance(outcome, Mapping) else outcome.to_dict("records")
        given = read_rows([{str(name): value for name, value in row.items()} for row in rows])
        try:
            checked = check_rows(given, state.settings, pull, allow_unknown=allow_unknown)
        except SessionError as error:
            raise SessionError(in_python(str(error))) from None
        state.apply(Told(pull.number, checked, False, given.table.sha256))
        return self

    def status(self) -> Status:
        """Return what is known so far: the identified causes, the best arm and its interval."""
        return status_of(self._fitted())

    def _fitted(self) -> SessionState:
        if self._state is None:
            raise CausalBanditError("Expected a fitted policy but found one without states: call fit first")
        return self._state

    def _beginning(self, data: pd.DataFrame | None) -> Beginning:
        common: dict[str, Any] = {
            "horizon": self.budget,
            "policy": self.policy,
            "reward": self.model.reward_variable,
            "minimize": self.objective == "minimize",
            "seed": self.seed,
        }
        if data is None:
            return prepare(Setup(states=self.model.states, **common))
        graph = self._graph() if policy_kind(self.policy).needs_graph else None
        return prepare(Setup(data=data, graph=graph, **common))

    def _graph(self) -> EssentialGraph | None:
        """Return the essential graph of the model without its reward; None where it has no edges."""
        model = self.model.causal_model
        if model is None or not model.edges:
            return None
        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(node for node in model.nodes if node != self.model.reward_column)
        dag.add_edges_from(edge for edge in model.edges if self.model.reward_column not in edge)
        return EssentialGraph.from_dag(dag)
