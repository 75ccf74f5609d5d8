"""The errors of this package; all descend from `CausalBanditError`.

A message says what was expected, what was found, where, and what to do, in one line.
"""

__all__ = [
    "CausalBanditError",
    "CausalSystemError",
    "PolicyError",
    "ReportError",
    "SearchError",
    "SessionBusyError",
    "SessionError",
    "StudyError",
]


class CausalBanditError(ValueError):
    """Root of every error that `cb_pgm` raises on purpose."""


class CausalSystemError(CausalBanditError):
    """A causal system, or an intervention on it, isn't what it must be."""


class PolicyError(CausalBanditError):
    """A policy was made with wrong settings or told something that doesn't fit."""


class ReportError(CausalBanditError):
    """A folder that holds nothing to report on, or a file in it that isn't what it must be."""


class SearchError(CausalBanditError):
    """A graph or an answer that a search can't work with."""


class SessionError(CausalBanditError):
    """A session can't be started, read or told what it was told; nothing of it was recorded."""


class SessionBusyError(SessionError):
    """Another process was working on the session for too long."""


class StudyError(CausalBanditError):
    """A study's configuration, or the folder that it should go to, isn't what it must be."""
