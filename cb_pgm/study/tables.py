"""The system of a study that is fitted to a table."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache

from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.problem.problem import Problem, settable_states
from cb_pgm.study.parts import Part
from cb_pgm.tables import read_table
from discovery import TableSettings
from discovery.estimation.settings import METHODS, EstimateSettings

__all__ = ["LIST_KEYS", "TABLE_KEYS", "problem_of", "unit_of"]

#: The keys whose value is a list of its own, not one choice for each of its values.
LIST_KEYS = ("ignore", "keep", "na", "not_settable")
_TABLE_SETTINGS = tuple(field.name for field in fields(TableSettings))
#: The keys of a system that is fitted to a table, besides the label.
TABLE_KEYS = ("table", "reward", "method", "knowledge", "not_settable", *_TABLE_SETTINGS)


@lru_cache(maxsize=8)
def problem_of(part: Part) -> Problem:
    """Read the table of a part.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If the table or a setting isn't valid.
    """
    settings = {key: value for key, value in part.settings if key in _TABLE_SETTINGS}
    table = read_table(
        part["table"] if part.frame is None else part.frame, part["reward"], TableSettings(**settings)
    )
    estimation = EstimateSettings(method=part.get("method", METHODS[0]), knowledge=part.get("knowledge"))
    fixed = part.get("not_settable", ())
    settable_states(table.states, fixed)  # raises where one is unknown
    return Problem(table, estimation, not_settable=fixed)


def unit_of(part: Part) -> RewardUnit:
    """Return the unit of the rewards of a part's table; of other systems it is their own."""
    return problem_of(part).unit if "table" in dict(part.settings) else RewardUnit()
