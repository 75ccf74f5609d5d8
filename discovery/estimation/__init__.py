"""Estimate an essential graph and marginals from a table.

In: a `DiscreteTable`, and background knowledge of the graph (`knowledge`). Out: an `EstimatedGraph`
(`estimation`) with its `Marginals`. `score_search` finds the graph with the highest score, by `ges` and
`boss`; `pc` tests independencies, `chow_liu` finds trees; causal-learn orients PC's graphs and runs its own
GES (`causal_learn`). Scores and tests are computed from counts (`contingency`, `batch_counts`,
`counted_scores`). A result is made to respect the knowledge (`informed`).
"""
