"""Policies: `ask` one for a pull, do that, `tell` it what came of it.

In: states, σ, and for some a graph, marginals and gaps (`registry.PolicyContext`). Out: pulls, the variables
identified as the reward's parents, and an interval for every arm. `base` has the interface; `arms` the
bookkeeping that index policies share; there is one file for each policy, and a line in `registry`.
"""
