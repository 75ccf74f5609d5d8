"""Policies: `ask` a policy for a pull, make that pull, and `tell` the policy the rows observed.

A policy takes the states, σ and, for some policies, a graph, marginals and gaps (`context.PolicyContext`). It
returns pulls, the variables identified as the reward's parents, and a confidence interval for every arm.
`base` defines the interface, and `arms` keeps the statistics that index policies share. Each policy has one
file here and a line in `registry`. `posterior` has the default, which draws what to play from
the posterior over hypotheses; `cn_ucb` adds queries on a graph to it. `baselines` has the rivals.
"""
