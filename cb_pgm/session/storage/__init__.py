"""A session on disk: events as records (`events`), one SQLite file (`store`), and snapshots of the policy's
state that save replaying (`snapshot`), tied together in `log`.
"""
