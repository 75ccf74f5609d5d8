"""Policies to compare with: CN-UCB as printed, rivals of later papers, and oracles that are told the truth.

`raps`, `learn_graph` and `printed` explore, then commit (`exploration`). `ucb_plus` plays random
interventions on several variables, and `bbb` starts from a table. `causal_ucb`, `pomis` and `oracle` are told
the true system.
"""
