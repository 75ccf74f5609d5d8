"""Evidence: decides when rows are enough to answer a query or to rule a variable out.

In: rows observed under interventions. Out: answers that are all correct with probability ≥ 1 − δ. `fixed` and
`sequential` answer the queries of a search. `screening` rules out sets of variables with every row;
`invariance` does where hidden causes may move the reward. `likelihoods` weighs the sets that are left.
`confidence` has the confidence bounds that hold at all times simultaneously.
"""
