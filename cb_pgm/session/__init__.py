"""Real experiments: a policy asks, somebody does it and tells what came of it, and it can stop at any time.

A session is a log of events in one SQLite file. What the policy knows is never stored: policies are
deterministic given their seed and what they were asked and told, so it is rebuilt from the log.

    verbs       `Session`: start, ask, tell, withdraw, status, export
    starting    what a session can be started with; from_table: graph, gaps and earlier rows out of a table
    settings    what was decided at the start, and the policy that follows from it
    events      what can happen to a session, and how it is written down
    store       the file: one transaction a verb, a chain of hashes over the log
    snapshot    a long log in one piece
    log         reads what is new in the file, adds to it, and keeps the trial to which it leads
    trial       where a session stands: the policy, the pulls that are open, what is left to ask for
    rows        the rows that a person tells, checked field by field
    status      what is known so far, for people and programs
    export      all rows told, as a table
"""
