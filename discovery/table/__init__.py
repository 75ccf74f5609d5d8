"""Read a CSV file or a data frame into coded observations of discrete variables.

In: a file or a data frame, and settings for columns that can't be used as they are. Out: a `DiscreteTable`
(`discrete_table`). `csv_reader` decides a file's separator and reads its `columns` as text, and `frame` reads
those of a data frame. `rows` separates the reward and chooses the rows. `variables`, `coding` and `binning`
give the columns their states.
"""
