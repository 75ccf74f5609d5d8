"""The report of a session: its folder read without changing it (`folder`), and its page."""
