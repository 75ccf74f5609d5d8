"""Find the reward's parent in a known graph by queries whose answers are exact."""

from cb_pgm import instances, search

system = instances.tree(100, 3, seed=1)
answer = search.exact_answers(system.dag, system.reward_parents)
result = search.solve(search.sound(system.essential_graph()), answer)
print("found", result.reward_variables, "after", len(result.queries), "queries; true:", system.reward_parents)
