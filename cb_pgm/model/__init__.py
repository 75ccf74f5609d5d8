"""The causal system: variables, their conditional probability tables, the reward, and do().

In: a network (pgmpy's, or a BIF file) or a table of observations to fit one to. Out: a `CausalSystem`, which
draws rows under interventions and gives exact arm means and gaps.

`system` is the class itself; `discrete_model` holds it as arrays, `names` translates what a person writes
into numbers, and `observed_graph` leaves out hidden variables. `sampler`, `exact` (on `contraction`) and
`gaps` do the computing. `fitting` makes a system from a table. `bif` reads and writes files after
`bif_grammar`, and `pgmpy_networks` is the only file that calls pgmpy. `intervention` has the values that all
rooms of `cb_pgm` share.
"""
