"""The report of one run: its folder, written and read back (`folder`), and its page."""
