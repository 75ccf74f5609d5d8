"""Evidence: when rows are enough to answer a question, or to rule a variable out.

In: rows seen under interventions. Out: answers that are wrong with probability at most δ. `fixed` and
`sequential` answer the questions of a search; `screening` rules out sets of variables by every row;
`confidence` has the intervals that hold at all times at once.
"""
