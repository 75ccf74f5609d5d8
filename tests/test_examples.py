"""The examples run as they stand, and what the project says of itself agrees."""

import re
import subprocess
import sys
from pathlib import Path

import layers
import pytest
from results_run import Run

from cb_pgm.provenance import VERSION

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "scripts" / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_there_is_one_version() -> None:
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE)
    assert cited is not None
    assert cited[1] == VERSION
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_rooms_are_written_with_what_they_are_for(tmp_path: Path) -> None:
    """`scripts/results --only layers --write-results` puts them into CONTRIBUTING.md."""
    (text,) = layers.make(Run("layers", tmp_path)).values()
    assert "| `search` | Searches for the reward's parents in an essential graph |" in text
    assert text.index("`cli`") < text.index("`policies`") < text.index("`errors`")
