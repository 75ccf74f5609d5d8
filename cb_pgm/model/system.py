"""The truth that a bandit plays against: a causal model of discrete variables and a reward.

A `CausalSystem` draws rows under any intervention, and knows exactly what a learner must find out: the mean
of every arm, the reward's parents, and the gaps of the paper's Assumptions 2 and 3.

References
----------
.. [1] Y. Lu, A. Meisami, A. Tewari, "Causal bandits with unknown graph structure", NeurIPS 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model import gaps
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.intervention import Intervention, Observations
from cb_pgm.model.names import checked_settable, codes_of, reward_from_means, split_off_reward_node
from cb_pgm.wording import did_you_mean, listed

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

    from cb_pgm.model.exact import ExactInference
    from cb_pgm.model.sampler import Sampler
    from discovery import EssentialGraph, Marginals

__all__ = ["CausalSystem"]

_TIE = 1e-12  # means nearer than this are equal but for rounding


class CausalSystem:
    """A causal model with a reward, in one of two forms.

    * ``CausalSystem(network, reward="node=state")``: the reward is 1 when that leaf has that state, else 0.
      The leaf is taken out of the variables.
    * ``CausalSystem(network, reward_variable=X, reward_means={state: mean}, noise=s)``: the reward is drawn
      about a mean that depends on X's state, or on the joint state of several variables:
      ``reward_variable=(X, Y)`` with ``reward_means={(x, y): mean}``.

    Parameters
    ----------
    network
        A pgmpy network with a table for every node.
    reward
        "node=state": a leaf of the network and one of its states.
    reward_variable, reward_means
        The reward's parents and its mean for each of their (joint) states.
    noise
        With `reward_means`: the standard deviation of Gaussian noise, or "bernoulli" for a reward that is 1
        with the mean as its probability.
    settable
        For each variable that can be set the states it can be set to; None: all of them.

    Raises
    ------
    CausalSystemError
        If a node or state is unknown (the message names the nearest), the reward node isn't a leaf, a table
        isn't probabilities, means are missing, or the form is ambiguous.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> system = instances.tree(3, n_states=2, shape="chain", reward_depth=2, seed=0)
    >>> list(system.dag.edges), system.reward_parents
    ([('X1', 'X2'), ('X3', 'X1')], ('X2',))
    >>> {arm: round(mean, 3) for arm, mean in system.arm_means().items() if arm[0] != "X1"}
    {('X2', '0'): 0.1, ('X2', '1'): 0.9, ('X3', '0'): 0.139, ('X3', '1'): 0.861}
    >>> system.sample({"X1": "1"}, 4, np.random.default_rng(0)).codes[:, 0]
    array([1, 1, 1, 1], dtype=int16)
    """

    def __init__(
        self,
        network: DiscreteBayesianNetwork,
        *,
        reward: str | None = None,
        reward_variable: str | Sequence[str] | None = None,
        reward_means: Mapping[Any, float] | None = None,
        noise: float | Literal["bernoulli"] = 1.0,
        settable: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        from cb_pgm.model.pgmpy_networks import model_of_network

        model = model_of_network(network)
        if reward is not None and reward_variable is None and reward_means is None:
            self._set(*split_off_reward_node(model, reward), settable)
        elif reward is None and reward_variable is not None and reward_means is not None:
            self._set(model, reward_from_means(model, reward_variable, reward_means, noise), settable)
        else:
            raise CausalSystemError(
                "Expected reward='node=state', or reward_variable= with reward_means=, but found another mix"
            )

    @classmethod
    def from_bif(cls, path: str | Path, reward: str | None = None, **options: Any) -> Self:
        """Return the system of the network in a BIF file; `options` are those of the class."""
        from cb_pgm.model.pgmpy_networks import read_bif

        return cls(read_bif(path), reward=reward, **options)

    @classmethod
    def from_model(
        cls, model: DiscreteModel, reward: Reward, *, settable: Mapping[str, Sequence[str]] | None = None
    ) -> Self:
        """Return the system of plain arrays: no pgmpy object is made, however large it is."""
        system = cls.__new__(cls)
        system._set(model, reward, settable)
        return system

    def _set(
        self, model: DiscreteModel, reward: Reward, settable: Mapping[str, Sequence[str]] | None
    ) -> None:
        if not model.parents:
            raise CausalSystemError("Expected at least one variable besides the reward but found none")
        self._model = model
        self._reward = reward
        self._settable = checked_settable(model, settable)
        self._means: dict[Intervention, float] = {}
        self._nothing_held = np.full(len(model.parents), -1, dtype=np.int16)

    # -- what it is ------------------------------------------------------------------------------------------

    @property
    def model(self) -> DiscreteModel:
        """The variables, their parents and their tables, as arrays."""
        return self._model

    @property
    def reward(self) -> Reward:
        """How the reward comes about, in numbers."""
        return self._reward

    @property
    def states(self) -> dict[str, tuple[str, ...]]:
        """Every variable's states, in the order in which observations code them."""
        return dict(self._model.states)

    @property
    def settable(self) -> dict[str, tuple[str, ...]]:
        """The states that can be set, of the variables that can be set."""
        return dict(self._settable)

    @property
    def reward_parents(self) -> tuple[str, ...]:
        """The variables that the reward depends on directly, in variable order."""
        return tuple(self._model.variables[v] for v in self._reward.parents)

    @property
    def noise_scale(self) -> float:
        """σ for which the reward is σ-subgaussian about its mean under every arm and under do()."""
        return self._reward.noise_scale

    @property
    def conditional_noise_scale(self) -> float:
        """σ for which the reward is σ-subgaussian about its mean given the states of its parents."""
        return self._reward.conditional_noise_scale

    @cached_property
    def dag(self) -> nx.DiGraph[str]:
        """The causal graph over the variables; the reward is left out."""
        dag: nx.DiGraph[str] = nx.DiGraph()
        names = self._model.variables
        dag.add_nodes_from(names)
        for v, parents in enumerate(self._model.parents):
            dag.add_edges_from((names[parent], names[v]) for parent in parents)
        return dag

    @cached_property
    def _essential_graph(self) -> EssentialGraph:
        from discovery import EssentialGraph

        return EssentialGraph.from_dag(self.dag)

    def essential_graph(self) -> EssentialGraph:
        """Return the essential graph of `dag`: what infinitely many observations tell of it."""
        return self._essential_graph

    def network(self) -> DiscreteBayesianNetwork:
        """Return the variables, without the reward, as a pgmpy network."""
        from cb_pgm.model.pgmpy_networks import network_of_model

        return network_of_model(self._model)

    def __repr__(self) -> str:
        parents = listed(self.reward_parents)
        return f"CausalSystem({len(self._model.parents)} variables, reward from {parents})"

    # -- what it does ----------------------------------------------------------------------------------------

    @cached_property
    def _sampler(self) -> Sampler:
        from cb_pgm.model.sampler import Sampler

        return Sampler(self._model, self._reward)

    def sample(self, do: Mapping[str, str], size: int, rng: np.random.Generator) -> Observations:
        """Draw `size` rows and their rewards while the variables in `do` are set; {} is plain observation.

        Every variable can be set here to any of its states, whatever `settable` says. Equal generators give
        equal rows.

        Raises
        ------
        CausalSystemError
            If `do` names an unknown variable or state.
        """
        held = self._nothing_held.copy()
        for variable, code in codes_of(self._model, do).items():
            held[variable] = code
        return Observations(*self._sampler.draw(held, len(do), size, rng))

    # -- what is true of it ----------------------------------------------------------------------------------

    @cached_property
    def _exact(self) -> ExactInference:
        from cb_pgm.model.exact import ExactInference

        return ExactInference(self._model)

    @cached_property
    def _all_arms(self) -> tuple[float, dict[int, NDArray[np.float64]]]:
        return self._exact.arm_means(self._reward)

    def mean_reward(self, do: Mapping[str, str] | None = None) -> float:
        """Return the exact mean reward while the variables in `do` are set; {} is plain observation."""
        held = codes_of(self._model, do or {})
        if len(held) > 1:
            key = Intervention(do)
            if key not in self._means:
                self._means[key] = self._exact.mean(self._reward, held)
            return self._means[key]
        observed, means = self._all_arms
        for variable, code in held.items():
            if variable in means:
                return float(means[variable][code])
        return observed

    def arm_means(self) -> dict[tuple[str, str], float]:
        """Return the exact mean reward of each arm: every settable state of every variable, in order."""
        return {
            (variable, state): self.mean_reward({variable: state})
            for variable, states in self._settable.items()
            for state in states
        }

    def best_arm(self) -> tuple[Intervention, float]:
        """Return the arm with the highest mean reward, and that mean; of equal ones the first in order."""
        return self._best_arm

    @cached_property
    def _best_arm(self) -> tuple[Intervention, float]:
        means = self.arm_means()
        if not means:
            raise CausalSystemError("Expected a variable that can be set but found none: there is no arm")
        best = max(means.values())
        variable, state = next(arm for arm, mean in means.items() if mean >= best - _TIE)
        return Intervention({variable: state}), best

    def marginals(self) -> Marginals:
        """Return the exact distribution of each variable under do(): what the paper takes as given."""
        from discovery import Marginals

        probabilities = {name: self._exact.marginal(v) for v, name in enumerate(self._model.variables)}
        return Marginals(probabilities, rows=None)

    def interventional_distribution(
        self, target: str, do: Mapping[str, str] | None = None
    ) -> NDArray[np.float64]:
        """Return P(target | do(...)) in the order of ``states[target]``."""
        if target not in self._model.index:
            raise CausalSystemError(
                f"Expected a variable but found {target!r}: {did_you_mean(target, self._model.variables)}"
            )
        return self._exact.distribution(self._model.index[target], codes_of(self._model, do or {}))

    # -- how hard it is --------------------------------------------------------------------------------------

    def reward_gap(self) -> float:
        """Return Δ of Assumption 3: the least, over the reward's ancestors, that any state moves the mean.

        Over all states, settable or not; 1 when the reward has no parent.
        """
        observed, means = self._all_arms
        return gaps.reward_gap(observed, means, self._every_state)

    def effect_gap(self) -> float:
        """Return ε of Assumption 2: the least, over edges, that any state of the cause moves the target.

        Over all states, settable or not; 1 when there is no edge.
        """
        return self._effect_gap

    @cached_property
    def _effect_gap(self) -> float:
        return gaps.effect_gap(self._exact, gaps.all_edges(self._model), self._every_state)

    def effective_gaps(self, graph: EssentialGraph) -> tuple[float, float]:
        """Return (Δ, ε) over what a search over `graph`, downstream components first, has to see.

        Δ over the reward's ancestors in its parents' chain components, ε over those components' undirected
        edges that are true edges; settable states only, and no variable held. An empty minimum is 1; below
        1e-12 is 0. Where a variable of these components, or of one not upstream of them, can't be set, the
        minima are over all components that hold an ancestor of the reward.

        Raises
        ------
        CausalSystemError
            If `graph` is over other variables.
        """
        return gaps.effective_gaps(self._exact, self._reward, self._all_arms, graph, self._settable)

    @property
    def _every_state(self) -> dict[int, range]:
        return {v: range(card) for v, card in enumerate(self._model.cards)}
