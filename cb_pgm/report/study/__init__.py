"""The report of a study: its results summarised in frames (`summary`), and its page."""
