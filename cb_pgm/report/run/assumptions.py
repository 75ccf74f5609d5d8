"""The section that compares the assumptions with what was measured."""

from __future__ import annotations

from cb_pgm.report.html.page import Paragraph, Section, Table
from cb_pgm.report.run.folder import RunFolder
from cb_pgm.wording import count, listed, number

__all__ = ["assumptions_section"]

_YES, _NO, _OPEN = "✓\N{NO-BREAK SPACE}holds", "✗\N{NO-BREAK SPACE}fails", "?\N{NO-BREAK SPACE}unknown"
_REWARD_GAP = "Every ancestor of the cause changes the mean reward by at least Δ (Assumption 3)"
_EFFECT_GAP = "Every variable changes the distribution of its children by at least ε (Assumption 2)"
_Row = tuple[str, str, str]


def assumptions_section(run: RunFolder) -> Section:
    """Return a table of every assumption, what was measured, and whether it holds."""
    where = "the fitted model" if run.result["rehearsal"] else "the true network"
    rows = [
        _single_cause(run),
        _sufficiency(run),
        _gap(
            run, "reward", "Every ancestor of the cause changes the mean reward by at least Δ (Assumption 3)"
        ),
        _gap(
            run,
            "effect",
            "Every variable changes the distribution of its children by at least ε (Assumption 2)",
        ),
        _noise(run),
        _marginals(run),
        _positivity(run),
    ]
    note = Paragraph(
        f"Measured exactly in {where}. The effective gaps count only what the search for the cause meets: "
        f"effects of the cause's ancestors, and effects along edges inside the cause's own chain component."
        + (" What holds in a fitted model may fail in the world." if run.result["rehearsal"] else "")
    )
    table = Table(
        "Assumptions of Lu, Meisami & Tewari (2021) and of this package",
        ["assumption", "measured", "verdict"],
        rows,
    )
    return Section("assumptions", "Assumptions checked", [note, table])


def _single_cause(run: RunFolder) -> _Row:
    parents = run.material["measured"]["reward_parents"]
    allowed = run.settings["resolved"]["max_parents"]
    return (
        "The reward has one direct cause"
        if allowed == 1
        else f"The reward has at most {allowed} direct causes",
        f"{len(parents)}: {listed(parents)}",
        _YES if len(parents) <= allowed else _NO,
    )


def _sufficiency(run: RunFolder) -> _Row:
    assumed = "No unobserved common causes (Assumption 1)"
    if run.result["rehearsal"]:
        return assumed, "not visible in a table", _OPEN
    measured = run.material["measured"]
    if measured["hidden_confounders"]:
        return assumed, f"hidden: {listed(measured['hidden_confounders'])}", _NO
    if measured["hidden"]:
        return assumed, f"hidden, but no common cause: {listed(measured['hidden'])}", _YES
    return assumed, "every variable of the network has its column", _YES


def _gap(run: RunFolder, which: str, assumed: str) -> _Row:
    measured = run.material["measured"]
    printed, effective = measured[f"{which}_gap"], measured[f"effective_{which}_gap"]
    given = run.settings["resolved"][f"{which}_gap"]
    enough = effective > 0 and given <= effective * (1 + 1e-9)
    return (
        assumed,
        f"{number(printed)} over all, {number(effective)} effective; the policies were given {number(given)}",
        _YES if enough else _NO,
    )


def _noise(run: RunFolder) -> _Row:
    given, own = run.settings["resolved"]["noise_scale"], run.material["measured"]["noise_scale"]
    return (
        "Rewards are σ-subgaussian around their mean",
        f"σ = {number(own)}; the policies were given {number(given)}",
        _YES if given >= own * (1 - 1e-9) else _NO,
    )


def _marginals(run: RunFolder) -> _Row:
    measured, gap = run.material["measured"], run.settings["resolved"]["effect_gap"]
    error = measured["marginal_error"]
    return (
        "The table has enough rows: its frequencies are within ε/2 of the probabilities",
        f"{count(measured['marginal_rows'], 'row')}: within {number(error)}; ε/2 is {number(gap / 2)}",
        _YES if error < gap / 2 else _NO,
    )


def _positivity(run: RunFolder) -> _Row:
    smallest = run.material["measured"]["smallest_probability"]
    return (
        "Every state has positive probability given any states of its parents (screening relies on it)",
        f"smallest probability {number(smallest)}",
        _YES if smallest > 0 else _NO,
    )
