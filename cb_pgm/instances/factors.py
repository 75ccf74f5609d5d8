"""The variables of an experiment, of which one decides the reward."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from cb_pgm.errors import CausalSystemError
from cb_pgm.model.discrete_model import DiscreteModel, Reward
from cb_pgm.model.system import CausalSystem
from discovery.wording import did_you_mean

__all__ = ["factors"]


def factors(
    states: Sequence[tuple[str, Sequence[str]]],
    *,
    not_settable: Collection[str] = (),
    reward_gap: float = 0.2,
    seed: int | np.random.Generator | None = None,
) -> CausalSystem:
    """Return a system of independent variables, one of which decides the reward.

    Parameters
    ----------
    states
        Each variable with its states, all of which are equally likely where they aren't set.
    not_settable
        Variables that can't be set, and aren't the one.
    reward_gap
        Δ: rewards are 0 or 1, with mean ½ + Δ/2 at one state of the one variable and ½ − Δ/2 at the others.
    seed
        The variable and its best state are drawn from it.

    Examples
    --------
    >>> system = factors([("drug", ("low", "high")), ("age", ("young", "old"))], not_settable=["age"], seed=1)
    >>> sorted({round(mean, 3) for mean in system.arm_means().values()})
    [0.4, 0.6]
    """
    names = [name for name, _ in states]
    for name in not_settable:
        if name not in names:
            raise CausalSystemError(
                f"Expected variables that can't be set among the known ones but found {name!r}: "
                f"{did_you_mean(name, names)}"
            )
    can_set = [place for place, (name, _) in enumerate(states) if name not in not_settable]
    if not 0 < reward_gap <= 1 or not can_set:
        raise CausalSystemError(
            f"Expected a reward_gap up to 1 and a variable that can be set but found {reward_gap:g} and "
            f"{len(can_set)} that can"
        )
    rng = np.random.default_rng(seed)
    chosen = can_set[int(rng.integers(len(can_set)))]
    means = np.full(len(states[chosen][1]), 0.5 - reward_gap / 2)
    means[int(rng.integers(len(means)))] += reward_gap
    model = DiscreteModel(
        states={name: tuple(values) for name, values in states},
        parents=((),) * len(states),
        tables=tuple(np.full(len(values), 1 / len(values)) for _, values in states),
    )
    settable = {states[place][0]: tuple(states[place][1]) for place in can_set}
    return CausalSystem.from_model(model, Reward((chosen,), means, None), settable=settable)
