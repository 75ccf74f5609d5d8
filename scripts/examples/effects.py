"""What a table says of an intervention: the kidney stones of Charig et al. (1986), Simpson's paradox."""

from cb_pgm import estimate_effects
from discovery import read_csv

table = read_csv("data/kidney_stones.csv", reward="success=yes")
report = estimate_effects(table, not_settable=["size"], draws=20)
for arm in report.arms:
    print(arm.intervention, f"{arm.mean:.2f}")
print("decided:", report.decision.is_decided, "- it depends on", [edge.edge for edge in report.hangs_on])
