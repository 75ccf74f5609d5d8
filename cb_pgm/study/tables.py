"""The system of a study that is fitted to a table."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache

from cb_pgm.errors import StudyError
from cb_pgm.model.fitting import rehearse
from cb_pgm.model.reward_unit import RewardUnit
from cb_pgm.model.system import CausalSystem
from cb_pgm.study.parts import Part
from cb_pgm.wording import did_you_mean
from discovery import DiscreteTable, TableSettings, estimate, read
from discovery.estimation.settings import METHODS

__all__ = ["LIST_KEYS", "TABLE_KEYS", "fitted_system", "read_part", "unit_of"]

#: The keys whose value is a list of its own, not one choice for each of its values.
LIST_KEYS = ("ignore", "keep", "na", "not_settable")
_TABLE_SETTINGS = tuple(field.name for field in fields(TableSettings))
#: The keys of a system that is fitted to a table, besides the label.
TABLE_KEYS = ("table", "reward", "method", "not_settable", *_TABLE_SETTINGS)


@lru_cache(maxsize=8)
def read_part(part: Part) -> DiscreteTable:
    """Read the table of a part.

    Raises
    ------
    DiscoveryError
        If the table or a setting isn't valid.
    """
    settings = {key: value for key, value in part.settings if key in _TABLE_SETTINGS}
    source = part["table"] if part.frame is None else part.frame
    return read(source, part["reward"], TableSettings(**settings))


def fitted_system(part: Part) -> CausalSystem:
    """Return the model fitted to the table of a part, on the graph that is estimated from it.

    Its rewards are as inside `unit_of` the part.

    Raises
    ------
    DiscoveryError, CausalBanditError
        If the table isn't valid, or no model can be fitted to it.
    """
    table = read_part(part)
    fixed = part.get("not_settable", ())
    for variable in fixed:
        if variable not in table.states:
            raise StudyError(
                f"Expected variables that can't be set to be in the table but found {variable!r}: "
                f"{did_you_mean(variable, table.states)}"
            )
    settable = {name: states for name, states in table.states.items() if name not in fixed}
    graph = estimate(table, part.get("method", METHODS[0])).graph
    return rehearse(unit_of(part).table(table), graph, settable=settable).system


def unit_of(part: Part) -> RewardUnit:
    """Return the unit of the rewards of a part's table; of other systems it is their own."""
    return RewardUnit.of(read_part(part)) if "table" in dict(part.settings) else RewardUnit()
