"""Policies asked for more while pulls are under way, and told of rows from before they began."""

from collections.abc import Callable

import numpy as np
import pytest

from cb_pgm import (
    CNUCB,
    UCB,
    CausalSystem,
    Intervention,
    Observations,
    Policy,
    Pull,
    ScreeningUCB,
    ThompsonSampling,
)
from cb_pgm.policies.arms import ArmTotals
from cb_pgm.policies.context import PolicyContext
from cb_pgm.policies.registry import POLICIES, make_policy

REAL = [name for name, kind in POLICIES.items() if not kind.is_oracle]


@pytest.fixture(scope="module")
def earthquake() -> CausalSystem:
    return CausalSystem.from_bif("data/earthquake.bif", reward="MaryCalls=True")


@pytest.fixture
def make(earthquake: CausalSystem) -> Callable[[str], Policy]:
    graph = earthquake.essential_graph()
    reward_gap, effect_gap = earthquake.effective_gaps(graph)
    context = PolicyContext(
        states=earthquake.states,
        noise_scale=earthquake.noise_scale,
        graph=graph,
        marginals=earthquake.marginals(),
        reward_gap=reward_gap,
        effect_gap=effect_gap,
    )
    return lambda name: make_policy(name, context).fresh(np.random.default_rng(3))


@pytest.mark.parametrize("name", REAL)
class TestConformance:
    def test_nothing_outstanding_is_a_plain_ask(self, name: str, make: Callable[[str], Policy]) -> None:
        policy = make(name)
        assert policy.ask_beside([]) is policy.ask()

    def test_three_at_once_told_in_any_order(
        self, name: str, make: Callable[[str], Policy], earthquake: CausalSystem
    ) -> None:
        """6,000 rows with up to three pulls open: the best arm, of gap .66 to the next variable, is found."""
        policy, rng, told = make(name), np.random.default_rng(5), 0
        outstanding: list[Pull] = []
        while told < 6000:
            while len(outstanding) < 3:
                pull = policy.ask_beside(outstanding)
                if pull is None:
                    assert outstanding
                    break
                assert pull.size >= 1
                outstanding.append(Pull(pull.intervention, min(pull.size, 50)))
            pull = outstanding.pop(int(rng.integers(len(outstanding))))
            size = int(rng.integers(pull.size + 1))  # perhaps only a part, or nothing
            policy.tell(pull, earthquake.sample(pull.intervention, size, rng))
            told += size
        _, best = earthquake.best_arm()  # one that sets further variables too is as good
        assert earthquake.mean_reward(policy.best_arm().intervention) == pytest.approx(best, abs=0.01)

    def test_rows_from_before_count_for_their_arm(
        self, name: str, make: Callable[[str], Policy], earthquake: CausalSystem
    ) -> None:
        policy, rng = make(name), np.random.default_rng(8)
        arm = Intervention({"JohnCalls": "True"})
        rows = earthquake.sample(arm, 7, rng)
        assert policy.warm_start(arm, rows)
        policy.warm_start(Intervention(), earthquake.sample({}, 50, rng))
        seen = {intervention: (n, mean) for intervention, n, mean in policy.means()}
        assert seen[arm] == (7, pytest.approx(rows.rewards.mean()))

    def test_reasons_are_one_line(
        self, name: str, make: Callable[[str], Policy], earthquake: CausalSystem
    ) -> None:
        policy, rng = make(name), np.random.default_rng(9)
        for _ in range(80):
            pull = policy.ask()
            assert "\n" not in policy.why(pull)
            policy.tell(pull, earthquake.sample(pull.intervention, min(pull.size, 25), rng))


DRAWING = ("thompson", "bbb", "posterior-sampling", "screening", "cn-ucb")


@pytest.mark.parametrize("name", [name for name in REAL if name not in DRAWING])
def test_what_is_imagined_leaves_no_trace(
    name: str, make: Callable[[str], Policy], earthquake: CausalSystem
) -> None:
    asked, plain = make(name), make(name)
    rng = np.random.default_rng(6)
    for _ in range(60):
        pull = plain.ask()
        assert asked.ask().intervention == pull.intervention
        for size in (1, 40):
            asked.ask_beside([Pull(pull.intervention, size)])
        rows = earthquake.sample(pull.intervention, min(pull.size, 20), rng)
        for policy in (asked, plain):
            policy.tell(pull, rows)
    assert list(asked.means()) == list(plain.means())


def test_ucb_pulls_every_arm_once_though_none_is_told(earthquake: CausalSystem) -> None:
    policy, outstanding = UCB(earthquake.states), []
    for _ in policy.possible_arms:
        outstanding.append(policy.ask_beside(outstanding))
    assert tuple(pull.intervention for pull in outstanding) == policy.possible_arms


def test_ucb_counts_rows_under_way_at_their_arms_mean() -> None:
    """Index by hand: means .6, .5, 0 of 4 rows; with 12 more of the first under way the second leads."""
    policy = UCB({"A": ("0", "1")}, noise_scale=1.0)
    for arm, mean in (({"A": "0"}, 0.6), ({"A": "1"}, 0.5), ({}, 0.0)):
        pull = Pull(Intervention(arm), 4)
        policy.tell(pull, Observations(np.zeros((4, 1), dtype=np.int16), np.full(4, mean)))
    assert policy.ask().intervention == {"A": "0"}
    few, many = (policy.ask_beside([Pull(Intervention({"A": "0"}), size)]) for size in (0, 12))
    width = np.sqrt(2 * np.log(24))
    assert 0.6 + width / np.sqrt(16) < 0.5 + width / np.sqrt(4)
    assert few.intervention == {"A": "0"}
    assert many.intervention == {"A": "1"}
    assert policy.best_arm().rows == 4


def test_counting_is_undone_after_an_error() -> None:
    arms = ArmTotals([Intervention({"A": "0"}), Intervention({"A": "1"})])
    under_way = {Intervention({"A": "0"}): 5, Intervention(): 2}
    with pytest.raises(ZeroDivisionError), arms.counting(under_way):
        _ = 1 / (arms.rows.tolist() != [5, 0] or arms.rounds != 7)
    assert (arms.rows.tolist(), arms.rounds) == ([0, 0], 0)


def test_thompson_does_not_wait_for_arms_under_way(earthquake: CausalSystem) -> None:
    policy = ThompsonSampling(earthquake.states).fresh(np.random.default_rng(0))
    outstanding: list[Pull] = []
    for _ in range(20):
        outstanding.append(policy.ask_beside(outstanding))
    arms = [{name: state} for name in earthquake.states for state in earthquake.states[name]]
    assert [dict(pull.intervention) for pull in outstanding[:8]] == arms


def test_fixed_evidence_asks_for_what_is_missing_and_no_more(earthquake: CausalSystem) -> None:
    """All arms of the first question may be under way at once; then there is nothing to ask for."""
    graph = earthquake.essential_graph()
    reward_gap, effect_gap = earthquake.effective_gaps(graph)
    policy = CNUCB(
        graph,
        earthquake.states,
        earthquake.marginals(),
        reward_gap=reward_gap,
        effect_gap=effect_gap,
        noise_scale=earthquake.noise_scale,
        evidence="fixed",
    )
    outstanding: list[Pull] = []
    while (pull := policy.ask_beside(outstanding)) is not None:
        outstanding.append(pull)
    assert len({pull.intervention for pull in outstanding}) == len(outstanding)
    assert all(pull.size == policy._evidence.batch for pull in outstanding)
    first = outstanding[0]
    outstanding[0] = Pull(first.intervention, first.size - 10)
    rest = policy.ask_beside(outstanding)
    assert (rest.intervention, rest.size) == (first.intervention, 10)


def test_screening_asks_no_more_of_what_will_do(earthquake: CausalSystem) -> None:
    """With any number of its arm's rows under way it turns to another pull instead of telling apart again."""
    policy = ScreeningUCB(earthquake.states, noise_scale=0.5, explore="identify")
    rng = np.random.default_rng(1)
    for _ in range(100):
        pull = policy.ask()
        if policy.why(pull).startswith("it best tells"):
            beside = policy.ask_beside([Pull(pull.intervention, 1_000_000)])
            assert beside is not None
            assert beside.intervention != pull.intervention or "the highest draw" in policy.why(beside)
            return
        policy.tell(pull, earthquake.sample(pull.intervention, 1, rng))
    pytest.fail("it never told two explanations apart")
