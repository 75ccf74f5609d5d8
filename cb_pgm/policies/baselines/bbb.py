"""BBB: Thompson sampling whose prior is the back-door adjustment of a table.

Source: Huang & Zhou, "Bayesian causal bandits with backdoor adjustment prior" (TMLR 2023). The rows recorded
under do() give every arm do(X = x) a mean for each candidate set of X's parents (`parent_sets`), and how many
rows that mean is worth. Both make a Beta prior for each set; the rewards under interventions update it and
the probabilities of the sets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from cb_pgm.errors import PolicyError
from cb_pgm.evidence.records import all_in_unit_interval
from cb_pgm.model.intervention import Intervention, Observations, Pull, States
from cb_pgm.model.joint_states import joint_index
from cb_pgm.policies.arm_policy import ArmPolicy
from cb_pgm.policies.arms import UNIT_INTERVAL_SCALE
from cb_pgm.policies.context import PolicyContext
from discovery.estimation.parent_sets import likely_parent_sets

if TYPE_CHECKING:  # it imports networkx, which a policy without rows doesn't need
    from discovery.graphs.essential_graph import EssentialGraph

__all__ = ["BackdoorBandit", "backdoor_estimate"]

_PRIOR_ROWS = 1.0  # of a uniform prior over the joint states of arm, reward and adjustment set


def backdoor_estimate(rows: NDArray[np.float64], totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each state's mean reward under do(X = x) by back-door adjustment, and what it is worth in rows.

    Parameters
    ----------
    rows, totals
        float64 [states of X, strata]: the number of rows, and the sum of their rewards in [0, 1], at each
        state of X in each joint state z of the adjustment set.

    Returns
    -------
    ndarray
        float64 [2, states of X]: m = Σ_z P(z)·p_z with p_z the mean reward at (x, z), and m(1 − m)/v with
        v = Σ_z P(z)²·p_z(1 − p_z)/n_xz + Σ_z P(z)(p_z − m)²/N, the variance of m.

    Notes
    -----
    One row is added, spread evenly over x, z and rewards of 0 and 1.

    Examples
    --------
    >>> backdoor_estimate(np.array([[8.0], [1.0]]), np.array([[6.0], [1.0]])).round(3).tolist()
    [[0.735, 0.833], [8.5, 1.5]]
    """
    share = _PRIOR_ROWS / rows.size
    rows, totals = rows + share, totals + share / 2
    chances = rows.sum(axis=0) / rows.sum()
    means = totals / rows
    mean = means @ chances
    variance = (means * (1 - means) / rows) @ chances**2
    variance += ((means - mean[:, None]) ** 2) @ chances / rows.sum()
    return np.stack([mean, mean * (1 - mean) / variance])


@dataclass
class _Prior:
    """What the table says of one variable's arms, and the posterior of its parent sets."""

    arms: slice
    logs: NDArray[np.float64]  # [sets]: log-probability of each set by the table
    means: NDArray[np.float64]  # [sets, arms]
    worth: NDArray[np.float64]  # [sets, arms], in rows
    cumulated: NDArray[np.float64]  # [sets]: cumulated posterior probabilities of the sets
    first: NDArray[np.float64]  # [sets, arms]: the parameters of the Beta posteriors
    second: NDArray[np.float64]

    @classmethod
    def uniform(cls, arms: slice) -> Self:
        """Return Beta(1, 1) of each arm: a mean of ½ that is worth two rows."""
        half = np.full((1, arms.stop - arms.start), 0.5)
        return cls(arms, np.zeros(1), half, 4 * half, np.ones(1), half, half)


class BackdoorBandit(ArmPolicy):
    """Draw a parent set of each variable and each arm's mean given it, and pull the arm of the highest draw.

    A prior counts at most as many rows as its variable was set in, one at least, so that a wrong table loses
    its weight. The probabilities of a variable's parent sets are those by the table times the Beta-binomial
    likelihood of the rewards of all of the variable's arms. Without a table the prior of every arm is
    uniform, which is Thompson sampling.

    Parameters
    ----------
    states, settable
        As in `Policy`.
    noise_scale
        As in `Policy`, at most ½, as for all rewards in [0, 1]. Other rewards are refused.
    observed
        Rows recorded under do() before any play starts. `warm_start` adds rows before a single one.
    graph
        The essential graph, used for more than 15 variables; None: estimated from the rows.

    Raises
    ------
    PolicyError
        If `noise_scale` exceeds ½, or a reward isn't in [0, 1].
    """

    name = "bbb"
    _reason = "the highest draw from the posterior of its mean"

    def __init__(
        self,
        states: States,
        *,
        observed: Observations | None = None,
        graph: EssentialGraph | None = None,
        noise_scale: float = UNIT_INTERVAL_SCALE,
        settable: States | None = None,
    ) -> None:
        super().__init__(states, noise_scale=noise_scale, settable=settable)
        if noise_scale > UNIT_INTERVAL_SCALE:
            raise PolicyError(
                f"Expected rewards in [0, 1] for {self.name}, so a noise scale of at most "
                f"{UNIT_INTERVAL_SCALE}, but found {noise_scale:g}: rescale the rewards or play thompson"
            )
        if observed is not None:
            self._check(observed)
            self._check_rewards(observed)
        self._observed = observed
        self.graph = graph

    @classmethod
    def from_context(cls, context: PolicyContext, **settings: Any) -> Self:
        return super().from_context(context, **({"graph": context.graph} | settings))

    def begin(self, rng: np.random.Generator) -> None:
        super().begin(rng)
        self._draw = rng
        self._seen: list[Observations] = [] if self._observed is None else [self._observed]
        self._priors: tuple[_Prior, ...] | None = None

    def warm_start(self, intervention: Intervention, observations: Observations) -> bool:
        if not super().warm_start(intervention, observations):
            self._check_rewards(observations)
            self._seen.append(observations)
            self._priors = None
        return True

    def learn(self, intervention: Intervention, observations: Observations) -> None:
        self._check_rewards(observations)
        super().learn(intervention, observations)
        position = self._arms.position(intervention)
        if position is not None and self._priors is not None:
            self._update(next(prior for prior in self._priors if position < prior.arms.stop))

    def next_pull(self) -> Pull:
        if self._priors is None:
            self._priors = self._from_table()
            for prior in self._priors:
                self._update(prior)
        first, second = np.empty(len(self._pulls)), np.empty(len(self._pulls))
        for prior, draw in zip(self._priors, self._draw.random(len(self._priors)), strict=True):
            chosen = min(int(prior.cumulated.searchsorted(draw, side="right")), len(prior.cumulated) - 1)
            first[prior.arms], second[prior.arms] = prior.first[chosen], prior.second[chosen]
        return self._pulls[int(np.argmax(self._draw.beta(first, second)))]

    def _pull_beside(self, under_way: Mapping[Intervention, int]) -> Pull:
        return self.next_pull()  # another draw from the posterior so far

    def _check_rewards(self, observations: Observations) -> None:
        rewards = observations.rewards
        if len(rewards) and not all_in_unit_interval(rewards):
            raise PolicyError(
                f"Expected rewards in [0, 1] for {self.name} but found them from {rewards.min():g} to "
                f"{rewards.max():g}: rescale them or play thompson"
            )

    def _from_table(self) -> tuple[_Prior, ...]:
        """Return each settable variable's prior, uniform without a table, and that of do(), uniform."""
        seen = [one for one in self._seen if len(one)]
        codes = np.concatenate([one.codes for one in seen]) if seen else None
        rewards = np.concatenate([one.rewards for one in seen]) if seen else None
        sets = None if codes is None else likely_parent_sets(codes, self.states, self.graph)
        priors, start = [], 0
        for column, (variable, values) in enumerate(self.states.items()):
            if variable not in self.settable:
                continue
            can_be_set = [values.index(state) for state in self.settable[variable]]
            arms = slice(start, start := start + len(can_be_set))
            if sets is None or codes is None or rewards is None:
                priors.append(_Prior.uniform(arms))
                continue
            candidates, chances = sets[column]
            found = np.stack([self._adjusted(codes, rewards, column, chosen) for chosen in candidates])
            means, worth = found[:, 0, can_be_set], found[:, 1, can_be_set]
            priors.append(_Prior(arms, np.log(chances), means, worth, chances, means, worth))
        if self.plays_do:  # without the table, whose rows may have been selected
            priors.append(_Prior.uniform(slice(start, start + 1)))
        return tuple(priors)

    def _adjusted(
        self, codes: NDArray[np.int16], rewards: NDArray[np.float64], column: int, given: tuple[int, ...]
    ) -> NDArray[np.float64]:
        sizes = [len(values) for values in self.states.values()]
        cards = [sizes[each] for each in (column, *given)]
        cells, size = joint_index(codes, (column, *given), cards), math.prod(cards)
        shape = cards[0], size // cards[0]
        rows = np.bincount(cells, weights=np.ones(len(cells)), minlength=size)
        totals = np.bincount(cells, weights=rewards, minlength=size)
        return backdoor_estimate(np.reshape(rows, shape), np.reshape(totals, shape))

    def _update(self, prior: _Prior) -> None:
        """Update the posteriors of the variable's arms and the probabilities of its parent sets."""
        rows, totals = self._arms.rows[prior.arms], self._arms.totals[prior.arms]
        # The uniform prior without a table is worth two rows, whether or not the arm was pulled.
        counted = np.minimum(prior.worth, max(1, int(rows.sum()))) if self._seen else prior.worth
        before = prior.means * counted, (1 - prior.means) * counted
        prior.first, prior.second = before[0] + totals, before[1] + (rows - totals)
        if len(prior.logs) > 1:
            likelihood = betaln(prior.first, prior.second) - betaln(*before)
            logs = prior.logs + likelihood.sum(axis=1)
            prior.cumulated = np.cumsum(np.exp(logs - logs.max()))
            prior.cumulated /= prior.cumulated[-1]
