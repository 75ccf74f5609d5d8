"""From a CSV file or a data frame to coded observations of discrete variables.

In: a file, or a frame. Out: a `DiscreteTable`. `csv_reader` reads fields as text; `rows` chooses the rows and
takes out the reward; `coding`, `variables` and `binning` turn columns into states.
"""
