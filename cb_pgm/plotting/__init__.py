"""Figures: one function makes a tidy data frame of the data shown, another one draws that frame.

In: results, curves and graphs. Out: data frames and matplotlib figures. `regret` draws regret curves and
holds the style of all figures. `results` draws rounds to identification and regret against rows, `effects`
the intervals of arms, `graphs` graphs, which `layered_layout` places.
"""
