"""The headline study's outcome in words: one table, wins and losses, and pulls beside the bounds."""

from __future__ import annotations

from collections import Counter

import pandas as pd
from headline_runs import LOOKING, POLICIES, UNTOLD

__all__ = ["as_markdown", "best_rivals", "said_of_pulls", "said_of_regret", "short", "summarised"]

RATIOS_AT = 100
OURS = "screening"
#: Regrets nearer than this count as equal: some standard errors of means over a few systems.
NEAR = 1.1
LOST = 1.5
TWO_CAUSES = ("asia dysp=yes", "alarm EXPCO2=LOW")


def summarised(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per setting and policy: mean regret, median rounds, how often any and the right causes."""
    grouped = runs.groupby(["group", "setting", "policy"], sort=False)
    table = grouped.agg(
        n=("n", "first"),
        n_states=("n_states", "first"),
        horizon=("horizon", "first"),
        table_rows=("table_rows", "first"),
        systems=("instance", "count"),
        regret_floor=("regret_floor", lambda values: values.astype(float).mean()),
        regret=("regret", lambda values: values.astype(float).mean()),
        regret_to_name=("regret_to_name", lambda values: values.astype(float).mean()),
        pulls_to_name=("pulls_to_name", lambda values: values.astype(float).median()),
        named=("correct", "count"),
        right=("correct", lambda values: values.eq(True).sum()),  # None is neither right nor wrong
        raps_batch=("batch", lambda values: values.astype(float).median()),
        raps_pulls_as_printed=("raps_pulls_as_printed", "median"),
    )
    return table.reset_index()


def as_markdown(table: pd.DataFrame) -> str:
    """Return the table for people: mean regret and, in brackets, rounds until the parents were identified."""
    policies = [name for name in POLICIES if name in set(table["policy"])]
    lines = [
        "Mean regret at T against the best arm that any policy may play, arms on several variables included",
        "(median rounds until the reward's parents were identified; – if they weren't). ✗: systems in which",
        "other variables were identified in the end. RAPS is told of the number of parents, and isn't run",
        "where it needs more than T pulls, which it says. –: not played, as the policy needs rewards in",
        "[0, 1], a table, or a true graph. All know σ (screening and causal-ucb that of the reward given its",
        "parents); those that use it, the true essential graph with exact marginals and gaps. floor: what no",
        "policy avoids both here and where another state of the parent is best (`cb_pgm.theory`), for one",
        "parent and no table. posterior-sampling plays as screening does, without its doubts and its test.",
        "",
        "| system | T | floor | " + " | ".join(policies) + " | RAPS by its printed B |",
        "|---|--:|" + "--:|" * (len(policies) + 2),
    ]
    for setting, rows in table.groupby("setting", sort=False):
        by_policy = rows.set_index("policy")
        cells = [_cell(by_policy.loc[name]) if name in by_policy.index else "–" for name in policies]
        first = by_policy.iloc[0]
        lines.append(
            f"| {setting} | {short(first['horizon'])} | {short(first['regret_floor'])} "
            f"| {' | '.join(cells)} | {short(first['raps_pulls_as_printed'])} pulls |"
        )
    return "\n".join(lines)


def best_rivals(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row per setting: our regret, the best untold rival with its regret, and the ratio of both."""
    rows = []
    for setting, own in table.groupby("setting", sort=False):
        by_policy = own.set_index("policy")
        rivals = by_policy.loc[[name for name in UNTOLD if name in by_policy.index], "regret"].dropna()
        ours = by_policy.loc[OURS]
        rows.append(
            {
                "group": ours["group"],
                "setting": setting,
                "table_rows": ours["table_rows"],
                "ours": ours["regret"],
                "rival": rivals.idxmin(),
                "rival_regret": rivals.min(),
                "oracle": by_policy["regret"].get("oracle"),
                "floor": ours["regret_floor"],
                # Of less than one unit of regret on both sides nothing follows.
                "ratio": max(ours["regret"], 1.0) / max(rivals.min(), 1.0),
            }
        )
    return pd.DataFrame(rows)


def said_of_regret(table: pd.DataFrame) -> list[str]:
    """Return wins and losses of screening, each row that it loses clearly with the reason, and two causes."""
    found = best_rivals(table)
    wins, losses = found["ratio"] < 1 / NEAR, found["ratio"] > NEAR
    said = [
        f"Screening, which is told neither graph nor parents, against the best rival that isn't either, row "
        f"by row: it loses less in {wins.sum()} of {len(found)} rows, more in {losses.sum()}, and about as "
        f"much (within a tenth) in {len(found) - (wins | losses).sum()}. The median ratio of its regret to "
        f"theirs is {found['ratio'].median():.2f}. The best rivals: "
        + ", ".join(f"{name} in {count}" for name, count in Counter(found["rival"]).most_common())
        + "."
    ]
    lost = found[found["ratio"] > LOST]
    if len(lost):
        lines = [f"Rows in which it loses more than {LOST} times what the best untold rival does:"]
        for row in lost.itertuples():
            reason = _reason(table[(table["setting"] == row.setting) & (table["policy"] == OURS)].iloc[0])
            beside = f"{short(row.ours)} against {short(row.rival_regret)} ({row.rival})"
            lines.append(f"* {row.setting}: {beside}: {reason}")
        said.append("\n".join(lines))
    else:
        said.append(f"In no row does it lose more than {LOST} times what the best untold rival does.")
    for name in TWO_CAUSES:
        rows = table[table["setting"] == name].set_index("policy")
        if len(rows):
            ours = rows.loc[OURS]
            said.append(
                f"{name} (two causes): screening ended on the right pair in {ours['right']} of "
                f"{ours['systems']} runs; regret {ours['regret']:,.0f}, UCB {rows.loc['ucb', 'regret']:,.0f}."
            )
    return said


def _reason(ours: pd.Series) -> str:
    """Say from the runs where the regret comes from: before identification, after it, or without any."""
    if ours["named"] < ours["systems"] / 2:
        return (
            f"nothing is identified in {int(ours['systems'] - ours['named'])} of {int(ours['systems'])} "
            f"runs, so the rounds that look for causes come on top of play over all arms"
        )
    share = ours["regret_to_name"] / ours["regret"] if ours["regret"] else 1.0
    wrong = int(ours["named"] - ours["right"])
    by_then = (
        f"{share:.0%} of it is lost before the causes are identified, in round {short(ours['pulls_to_name'])}"
    )
    rest = "the rest by pulls that make sure of arms which the causes don't cover" if share < 0.9 else ""
    wrongly = f"other variables than the causes are identified in {wrong} runs" if wrong else ""
    return "; ".join(part for part in (by_then, rest, wrongly) if part)


def said_of_pulls(pulls: pd.DataFrame) -> list[str]:
    """Return the ratios of pulls at n = 100, K = 3, copy probability .95, δ = .05, a paragraph each."""
    at = pulls[pulls["n"] == RATIOS_AT]
    by_tree = at.pivot(index="instance", columns="policy", values="pulls")
    median = by_tree.median()
    wrong = {
        name: f"{int(rows['runs'].sum() - rows['right'].sum())}/{int(rows['runs'].sum())}"
        for name, rows in at.dropna(subset=["runs"]).groupby("policy", sort=False)
    }
    fixed, ours = median["cn-ucb-fixed"], median[OURS]
    raps, printed = median["raps told of one parent"], median["raps by its printed formula"]
    proven, yardstick = median["proven bound"], median["yardstick"]
    lines = [
        f"Pulls to identify the reward's parent, medians over {len(by_tree)} random trees "
        f"(n = {RATIOS_AT}, K = 3, copy probability .95, noise 1, δ = .05):",
        *(f"* {name}: {value:,.0f}" for name, value in median.sort_values(ascending=False).items()),
        f"* screening takes 1/{raps / ours:,.0f} of RAPS' own run, told of one parent, "
        f"and 1/{printed / ours:,.0f} of "
        f"RAPS by its printed formula; 1/{fixed / ours:.0f} of CN-UCB with the fixed budget",
        f"* cn-ucb-sequential takes 1/{fixed / median['cn-ucb-sequential']:.1f} of the fixed budget, cn-ucb "
        f"1/{fixed / median['cn-ucb']:.0f}",
        f"* proven for every policy: kl(δ, 1−δ)/D* = {proven:.0f}, of which screening takes "
        f"{ours / proven:.1f} times; the yardstick (log n + log 1/δ)/D* = {yardstick:.0f} isn't proven: "
        f"{ours / yardstick:.1f} times",
        f"* wrong causes: {', '.join(f'{name} {count}' for name, count in wrong.items())}",
    ]
    return ["\n".join(lines)]


def short(number: float) -> str:
    """Return a number in at most four characters or so: 287, 4.1k, 3.2M; – for none."""
    if pd.isna(number):
        return "–"
    if number == float("inf"):
        return "∞"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            scaled = number / size
            return f"{scaled:.0f}{unit}" if abs(scaled) >= 10 else f"{scaled:.1f}{unit}"
    return f"{number:.0f}"


def _cell(row: pd.Series) -> str:
    pulls = short(row["pulls_to_name"])
    if pd.isna(row["regret"]):
        return f"not run ({pulls})"
    wrong = int(row["named"] - row["right"])
    brackets = f" ({pulls})" if row.name in LOOKING else ""
    return f"{short(row['regret'])}{brackets}" + (f" ✗{wrong}/{int(row['systems'])}" if wrong else "")
