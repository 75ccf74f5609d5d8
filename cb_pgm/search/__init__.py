"""Searches for the reward variable: which variable to ask about next, and what an answer rules out.

`tree`, `forest` and `general` are the paper's, mended; `sound` is right on every graph; `multiple` finds several reward
variables. Each takes an `discovery.EssentialGraph` and is a generator; `solve` drives one.
"""
