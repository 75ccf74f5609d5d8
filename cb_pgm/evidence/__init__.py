"""Evidence: decides when rows are enough to answer a query or to rule a variable out.

In: rows observed under interventions. Out: answers that are all correct with probability ≥ 1 − δ. `fixed` and
`sequential` answer the queries of a search. `hypotheses` weighs what the reward may depend on; `screening`
rules out sets of variables by it, and `invariance` where hidden causes may move the reward. `tuned` has the
numbers that were chosen. `confidence` has the confidence bounds that hold at all times simultaneously.
"""
