"""What policies need of a table: its graph, the unit of its rewards, what can be set, and rows to start from.

    problem = Problem(read_csv("data/asia.csv", reward="xray=yes"))
    problem.fitted.system, problem.graph.graph, problem.earlier_rows()

In: a table of observations with rewards. Out: a `Problem`, made once and used by runs, plans, studies,
sessions and replays. `graph_files` reads graphs, `truth` reads true networks, `earlier_rows` groups a table's
rows by what was set in them.
"""

from cb_pgm.problem.problem import Problem

__all__ = ["Problem"]
