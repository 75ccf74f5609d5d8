"""C-UCB, an oracle that knows the graph and its distributions and learns the reward given its parents.

Source: Lu, Meisami, Tewari & Yan, "Regret analysis of bandit problems with causal background knowledge" (UAI
2020).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cb_pgm.errors import PolicyError
from cb_pgm.model.discrete_model import Reward
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.model.joint_states import joint_index
from cb_pgm.model.system import CausalSystem
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.arms import checked_parents, single_variable_arms
from cb_pgm.policies.context import PolicyContext

__all__ = ["CausalUCB", "parent_distributions"]


def parent_distributions(system: CausalSystem) -> dict[Intervention, NDArray[np.float64]]:
    """Return, for each arm, the exact distribution of the reward's parents' joint state under it.

    Returns
    -------
    dict
        Arm → float64 [joint states], the last parent's state changing fastest, parents in variable order.
        Hidden parents don't count: observed variables that cause the reward through hidden ones do.

    Examples
    --------
    >>> from cb_pgm import instances
    >>> system = instances.tree(2, n_states=2, copy_probability=0.8, reward_depth=1, seed=0)
    >>> {str(arm): shares.round(3).tolist() for arm, shares in parent_distributions(system).items()}
    {'do(X1 = 0)': [0.9, 0.1], 'do(X1 = 1)': [0.1, 0.9], 'do(X2 = 0)': [1.0, 0.0], 'do(X2 = 1)': [0.0, 1.0]}
    """
    parents = tuple(system.model.index[name] for name in system.reward_parents)
    shape = tuple(system.model.cards[v] for v in parents)
    arms = single_variable_arms(system.settable)
    shares = np.empty((len(arms), math.prod(shape)))
    for cell in range(shares.shape[1]):
        # The probability of a joint state is the mean of a reward that is 1 there and else 0.
        means = np.zeros(shape)
        means.flat[cell] = 1.0
        indicator = CausalSystem.from_model(system.model, Reward(parents, means, None))
        shares[:, cell] = [indicator.mean_reward(arm) for arm in arms]
    return dict(zip(arms, shares, strict=True))


class CausalUCB(ArmPolicy):
    """Pull the arm with the highest Σ_z P(parents = z | arm) · (mean_z + σ√(2 log t / n_z)).

    Every row counts for its parents' joint state z, under any intervention. A joint state without rows counts
    as one row with the highest mean of all joint states (in the paper, for rewards in [0, 1]: one row with
    reward 0). do(), which the paper doesn't play, has UCB's index by the rows in which nothing was set: where
    something hidden causes a parent and the reward, its mean isn't one over z.

    Parameters
    ----------
    states, noise_scale, settable
        As in `Policy`.
    parents
        The reward's parents.
    distributions
        For each arm, P(parents' joint state | arm): float64 [joint states], parents in variable order, the
        last one's state changing fastest (`parent_distributions` computes them for a system).
    parent_noise_scale
        σ of the reward given its parents, which may be smaller than `noise_scale`; None: `noise_scale`.

    Raises
    ------
    PolicyError
        If `parents` is empty or contains an unknown variable, or an arm has no distribution over the
        parents' joint states.

    Notes
    -----
    O(arms · joint states) a round.
    """

    name = "causal-ucb"
    learns_from_any_row = True
    takes_unknown_fields = False

    def __init__(
        self,
        states: States,
        parents: Sequence[str],
        distributions: Mapping[Intervention, NDArray[np.float64]],
        *,
        noise_scale: float = 1.0,
        parent_noise_scale: float | None = None,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        self.parent_noise_scale = (
            self.noise_scale if parent_noise_scale is None else float(parent_noise_scale)
        )
        self._parents = checked_parents(self.states, parents)
        self._columns = [list(self.states).index(name) for name in self._parents]
        self._cards = [len(self.states[name]) for name in self._parents]
        arms, n_cells = single_variable_arms(self.settable), math.prod(self._cards)
        # One row for each arm and one column for each joint state; the last of both are do() by itself.
        self._all_shares = np.zeros((len(arms) + 1, n_cells + 1))
        for place, arm in enumerate(arms):
            self._all_shares[place, :-1] = _checked(arm, distributions.get(arm), n_cells)
        self._all_shares[-1, -1] = 1.0
        self._scales = np.array([*[self.parent_noise_scale] * n_cells, self.noise_scale])

    @property
    def reward_variables(self) -> tuple[str, ...]:
        return self._parents

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        truth = context.known_truth(cls.name)
        known = {
            "parents": truth.reward_parents,
            "distributions": parent_distributions(truth),
            "parent_noise_scale": context.parent_noise_scale,
        }
        return super().from_context(context, **(known | settings))

    def begin(self, rng: np.random.Generator) -> None:
        super().begin(rng)
        self._shares = self._all_shares[: len(self.arms)]
        self._rows: NDArray[np.float64] = np.zeros(self._shares.shape[1])
        self._totals: NDArray[np.float64] = np.zeros(self._shares.shape[1])

    def next_pull(self) -> Pull:
        return self._pulls[int(np.argmax(self._shares @ self._bounds()))]

    def _bounds(self) -> NDArray[np.float64]:
        """Return an upper bound on the mean reward of each joint state, and of do(): float64 [cells + 1]."""
        rows = np.maximum(self._rows, 1.0)
        means = self._totals / rows
        unseen = self._rows == 0
        if unseen.any() and not unseen.all():
            means[unseen] = means[~unseen].max()
        width = self._scales * math.sqrt(2.0 * math.log(max(self._arms.rounds, 1)))
        bounds: NDArray[np.float64] = means + width / np.sqrt(rows)
        return bounds

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        """Count pending rows by the joint states expected under their arm, at these states' means so far."""
        before = self._rows, self._totals
        expected = np.zeros(len(self._rows))
        for arm, shares in zip(self.arms, self._shares, strict=True):
            expected += under_way.get(arm, 0) * shares
        self._rows = self._rows + expected
        self._totals = self._totals + expected * (before[1] / np.maximum(before[0], 1.0))
        pull = self.next_pull()
        self._rows, self._totals = before
        return pull

    def why(self, pull: Pull) -> str:
        return "the highest upper confidence bound, from the mean rewards of the parents' joint states"

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        if not super().warm_start(intervention, observations):
            self._count(observations)
        return True

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        super().learn(intervention, observations)
        self._count(observations)
        if not intervention:
            self._rows[-1] += len(observations)
            self._totals[-1] += observations.rewards.sum()

    def _count(self, observations: Observations) -> None:
        cells = joint_index(observations.codes, self._columns, self._cards)
        self._rows += np.bincount(cells, minlength=len(self._rows))
        self._totals += np.bincount(cells, weights=observations.rewards, minlength=len(self._rows))


def _checked(arm: Intervention, shares: NDArray[np.float64] | None, size: int) -> NDArray[np.float64]:
    if shares is None:
        raise PolicyError(f"Expected the parents' distribution under every arm but found none for {arm}")
    checked = np.asarray(shares, dtype=np.float64)
    if checked.shape != (size,) or not (checked.min() >= -1e-9 and abs(checked.sum() - 1.0) < 1e-6):
        raise PolicyError(
            f"Expected a distribution over the parents' {size} joint states under {arm} but found "
            f"{checked.tolist()}"
        )
    return checked
