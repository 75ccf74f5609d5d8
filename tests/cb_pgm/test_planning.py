"""Plans: the theorem's budgets on real networks, forecasts that are simulations, and plain advice."""

import json

import pytest

from cb_pgm import CausalSystem, instances
from cb_pgm.cli.program import main
from cb_pgm.planning import make_plan

BUDGETS = [
    ("cancer", "Xray=negative", 387_152, 120),
    ("earthquake", "MaryCalls=True", 1529, 125),
    ("asia", "xray=yes", 50_953, 82),
    ("insurance", "ILiCost=Thousand", None, 2791),
]


@pytest.mark.parametrize(("network", "reward", "printed", "effective"), BUDGETS)
def test_budgets_of_real_networks(network: str, reward: str, printed: int | None, effective: int) -> None:
    """B at the gaps as printed and at the effective ones, δ = .05; None where a gap is 0."""
    system = CausalSystem.from_bif(f"data/{network}.bif", reward=reward)
    plan = make_plan(system, horizon=50, policies=["ucb"], runs=1)
    assert (plan.printed.batch, plan.effective.batch) == (printed, effective)
    assert plan.effective.exploration is not None
    assert plan.effective.exploration > effective


def test_it_says_when_cn_ucb_is_the_wrong_tool_and_who_is_better() -> None:
    system = instances.tree(10, 2, noise="bernoulli", seed=3)
    plan = make_plan(system, horizon=2000, runs=2)
    of = {forecast.policy: forecast for forecast in plan.forecasts}
    assert list(of) == ["ucb", "cn-ucb-fixed", "cn-ucb", "screening"]
    assert of["cn-ucb-fixed"].fits is False
    assert any(line.startswith("cn-ucb-fixed is the wrong tool at 2,000 rounds") for line in plan.advice)
    assert of["screening"].right == 1.0
    assert of["screening"].beats_ucb_from is not None
    assert of["screening"].regret < of["ucb"].regret


def test_policies_told_the_truth_are_floors_and_never_advised() -> None:
    system = instances.tree(6, 2, seed=4)
    plan = make_plan(system, horizon=500, policies=["causal-ucb", "oracle", "screening"], runs=2)
    of = {forecast.policy: forecast for forecast in plan.forecasts}
    for told in ("causal-ucb", "oracle"):
        assert of[told].regret < of["ucb"].regret
        assert (of[told].pulls_to_name, of[told].fits) == (None, None)
    assert not any("causal-ucb" in line or "oracle" in line for line in plan.advice)


def test_a_gap_of_zero_is_no_budget_at_all() -> None:
    system = instances.lower_bound_effect_gap(4, 2, instance=1, horizon=1000)
    plan = make_plan(system, horizon=300, runs=1)
    assert plan.effective.batch is None
    assert any("a gap is 0" in line for line in plan.advice)


def test_the_command_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--n", "8", "--n-states", "2", "--horizon", "500", "--runs", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["horizon"]) == (8, 500)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ([], "--n"),
        (["--n", "8", "--reward", "x"], "--reward"),
        (["--model", "data/asia.bif"], "--reward"),
        (["--n", "8", "--degree", "7"], "--degree"),
    ],
)
def test_options_that_do_not_go_together_are_refused_by_name(
    options: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["plan", *options])
    assert ended.value.code == 2
    assert named in capsys.readouterr().err
