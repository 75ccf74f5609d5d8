"""`ReplayReport`: the outcome of replaying a log, as text and for JSON."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cb_pgm.model.intervention import Intervention
from cb_pgm.session.status import Status
from cb_pgm.session.texts import setting_text
from discovery.wording import count, listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LoggedArm", "ReplayReport", "ReplayRun"]


@dataclass(frozen=True)
class LoggedArm:
    """An arm of the log: its intervention, its number of rows, and their mean reward on the log's scale."""

    intervention: Intervention
    rows: int
    mean: float


@dataclass(frozen=True)
class ReplayRun:
    """The outcome of one replay.

    Attributes
    ----------
    pulled
        The number of rows drawn from each arm, in the order of `ReplayReport.arms`.
    observed
        The number of rows drawn under do().
    mean
        The mean reward of the rows drawn from arms; None if there are none.
    regret
        The sum over these rows of (mean of the best arm − mean of the row's arm), in units of the reward.
        The means are those of the whole log. With `minimize` the best arm has the lowest mean, and the
        differences are absolute.
    ended
        Why the replay ended.
    status
        The status of the session at the end.
    """

    pulled: tuple[int, ...]
    observed: int
    mean: float | None
    regret: float
    ended: str
    status: Status


@dataclass(frozen=True)
class ReplayReport:
    """The outcome of replaying a log.

    Attributes
    ----------
    log, reward, minimize
        The file, the reward, and whether low rewards are better.
    seed
        The seed, from which with the number of the run the order of the rows and the policy's draws follow.
    observations
        The number of rows without an intervention.
    arms
        The arms that the policy can ask for.
    left_out
        The arms with too few rows.
    runs
        The replays.
    notes
        Warnings for the user, one sentence each.
    """

    log: str
    reward: str
    minimize: bool
    seed: int
    observations: int
    arms: tuple[LoggedArm, ...]
    left_out: tuple[LoggedArm, ...]
    runs: tuple[ReplayRun, ...]
    notes: tuple[str, ...]

    @property
    def best(self) -> LoggedArm:
        """The arm with the best mean in the log."""
        return (min if self.minimize else max)(self.arms, key=lambda arm: arm.mean)

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            "log": self.log,
            "reward": self.reward,
            "minimize": self.minimize,
            "seed": self.seed,
            "observations": self.observations,
            "arms": [_arm_dict(arm) for arm in self.arms],
            "left_out": [_arm_dict(arm) for arm in self.left_out],
            "best_in_log": dict(self.best.intervention),
            "runs": [
                {
                    "policy": run.status.policy,
                    "pulled": list(run.pulled),
                    "observed": run.observed,
                    "mean": run.mean,
                    "regret": run.regret,
                    "ended": run.ended,
                    **{
                        name: value
                        for name, value in run.status.to_dict().items()
                        if name
                        in ("reward_variables", "ruled_out", "left", "fallback", "best_arm", "certain")
                    },
                }
                for run in self.runs
            ],
            "warnings": list(self.notes),
        }

    def to_text(self) -> str:
        """Return the arms of the log and the outcome of the replays as lines of text."""
        policies = listed(list(self.by_policy()))
        in_turn = sum(arm.mean for arm in self.arms) / len(self.arms)
        done = sum(arm.rows for arm in self.arms)
        aim = f"to {'lower' if self.minimize else 'raise'} {self.reward}"
        lines = [
            f"{self.log}: {self.observations:,} rows without an intervention, {done:,} of "
            f"{count(len(self.arms), 'arm')}; {policies}, {aim}",
            "",
            f"{'Arm':<24}{'rows':>8}{'mean':>10}{'drawn':>10}",
        ]
        for position, arm in enumerate(self.arms):
            drawn = sum(run.pulled[position] for run in self.runs) / len(self.runs)
            mark = "  best in the log" if arm is self.best else ""
            name = f"{setting_text(arm.intervention):<24}"
            lines.append(f"{name}{arm.rows:>8,}{arm.mean:>10.4g}{drawn:>10,.0f}{mark}")
        if self.left_out:
            few = ", ".join(f"{setting_text(arm.intervention)} ({arm.rows})" for arm in self.left_out)
            lines.append(f"Left out, with too few rows: {few}")
        lines += [
            "",
            f"Mean reward {self.best.mean:.4g} of the best arm, {in_turn:.4g} averaged over the arms",
        ]
        if len(self.by_policy()) > 1:
            lines += ["", *_policy_lines(self.by_policy())]
        else:
            lines += ["", *(_run_lines(self.runs[0]) if len(self.runs) == 1 else _summary_lines(self.runs))]
        return "\n".join(lines)

    def by_policy(self) -> dict[str, list[ReplayRun]]:
        """Return the replays of each policy, in the order in which the policies were given."""
        groups: dict[str, list[ReplayRun]] = {}
        for run in self.runs:
            groups.setdefault(run.status.policy, []).append(run)
        return groups

    def __repr__(self) -> str:
        return f"ReplayReport({len(self.runs)} runs on {self.log}, {len(self.arms)} arms)"

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy frame: a row for each policy and replay, in units of the reward."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "policy": policy,
                    "replay": number,
                    "drawn": sum(run.pulled),
                    "observed": run.observed,
                    "mean": run.mean,
                    "regret": run.regret,
                    "identified": " ".join(run.status.reward_variables),
                    "ended": run.ended,
                }
                for policy, runs in self.by_policy().items()
                for number, run in enumerate(runs)
            ]
        )


def _policy_lines(by_policy: Mapping[str, Sequence[ReplayRun]]) -> Iterator[str]:
    """Yield one table of all policies, and why their replays ended."""
    head = ["policy", "replays", "drawn", "mean", "regret", "identified", "best arm"]
    table = [head]
    for policy, runs in by_policy.items():
        means = [run.mean for run in runs if run.mean is not None]
        best = [run.status.best_arm for run in runs]
        table.append(
            [
                policy,
                f"{len(runs)}",
                f"{statistics.fmean(sum(run.pulled) for run in runs):,.0f}",
                f"{statistics.fmean(means):.4g}" if means else "–",
                f"{statistics.fmean(run.regret for run in runs):.4g}",
                _most_frequent(" and ".join(run.status.reward_variables) or "none" for run in runs),
                _most_frequent("none" if arm is None else setting_text(arm.intervention) for arm in best),
            ]
        )
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]
    for row in table:
        cells = [
            text.rjust(width) if 0 < place < 5 else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    yield ""
    yield "drawn: rows drawn from arms; mean: of their rewards; regret: against drawing the best arm only."
    if any(len(runs) > 1 for runs in by_policy.values()):
        yield "Numbers are means over the replays; identified and best arm are the most frequent ones."
    for policy, runs in by_policy.items():
        yield f"{policy} ended: {_counted(run.ended for run in runs)}"


def _most_frequent(texts: Iterable[str]) -> str:
    ((text, times), *others) = Counter(texts).most_common()
    return f"{text} ({times})" if others else text


def _run_lines(run: ReplayRun) -> Iterator[str]:
    under_do = f" and {run.observed:,} under do()" if run.observed else ""
    yield f"Drawn       {sum(run.pulled):,} rows{under_do}; {run.ended}"
    if run.mean is not None:
        yield f"Mean        {run.mean:.4g} of the rows drawn"
        yield f"Regret      {run.regret:.4g} against drawing the best arm only"
    _, *known = run.status.to_text().splitlines()
    yield from (line for line in known if not line.startswith(("Open", "Over")))


def _summary_lines(runs: Sequence[ReplayRun]) -> Iterator[str]:
    regrets = [run.regret for run in runs]
    drawn = [sum(run.pulled) for run in runs]
    best = [run.status.best_arm for run in runs]
    yield f"{len(runs)} replays, {min(drawn):,} to {max(drawn):,} rows drawn"
    yield (
        f"Regret      mean {statistics.fmean(regrets):.4g}, from {min(regrets):.4g} to {max(regrets):.4g}, "
        f"against drawing the best arm only"
    )
    yield f"Identified  {_counted(' and '.join(run.status.reward_variables) or 'none' for run in runs)}"
    yield f"Gave up     {_counted(run.status.fallback or 'no' for run in runs)}"
    yield f"Best arm    {_counted('none' if arm is None else setting_text(arm.intervention) for arm in best)}"
    yield f"Ended       {_counted(run.ended for run in runs)}"


def _counted(texts: Iterable[str]) -> str:
    return "; ".join(f"{text} ({times})" for text, times in Counter(texts).most_common())


def _arm_dict(arm: LoggedArm) -> dict[str, Any]:
    return {"set": dict(arm.intervention), "rows": arm.rows, "mean": arm.mean}
