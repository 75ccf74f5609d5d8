"""Essential graphs (CPDAGs): the graph itself, the conditions that make one valid, and Meek's rules.

In: nodes with directed and undirected edges, as Python values, a DAG or JSON (`graph_json`). Out: an
`EssentialGraph`, which is always valid (`characterization`, with `chain_graphs` and `chordality`), a graph
closed under Meek's rules that takes further directions (`meek`), members of its class (`class_sampling`,
`extension`), the distance of two graphs (`comparison`), and the graph in the forms of other programs
(`formats`). `MixedGraph` holds edges with any marks, and `repair` finds an essential graph near them.
"""
