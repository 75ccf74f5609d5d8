"""The errors of this package; all descend from `CausalBanditError`.

A message says what was expected, what was found, where, and what to do, in one line.
"""

__all__ = ["CausalBanditError", "CausalSystemError", "PolicyError", "SearchError"]


class CausalBanditError(ValueError):
    """Root of every error that `cb_pgm` raises on purpose."""


class CausalSystemError(CausalBanditError):
    """A causal system, or an intervention on it, isn't what it must be."""


class PolicyError(CausalBanditError):
    """A policy was made with wrong settings or told something that doesn't fit."""


class SearchError(CausalBanditError):
    """A graph or an answer that a search can't work with."""
