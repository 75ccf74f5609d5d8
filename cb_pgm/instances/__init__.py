"""Systems to learn against: random ones whose gaps are known, the lower bounds', and ones that mislead.

In: sizes, gaps and a seed. Out: a `CausalSystem`. `families` documents the settings that the random families
share; `hidden_causes` and `several_causes` hold systems in which the assumption of a single, unconfounded
cause of the reward fails, `misleading_tables` those whose observations say the opposite of the truth,
`best_left_alone` those in which do() is the best arm, and `factors` the variables of an experiment.
`random_tables` draws the whole system at random, without any gap.
"""

from cb_pgm.instances.best_left_alone import hidden_chain, informed_choice
from cb_pgm.instances.factors import factors
from cb_pgm.instances.families import chordal, forest, random_dag, tree
from cb_pgm.instances.hidden_causes import confounded, hidden_dag, proxy
from cb_pgm.instances.lower_bounds import lower_bound_effect_gap, lower_bound_reward_gap
from cb_pgm.instances.misleading_tables import indication, selection, simpson
from cb_pgm.instances.random_tables import random_tables
from cb_pgm.instances.several_causes import interaction, many_parents, xor

__all__ = [
    "chordal",
    "confounded",
    "factors",
    "forest",
    "hidden_chain",
    "hidden_dag",
    "indication",
    "informed_choice",
    "interaction",
    "lower_bound_effect_gap",
    "lower_bound_reward_gap",
    "many_parents",
    "proxy",
    "random_dag",
    "random_tables",
    "selection",
    "simpson",
    "tree",
    "xor",
]
