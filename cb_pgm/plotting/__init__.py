"""Pictures: first a tidy frame of what is shown, then a thin renderer of it.

`regret` draws regret curves and has the style that all share; `results` draws pulls, arms and regret against
rows; `graph_plots` draws graphs, with `graph_drawing` and `layered_layout` below it.
"""
