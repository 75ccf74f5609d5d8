"""Estimate an essential graph and marginals from a table.

In: a `DiscreteTable`, and background knowledge of the graph (`knowledge`). Out: an `EstimatedGraph`
(`estimation`) with its `Marginals`. causal-learn's GES runs in `ges_search` and its PC in `pc_search`, with
scores and tests that are computed here (`counted_scores`, `contingency`); `chow_liu` finds trees. A result
that isn't a valid essential graph is repaired, and made to respect the knowledge (`informed`).
"""
