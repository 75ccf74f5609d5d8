"""Figures: one function makes a tidy data frame of the data shown, another one draws that frame.

In: results, curves and graphs. Out: data frames and matplotlib figures. `regret` draws regret curves and
holds the style of all figures. `results` draws rounds to identification, arm means and regret against rows.
`graph_plots` draws graphs; `graph_drawing` and `layered_layout` are its parts.
"""
