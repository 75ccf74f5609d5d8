"""A graph from a table, and how far it is from the true one."""

from cb_pgm import CausalSystem
from discovery import compare, estimate, read_csv

found = estimate(read_csv("data/asia.csv", reward="xray=yes"))
true = CausalSystem.from_bif("data/asia.bif", reward="xray=yes").essential_graph()
print("directed:", found.graph.directed)
print("undirected:", found.graph.undirected)
print("structural Hamming distance:", compare(found.graph, true)["shd"])
