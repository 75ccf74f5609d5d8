"""From a CSV to a bandit run in one call, against a known truth or against a model fitted to the CSV.

    report = Pipeline("data/asia.csv", "xray=yes", truth="data/asia.bif", horizon=20_000, seed=1).run()
    print(report.to_text())

In: settings. Out: a `RunReport`. `pipeline` reads, estimates and refuses; the `Task` that it makes has
everything decided and nothing pulled, and playing it gives the report, its text and its recommendation.
"""

from cb_pgm.pipeline.pipeline import Pipeline

__all__ = ["Pipeline"]
