"""The truth that a bandit plays against: a causal model of discrete variables and a reward.

A `CausalSystem` draws rows under any intervention and knows exactly what a learner has to find out: the mean
of every arm, the reward's parents, and the gaps of the paper's Assumptions 2 and 3 [1]_. Some of its
variables may be hidden: they take part in everything that happens, and a learner never sees them.

References
----------
.. [1] Y. Lu, A. Meisami, A. Tewari, "Causal bandits with unknown graph structure", NeurIPS 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import CausalSystemError
from cb_pgm.model import gaps
from cb_pgm.model.bif import read_bif_model
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.intervention import Intervention, Observations, States
from cb_pgm.model.names import codes_of, reward_from_means, split_off_reward_node
from cb_pgm.model.pgmpy_networks import model_of_network
from cb_pgm.model.structure import SystemStructure
from discovery.wording import did_you_mean

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

    from cb_pgm.model.exact import ExactInference
    from cb_pgm.model.sampler import Sampler
    from discovery import EssentialGraph, Marginals

__all__ = ["CausalSystem"]

_TIE = 1e-12  # means nearer than this, times their size, are equal but for rounding


class CausalSystem(SystemStructure):
    """A causal model with a reward, in one of two forms.

    * ``CausalSystem(network, reward="node=state")``: the reward is 1 when that leaf has that state, else 0.
      The leaf is taken out of the variables.
    * ``CausalSystem(network, reward_variable=X, reward_means={state: mean}, noise=s)``: the reward is drawn
      about a mean that depends on X's state, or on the joint state of several variables:
      ``reward_variable=(X, Y)`` with ``reward_means={(x, y): mean}``.

    Parameters
    ----------
    network
        A pgmpy network with a table for every node, or the same as plain arrays.
    reward
        "node=state": a leaf of the network and one of its states.
    reward_variable, reward_means
        The reward's parents and its mean for each of their (joint) states.
    noise
        With `reward_means`: the standard deviation of Gaussian noise, or "bernoulli" for a reward that is 1
        with the mean as its probability.
    settable
        For each variable that can be set the states it can be set to; None: all states of all observed
        variables.
    hidden
        Variables that are sampled, but never shown, listed or set; with them the latents of the network.

    Raises
    ------
    CausalSystemError
        If a node or state is unknown (the message names the nearest), the reward node isn't a leaf, a table
        isn't probabilities, means are missing, no observed variable is left, or the form is ambiguous.

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

    A hidden variable goes on causing what it causes:

    >>> asia = CausalSystem.from_bif("data/asia.bif", reward="dysp=yes", hidden=("smoke",))
    >>> "smoke" in asia.states, asia.hidden, asia.reward_parents
    (False, ('smoke',), ('bronc', 'either'))
    """

    def __init__(
        self,
        network: DiscreteBayesianNetwork | DiscreteModel,
        *,
        reward: str | None = None,
        reward_variable: str | Sequence[str] | None = None,
        reward_means: Mapping[Any, float] | None = None,
        noise: float | Literal["bernoulli"] = 1.0,
        settable: States | None = None,
        hidden: Sequence[str] = (),
    ) -> None:
        model = network if isinstance(network, DiscreteModel) else model_of_network(network)
        named = (hidden,) if isinstance(hidden, str) else tuple(hidden)
        latents = map(str, getattr(network, "latents", ()))
        hidden = (*named, *(name for name in latents if name not in named))
        if reward is not None and reward_variable is None and reward_means is None:
            self._set(*split_off_reward_node(model, reward), settable, hidden)
        elif reward is None and reward_variable is not None and reward_means is not None:
            self._set(model, reward_from_means(model, reward_variable, reward_means, noise), settable, hidden)
        else:
            raise CausalSystemError(
                "Expected reward='node=state', or reward_variable= with reward_means=, but found another mix"
            )

    @classmethod
    def from_bif(cls, path: str | Path, reward: str | None = None, **options: Any) -> Self:
        """Return the system of the network in a BIF file; `options` are those of the class."""
        return cls(read_bif_model(path), reward=reward, **options)

    @classmethod
    def from_model(
        cls,
        model: DiscreteModel,
        reward: Reward,
        *,
        settable: States | None = None,
        hidden: Sequence[str] = (),
    ) -> Self:
        """Return the system of plain arrays, without pgmpy; `settable` and `hidden` as in the class."""
        system = cls.__new__(cls)
        system._set(model, reward, settable, hidden)
        return system

    # -- what it does ----------------------------------------------------------------------------------------

    @cached_property
    def _sampler(self) -> Sampler:
        from cb_pgm.model.sampler import Sampler  # late: numba takes a second to import

        return Sampler(self._model, self._reward)

    def sample(self, do: Mapping[str, str], size: int, rng: np.random.Generator) -> Observations:
        """Draw `size` rows and their rewards while the variables in `do` are set; {} is plain observation.

        Every observed variable can be set here to any of its states, whatever `settable` says. Equal
        generators give equal rows. The codes [size, n] have a column for each of the n observed variables.

        Raises
        ------
        CausalSystemError
            If `do` names an unknown variable or state.
        """
        held = np.full(len(self._model.parents), -1, dtype=np.int16)
        for variable, code in self._codes(do).items():
            held[variable] = code
        codes, rewards = self._sampler.draw(held, len(do), size, rng)
        return Observations(codes[:, self._shown] if self._hidden else codes, rewards)

    def _codes(self, do: Mapping[str, str]) -> dict[int, int]:
        return codes_of(self._model, do, self._hidden)

    # -- what is true of it ----------------------------------------------------------------------------------

    @cached_property
    def _exact(self) -> ExactInference:
        from cb_pgm.model.exact import ExactInference  # late, as it imports opt_einsum

        return ExactInference(self._model)

    @cached_property
    def _all_arms(self) -> tuple[float, dict[int, NDArray[np.float64]]]:
        return self._exact.arm_means(self._reward)

    @cached_property
    def _joint_means(self) -> dict[Intervention, float]:
        return {}  # of the interventions on several variables that were asked for

    def mean_reward(self, do: Mapping[str, str] | None = None) -> float:
        """Return the exact mean reward while the variables in `do` are set; {} is plain observation."""
        held = self._codes(do or {})
        if len(held) > 1:
            key = Intervention(do)
            if key not in self._joint_means:
                self._joint_means[key] = self._exact.mean(self._reward, held)
            return self._joint_means[key]
        observed, means = self._all_arms
        for variable, code in held.items():
            if variable in means:
                return float(means[variable][code])
        return observed

    def arm_means(self) -> dict[tuple[str, str], float]:
        """Return the exact mean reward of each arm but do(): every settable state of every variable."""
        return {
            (variable, state): self.mean_reward({variable: state})
            for variable, states in self._settable.items()
            for state in states
        }

    def best_arm(self) -> tuple[Intervention, float]:
        """Return the arm with the highest mean reward, and that mean.

        do() is an arm, and preferred where no other is better; then the first of equal ones is.
        """
        return self._best_arm

    @cached_property
    def _best_arm(self) -> tuple[Intervention, float]:
        means = {Intervention(): self.mean_reward()}
        means |= {Intervention(dict([arm])): mean for arm, mean in self.arm_means().items()}
        best = max(means.values())
        return next(arm for arm, mean in means.items() if mean >= best - _TIE * abs(best)), best

    def marginals(self) -> Marginals:
        """Return the exact distribution of each observed variable under do(); the paper takes it as given."""
        from discovery import Marginals

        probabilities = {name: self._exact.marginal(self._model.index[name]) for name in self._states}
        return Marginals(probabilities, rows=None)

    def interventional_distribution(
        self, target: str, do: Mapping[str, str] | None = None
    ) -> NDArray[np.float64]:
        """Return P(target | do(...)), float64 [states of target]."""
        if target not in self._states:
            raise CausalSystemError(
                f"Expected a variable but found {target!r}: {did_you_mean(target, tuple(self._states))}"
            )
        return self._exact.distribution(self._model.index[target], self._codes(do or {}))

    # -- how hard it is --------------------------------------------------------------------------------------

    def reward_gap(self) -> float:
        """Return Δ of Assumption 3: how far each of the reward's ancestors moves its mean at least.

        It is the minimum over the observed ancestors of the maximum over their states, settable or not, of
        |E[R | do(x)] − E[R]|, in the reward's unit; 1 when the reward has no parent.
        """
        observed, means = self._all_arms
        return gaps.reward_gap(observed, means, self._every_state)

    def effect_gap(self) -> float:
        """Return ε of Assumption 2: how far each cause moves the target of its edge at least.

        It is the minimum over the edges of `dag` of the maximum over states, settable or not, of
        |P(y | do(x)) − P(y)|; 1 when there is no edge.
        """
        return self._effect_gap

    @cached_property
    def _effect_gap(self) -> float:
        return gaps.effect_gap(self._exact, self._observed_graph.edges, self._every_state)

    def effective_gaps(self, graph: EssentialGraph | None) -> tuple[float, float]:
        """Return (Δ, ε) over the effects that a search over `graph`, downstream components first, has to see.

        Δ is the minimum over the reward's ancestors in its parents' chain components, ε that over those
        components' undirected edges that are true edges. Only settable states count, and no other variable is
        held. An empty minimum is 1, and one below 1e-12 is 0. Where a variable of these components, or of one
        not upstream of them, can't be set, the minima are over all components that hold an ancestor of the
        reward. Without a graph (None, as `true_graph` may be) they are over all of the reward's ancestors and
        all edges of `dag`.

        Raises
        ------
        CausalSystemError
            If `graph` is over other variables.
        """
        return gaps.effective_gaps(self._exact, self._observed_graph, self._all_arms, graph, self._settable)

    @property
    def _every_state(self) -> dict[int, range]:
        return {v: range(self._model.cards[v]) for v in self._shown}
