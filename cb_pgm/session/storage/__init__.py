"""A session on disk: its events in one SQLite file.

In: events. Out: the state that they lead to. `log` joins the two parts: `store` is the file, and `snapshot`
packs a long log into one block, which is read faster than event by event.
"""
