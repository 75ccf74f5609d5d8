"""From a table to a recommendation, against a network that is known to be true."""

from cb_pgm import Pipeline

report = Pipeline("data/asia.csv", "xray=yes", truth="data/asia.bif", horizon=2_000, seed=1).run()
print(report.summary()[["policy", "graph", "correct", "regret"]])
print("\n".join(report.recommendation.sentences))
