"""Real experiments: a policy asks, somebody does it and tells what came of it, and it can stop at any time.

A session is a log of events in one SQLite file. What the policy knows is never stored: policies are
deterministic given their seed and what they were asked and told, so it is rebuilt from the log.

    events      what can happen to a session, and how it is written down
    store       the file: one transaction a verb, a chain of hashes over the log
    settings    what was decided at the start, and the policy that follows from it
    trial       where a session stands: the policy, the pulls that are open, what is left to ask for
    starting    from a table, or from names of states only, to settings
    rows        the rows that a person tells, checked field by field
    status      what is known so far, for people and programs
    verbs       `Session`: start, ask, tell, withdraw, status, export
"""
