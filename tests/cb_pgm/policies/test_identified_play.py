"""The play on identified parents' arms: unlucky rows, and other arms with effects of their own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from cb_pgm import Intervention
from cb_pgm.evidence.cover import Cover
from cb_pgm.policies.arms import ArmTotals, SingleArms, joint_arms
from cb_pgm.policies.identified_play import IdentifiedPlay

STATES = dict.fromkeys(("V", "W", "D"), ("0", "1"))


def _play_chain(
    seed: int, best_mean: float, first_rewards: int, own_effect: float | None = None, rounds: int = 3000
) -> Counter[Intervention]:
    """Play rare V → W → D and W → reward, W identified, and count the pulls of each arm.

    do(W = 1) has the mean `best_mean`, and its first 27 rows have `first_rewards` rewards of 1; 60 rows of
    do(V = 1) come next. Under do(V = 1) the reward's mean is `own_effect`; None: it depends on W alone.
    """
    rng = np.random.default_rng(seed)
    singles = SingleArms(STATES, STATES)
    cover = Cover([2, 2, 2], [1], 0.01, 0.5)
    others, parents = ArmTotals(singles.arms), ArmTotals(joint_arms(STATES, ["W"]))
    pulled: Counter[Intervention] = Counter()

    def draw(arm: Intervention) -> tuple[list[int], float]:
        v = int(arm.get("V", "0"))
        w = int(arm["W"]) if "W" in arm else int(rng.random() < (0.02, 0.97)[v])
        d = int(arm["D"]) if "D" in arm else int(rng.random() < (0.02, 0.98)[w])
        mean = own_effect if own_effect is not None and arm.get("V") == "1" else (0.1, best_mean)[w]
        return [v, w, d], float(rng.random() < mean)

    def learn(arm: Intervention, codes: list[int], reward: float) -> None:
        was_set = np.array([[name in arm for name in STATES]])
        cover.add(np.array([codes], dtype=np.int16), np.array([reward]), was_set)
        others.add(arm, np.array([reward]))

    for state, ones in ((0, 3), (1, first_rewards)):
        done = Intervention({"W": str(state)})
        for row in range(27):
            learn(done, [0, state, state], float(row < ones))
            parents.add(done, np.array([float(row < ones)]))
    for _ in range(60):
        learn(Intervention({"V": "1"}), *draw(Intervention({"V": "1"})))
    play = IdentifiedPlay(
        parents,
        np.arange(2),
        others,
        np.column_stack(singles.codes),
        [1],
        cover,
        lambda: None,
        0.01,
        0.5,
        0.0,
    )
    for _ in range(rounds):
        arm = play.next_arm()
        codes, reward = draw(arm)
        play.add(arm, np.array([reward]))
        learn(arm, codes, reward)
        pulled[arm] += 1
    return pulled


@pytest.mark.parametrize("seed", range(10))
def test_the_best_arm_is_played_in_spite_of_unlucky_rows(seed: int) -> None:
    pulled = _play_chain(seed, 0.95, first_rewards=20)
    assert pulled[Intervention({"W": "1"})] >= 2850
    assert pulled[Intervention({"D": "1"})] <= 12  # its state is seen with high rewards, but moves none


@pytest.mark.parametrize("seed", range(10))
def test_an_arm_with_a_further_effect_is_played_although_its_rows_show_the_parents_states(seed: int) -> None:
    pulled = _play_chain(seed, 0.6, first_rewards=16, own_effect=0.9)
    assert pulled[Intervention({"V": "1"})] >= 2400
