"""Real experiments: a policy chooses interventions, somebody carries them out, and a file keeps the rows.

In: a table or the names of states, and the rows measured. Out: the next intervention to make, the status of
the session, and all recorded rows.

`session` has the verbs: start, ask, tell, withdraw, status and export. A start begins with the settings of
`setup`; `beginning` prepares a session from them, with the help of `from_table` if there is a table. `state`
derives the state of a session from its events, `rows` checks incoming rows, and `log` keeps the events
in one SQLite file. `replay` runs a policy on logged interventions instead.
"""
