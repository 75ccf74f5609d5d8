"""Pulls and counts in words."""

from __future__ import annotations

from cb_pgm.model.intervention import Intervention

__all__ = ["counted", "setting_text"]


def counted(size: int, unit: str) -> str:
    """Return "25 patients", or "1 patient".

    Examples
    --------
    >>> counted(1200, "patients"), counted(1, "rows")
    ('1,200 patients', '1 row')
    """
    return f"{size:,} {unit.removesuffix('s') if size == 1 else unit}"


def setting_text(intervention: Intervention) -> str:
    """Return an intervention as "drug = high".

    Examples
    --------
    >>> setting_text(Intervention({"drug": "high"})), setting_text(Intervention())
    ('drug = high', 'nothing')
    """
    return ", ".join(f"{name} = {state}" for name, state in intervention.items()) or "nothing"
