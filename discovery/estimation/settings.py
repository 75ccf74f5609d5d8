"""How a graph is estimated from a table: the settings that every caller carries, in one value."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, get_args

from discovery.estimation.knowledge import Knowledge

__all__ = ["METHODS", "EstimateSettings", "Method"]

Method = Literal["ges-boss", "ges", "boss", "pc", "chow-liu"]

#: The searches by name, the default first.
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, kw_only=True)
class EstimateSettings:
    """How to estimate the essential graph of a table.

    Attributes
    ----------
    method
        "ges-boss": BOSS, the best order score search, from the graph that "ges" finds; never a lower score.
        "ges": causal-learn's greedy equivalence search with the BDeu score. "boss": BOSS from scratch. "pc":
        causal-learn's PC-stable with the G² test. "chow-liu": the tree of most mutual information, for
        variables known to form a tree without colliders.
    knowledge
        What is known of the graph beforehand, or a TOML file that says so.
    alpha
        PC: above this p-value two variables count as independent.
    uc_rule
        PC: causal-learn's rule for v-structures, 0 to 2. Rule 2 orients only what all tests agree on.
    equivalent_sample_size
        GES and BOSS: what the prior of the BDeu score is worth in rows.
    """

    method: Method = "ges-boss"
    knowledge: Knowledge | str | os.PathLike[str] | None = None
    alpha: float = 0.01
    uc_rule: int = 2
    equivalent_sample_size: float = 1.0

    def estimate_keywords(self) -> dict[str, Any]:
        """Return the settings as keywords of `discovery.estimate`."""
        return {name: getattr(self, name) for name in EstimateSettings.__dataclass_fields__}
