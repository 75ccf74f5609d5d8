"""All rows told in a session, as a person would write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cb_pgm.session.events import Asked, Event, Told
from cb_pgm.session.settings import SessionSettings
from cb_pgm.session.status import setting_text

__all__ = ["exported_rows"]

_ABOUT = ("pull", "asked", "set", "told_at")


def exported_rows(settings: SessionSettings, events: Iterable[tuple[Event, str]]) -> Iterator[list[str]]:
    """Yield a header, then each row told, in the order in which they were told.

    The columns: the pull; what was asked for; the variable that was set, empty where none or several were or
    something else was done than asked; when the row was told; every variable; the reward column. A variable
    that is called like one of the first four makes that one get a "_" at its end.
    """
    columns = [*settings.states, settings.reward.column]
    yield [*(f"{name}_" if name in columns else name for name in _ABOUT), *columns]
    every = list(settings.states.values())
    asked: dict[int, Asked] = {}
    for event, at in events:
        match event:
            case Asked(int(number)):
                asked[number] = event
            case Told(pull, rows):
                intervention = asked[pull].intervention
                setting = setting_text(intervention)
                for codes, field, complied in zip(rows.codes, rows.fields, rows.complied, strict=True):
                    done = next(iter(intervention), "") if complied and len(intervention) == 1 else ""
                    values = [states[code] for states, code in zip(every, codes, strict=True)]
                    yield [str(pull), setting, done, at, *values, settings.reward.text(float(field))]
