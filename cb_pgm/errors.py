"""The errors of this package, which all descend from `CausalBanditError`.

Each message is one line that names what was expected, what was found and where, and what to do.
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
    """The base class of all errors that `cb_pgm` raises on purpose."""


class CausalSystemError(CausalBanditError):
    """A causal system, or an intervention on it, isn't valid."""


class PolicyError(CausalBanditError):
    """A policy was made with invalid settings, or told rows that don't fit."""


class ReportError(CausalBanditError):
    """A folder holds nothing to report on, or a file in it isn't valid."""


class SearchError(CausalBanditError):
    """A search can't work with a graph or an answer."""


class SessionError(CausalBanditError):
    """A session can't be started or read, or refuses rows; nothing was recorded."""


class SessionBusyError(SessionError):
    """Another process used the session for longer than the timeout."""


class StudyError(CausalBanditError):
    """The configuration of a study, or the folder for its results, isn't valid."""
