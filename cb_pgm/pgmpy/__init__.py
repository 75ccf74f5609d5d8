"""For users of pgmpy: its proposed interface of causal bandits, and its manner of estimators.

Comes in: a pgmpy network or DAG, and data frames. Goes out: interventions to make. README.md in this folder
has an example of each.
"""

from cb_pgm.pgmpy.bandit import CausalBanditModel, CausalBanditPolicy
from discovery.estimation.estimators import GES, PC, ChowLiu

__all__ = ["GES", "PC", "CausalBanditModel", "CausalBanditPolicy", "ChowLiu"]
