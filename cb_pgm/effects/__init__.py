"""The answer from a table: what its rows say of every intervention, on which ground, and what that hangs on.

    report = estimate_effects(read_csv("data/kidney_stones.csv", "success=yes"), not_settable=["size"])
    print(report.to_text())

The grounds, weakest assumption first, all of them side by side for every arm (`measured` has the first two,
`draws` the third):

*measured*: rows in which the variable was set; no assumption about causes.
*bounds*: rows in which the state was seen, and nothing assumed.
*over graphs*: no hidden cause; the graph is drawn anew for every resampled table.

`decision` picks the arm to recommend and says what the choice hangs on, `text` puts all of it in sentences.
"""
