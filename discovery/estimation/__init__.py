"""From a table to an essential graph and marginals.

In: a `DiscreteTable`, and what is known of the graph (`knowledge`). Out: an `EstimatedGraph`. causal-learn's
GES (`ges_search`) and PC (`pc_search`) run with scores and tests counted here (`counted_scores`,
`contingency`); what they return is repaired where it isn't a valid essential graph, and made to respect the
knowledge (`informed`).
"""
