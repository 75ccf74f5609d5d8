"""Run policies on a CSV in one call, against a known true network or a model fitted to the CSV.

    report = Pipeline("data/asia.csv", "xray=yes", truth="data/asia.bif", horizon=20_000, seed=1).run()
    print(report.to_text())

In: the settings of a run (`RunSettings`). Out: a `RunReport` with its text and its recommendation.
`Pipeline.prepare` reads the inputs, estimates the graph and refuses bad settings. It returns a `Task`, in
which everything is decided and nothing has been pulled. `play` turns the task into the report.

`Pipeline` is loaded on first use: --help reads the settings alone.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cb_pgm.pipeline.pipeline import Pipeline

__all__ = ["Pipeline"]


def __getattr__(name: str) -> Any:
    if name != "Pipeline":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cb_pgm.pipeline.pipeline import Pipeline

    return Pipeline
