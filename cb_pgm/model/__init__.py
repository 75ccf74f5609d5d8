"""The causal system: variables, their conditional probability tables, the reward, and do().

In: a network (pgmpy, BIF) or a table to fit one to. Out: a `CausalSystem`, which is sampled under
interventions (`sampler`) and whose arm means and gaps are computed exactly (`exact`, `gaps`).
`intervention` has the values that all of `cb_pgm` shares; pgmpy is reached through `pgmpy_networks` only.
"""
