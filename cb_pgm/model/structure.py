"""What a causal system consists of: its variables, hidden ones among them, its reward, graphs and network.

`SystemStructure` is the part of `cb_pgm.model.system.CausalSystem` that can be said without any inference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.intervention import States
from cb_pgm.model.names import checked_hidden, checked_settable, codes_of
from cb_pgm.model.observed_graph import ObservedGraph, observed_graph
from cb_pgm.model.pgmpy_networks import add_reward, intervened, network_of_model
from discovery.wording import listed

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

    from discovery import EssentialGraph

__all__ = ["SystemStructure"]


class SystemStructure:
    """The variables, reward, graphs and network of a system; `CausalSystem` says how it is made."""

    def _set(
        self, model: DiscreteModel, reward: Reward, settable: States | None, hidden: Sequence[str]
    ) -> None:
        self._model = model
        self._reward = reward
        self._hidden = checked_hidden(model, hidden)
        self._states = {name: states for name, states in model.states.items() if name not in self._hidden}
        if not self._states:
            raise CausalSystemError("Expected at least one variable besides the reward but found none")
        self._settable = checked_settable(self._states, settable)
        self._shown = [model.index[name] for name in self._states]

    @property
    def model(self) -> DiscreteModel:
        """The variables, their parents and their tables as arrays, the hidden variables among them."""
        return self._model

    @property
    def reward(self) -> Reward:
        """The reward's parents, hidden ones among them, by number, its means and its noise."""
        return self._reward

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """Every observed variable's states, in the order in which observations code them."""
        return dict(self._states)

    @property
    def settable(self) -> dict[str, tuple[str, ...]]:
        """The states that can be set, of the variables that can be set."""
        return dict(self._settable)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The hidden variables, in variable order."""
        return tuple(name for name in self._model.variables if name in self._hidden)

    @property
    def hidden_common_causes(self) -> dict[str, tuple[str, ...]]:
        """For each hidden common cause of observed variables these variables; {} if there is a true graph."""
        names = self._model.variables
        return {
            names[cause]: tuple(names[v] for v in below)
            for cause, below in self._observed_graph.common_causes.items()
        }

    @property
    def hidden_confounders(self) -> tuple[str, ...]:
        """The hidden common causes of observed variables, or of one and the reward, in variable order."""
        return tuple(self._model.variables[v] for v in self._observed_graph.confounders)

    @property
    def reward_parents(self) -> tuple[str, ...]:
        """The observed variables that cause the reward directly or through hidden ones only, in order."""
        return tuple(self._model.variables[v] for v in self._observed_graph.reward_parents)

    @property
    def hidden_reward_parents(self) -> tuple[str, ...]:
        """The hidden variables that the reward depends on directly, in variable order."""
        names = (self._model.variables[v] for v in self._reward.parents)
        return tuple(name for name in names if name in self._hidden)

    @property
    def noise_scale(self) -> float:
        """σ for which the reward is σ-subgaussian about its mean under every arm and under do()."""
        return self._reward.noise_scale

    @property
    def conditional_noise_scale(self) -> float:
        """σ for which the reward is σ-subgaussian about its mean given the states of its observed parents."""
        if self._reward.noise is None or not self.hidden_reward_parents:
            return self._reward.conditional_noise_scale
        unseen = tuple(
            axis for axis, v in enumerate(self._reward.parents) if self._model.variables[v] in self._hidden
        )
        spread = self._reward.means.max(axis=unseen) - self._reward.means.min(axis=unseen)
        return math.hypot(self._reward.noise, float(spread.max()) / 2)

    @cached_property
    def _observed_graph(self) -> ObservedGraph:
        hidden = frozenset(self._model.index[name] for name in self._hidden)
        return observed_graph(self._model, self._reward, hidden)

    @cached_property
    def dag(self) -> nx.DiGraph[str]:
        """The causal graph over the observed variables, without the reward.

        An edge may stand for a path through hidden variables. What hidden common causes do isn't in it.
        """
        dag: nx.DiGraph[str] = nx.DiGraph()
        names = self._model.variables
        dag.add_nodes_from(self._states)
        dag.add_edges_from((names[parent], names[child]) for parent, child in self._observed_graph.edges)
        return dag

    @cached_property
    def _essential_graph(self) -> EssentialGraph:
        from discovery import EssentialGraph  # late, as it imports what estimation needs

        for cause, below in self.hidden_common_causes.items():
            raise CausalSystemError(
                f"Expected hidden variables with at most one observed child each but found {cause!r}, which "
                f"causes {listed(below)}: no graph over observed variables is true, play without one"
            )
        return EssentialGraph.from_dag(self.dag)

    def essential_graph(self) -> EssentialGraph:
        """Return the essential graph of `dag`: what infinitely many observations tell of it.

        Raises
        ------
        CausalSystemError
            If a hidden variable is a common cause of observed ones (`hidden_common_causes`): then no such
            graph is true.
        """
        return self._essential_graph

    def true_graph(self) -> EssentialGraph | None:
        """Return `essential_graph`, or None where a hidden common cause makes every such graph untrue."""
        return None if self.hidden_common_causes else self._essential_graph

    @property
    def reward_node(self) -> str:
        """The reward's name in `network`: "reward", with as many "_" as set it apart from the variables."""
        name = "reward"
        while name in self._model.index:
            name += "_"
        return name

    def network(self, do: Mapping[str, str] | None = None) -> DiscreteBayesianNetwork:
        """Return a pgmpy network of the system, as it is or while the variables in `do` are set.

        Parameters
        ----------
        do
            Variables and the state that each is set to. pgmpy's `do` cuts the edges into them, and their
            tables become point masses, so pgmpy's inference and sampling answer under the intervention.

        Returns
        -------
        DiscreteBayesianNetwork
            A new one each time; hidden variables are its latents. A reward of 0 or 1 is the node
            `reward_node`, with the states "0" and "1"; a Gaussian reward isn't discrete and is left out.

        Raises
        ------
        CausalSystemError
            If `do` names an unknown variable or state.

        Examples
        --------
        >>> from pgmpy.inference import VariableElimination
        >>> from cb_pgm import CausalSystem
        >>> system = CausalSystem.from_bif("data/asia.bif", reward="dysp=yes")
        >>> inference = VariableElimination(system.network(do={"smoke": "yes"}))
        >>> found = inference.query(["reward"], show_progress=False)
        >>> f"{found.get_value(reward='1'):.6f} {system.mean_reward({'smoke': 'yes'}):.6f}"
        '0.552808 0.552808'
        """
        codes_of(self._model, do or {}, self._hidden)  # refuses what can't be set
        network = network_of_model(self._model, self._hidden)
        if self._reward.noise is None:
            add_reward(network, self.reward_node, self._model, self._reward)
        return intervened(network, do) if do else network

    def __repr__(self) -> str:
        parents = listed(self.reward_parents)
        unseen = f" and {len(self._hidden)} hidden" if self._hidden else ""
        return f"CausalSystem({len(self._states)} variables{unseen}, reward from {parents})"
