"""Policies: `ask` a policy for a pull, make that pull, and `tell` the policy the rows observed.

A policy takes the states, σ and, for some policies, a graph, marginals and gaps (`context.PolicyContext`). It
returns pulls, the variables identified as the reward's parents, and a confidence interval for every arm.
`base` defines the interface, and `arms` keeps the statistics that index policies share. Each policy has one
file here and a line in `registry`. `screening_ucb` is put together from `likely_play`, `separating_pulls`,
`identified_play` and `invariance_follow_up`, one for each stage of what is known of the reward's parents.
"""
