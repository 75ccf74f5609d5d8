"""Repair a graph: find the nearest essential graph, and list each change with its reason.

In: any directed, undirected and bidirected edges, and how strongly the data support each edge. Out: an
`EssentialGraph` and a list of `Change` (`repairs`). The search for it (`search`, from the graphs of `starts`)
and the reasons (`reasons`) work on small fast graphs (`bitset_graphs`).
"""
