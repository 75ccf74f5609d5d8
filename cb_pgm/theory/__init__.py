"""What the paper's theorems promise, in numbers (`bounds`), and how few pulls could identify the reward's
parent at all (`information_bound`).
"""

from cb_pgm.theory.bounds import batch_size, exploration_bound, minimax_lower_bound, regret_bound

__all__ = ["batch_size", "exploration_bound", "minimax_lower_bound", "regret_bound"]
