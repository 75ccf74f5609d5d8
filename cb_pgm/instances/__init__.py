"""Systems to learn against: random ones whose gaps are known, and the hard families of the lower bounds.

In: sizes, gaps and a seed. Out: a `CausalSystem`. `families` documents the settings that all share.
"""

from cb_pgm.instances.families import chordal, forest, random_dag, tree
from cb_pgm.instances.lower_bounds import lower_bound_effect_gap, lower_bound_reward_gap

__all__ = ["chordal", "forest", "lower_bound_effect_gap", "lower_bound_reward_gap", "random_dag", "tree"]
