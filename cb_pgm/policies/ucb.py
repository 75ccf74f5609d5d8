"""UCB over single-variable interventions; ignores causal structure."""

from __future__ import annotations

from cb_pgm.policies.index_policy import IndexPolicy

__all__ = ["UCB"]


class UCB(IndexPolicy):
    """Pull the arm with the highest upper confidence bound; O(arms) a round.

    The index is mean + σ√(2 log t / n_a). Source: Auer, Cesa-Bianchi & Fischer, "Finite-time analysis of the
    multiarmed bandit problem" (2002).
    """

    name = "ucb"
    _by_divergence = False
