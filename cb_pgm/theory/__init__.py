"""Theory in numbers: the guarantees of the paper's theorems and the limits of what any policy can achieve.

In: the size of a problem, its gaps or a whole system. Out: numbers of pulls and regret. `bounds` evaluates
the paper's theorems; `information_bound` gives the fewest pulls that can identify the reward's parent, and
`regret_floor` the least regret.
"""

from cb_pgm.theory.bounds import batch_size, exploration_bound, minimax_lower_bound, regret_bound
from cb_pgm.theory.regret_floor import graves_lai_constant, naming_floor, regret_floor

__all__ = [
    "batch_size",
    "exploration_bound",
    "graves_lai_constant",
    "minimax_lower_bound",
    "naming_floor",
    "regret_bound",
    "regret_floor",
]
