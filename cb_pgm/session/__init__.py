"""Real experiments: a policy against the world, kept on disk between sittings.

In: a table or the names of states, and the rows that somebody measured. Out: the next intervention to make,
where the session stands, and all rows measured. `session` has the verbs (start, ask, tell, withdraw, status,
export); `setup` and `from_table` prepare one; `state` replays its events; `rows` checks what is told;
`storage/` keeps the events in one SQLite file; `replay` runs a policy on logged interventions instead.
"""
