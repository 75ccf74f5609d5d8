"""The section that holds the assumptions against what was measured."""

from __future__ import annotations

from cb_pgm.report.html.page import Paragraph, Section, Table
from cb_pgm.report.run.folder import RunFolder
from cb_pgm.wording import count, listed, number

__all__ = ["assumptions_section"]

_YES, _NO, _OPEN = "✓\N{NO-BREAK SPACE}holds", "✗\N{NO-BREAK SPACE}fails", "?\N{NO-BREAK SPACE}unknown"
_Row = tuple[str, str, str]


def assumptions_section(run: RunFolder) -> Section:
    """Return a table of what is assumed, what was measured of it, and whether it holds."""
    where = "the fitted model" if run.result["rehearsal"] else "the true network"
    rows = [
        _single_cause(run),
        _sufficiency(run),
        _gap(run, "reward", "Every ancestor of the cause moves the reward, by Δ at least (Assumption 3)"),
        _gap(run, "effect", "Every variable moves its children, by ε at least (Assumption 2)"),
        _noise(run),
        _marginals(run),
        _positivity(run),
    ]
    note = Paragraph(
        f"Measured exactly in {where}. The effective gaps count only what the search for the cause meets: "
        f"ancestors and edges inside the cause's own chain component."
        + (" What holds in a fitted model may fail in the world." if run.result["rehearsal"] else "")
    )
    table = Table(
        "Assumptions of Lu, Meisami & Tewari (2021), and ours", ["assumed", "measured", "so it"], rows
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
        return assumed, "no table can tell", _OPEN
    return assumed, "every variable of the network has its column", _YES


def _gap(run: RunFolder, which: str, assumed: str) -> _Row:
    measured = run.material["measured"]
    printed, effective = measured[f"{which}_gap"], measured[f"effective_{which}_gap"]
    given = run.settings["resolved"][f"{which}_gap"]
    enough = effective > 0 and given <= effective * (1 + 1e-9)
    return (
        assumed,
        f"{number(printed)} everywhere, {number(effective)} effective; policies were given {number(given)}",
        _YES if enough else _NO,
    )


def _noise(run: RunFolder) -> _Row:
    given, own = run.settings["resolved"]["noise_scale"], run.material["measured"]["noise_scale"]
    return (
        "Rewards scatter by σ at most",
        f"{number(own)}; policies were given {number(given)}",
        _YES if given >= own * (1 - 1e-9) else _NO,
    )


def _marginals(run: RunFolder) -> _Row:
    measured, gap = run.material["measured"], run.settings["resolved"]["effect_gap"]
    error = measured["marginal_error"]
    return (
        "The table has rows enough: its frequencies are off by less than ε/2",
        f"{count(measured['marginal_rows'], 'row')}: off by up to {number(error)}, ε/2 is {number(gap / 2)}",
        _YES if error < gap / 2 else _NO,
    )


def _positivity(run: RunFolder) -> _Row:
    smallest = run.material["measured"]["smallest_probability"]
    return (
        "Every state can follow whatever its parents are (what screening promises rests on it)",
        f"smallest probability {number(smallest)}",
        _YES if smallest > 0 else _NO,
    )
