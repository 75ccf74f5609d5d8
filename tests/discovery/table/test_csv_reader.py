"""The cost of reading: time and memory of large tables."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from discovery import read_csv

_MEASURED_READ = """
import resource, sys
from discovery import read_csv
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
table = read_csv(sys.argv[1])
counts = [len(states) for states in table.states.values()]
print(table.n_rows, sum(counts), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_half_a_million_rows_take_less_memory_than_their_text(tmp_path: Path) -> None:
    """500,000 rows by 50 columns, 160 MB; as text in memory the fields alone would take over a gigabyte.

    Codes need 50 MB and twice that while they are put together; 50 MB more are left for blocks. About a
    minute.
    """
    rng = np.random.default_rng(0)
    path = tmp_path / "large.csv"
    states = np.array(["LOW", "AVERAGE", "HIGH", "VERYHIGH"])
    with path.open("w") as file:
        file.write(",".join(f"v{i}" for i in range(50)) + "\n")
        for _ in range(50):
            file.writelines(",".join(row) + "\n" for row in states[rng.integers(0, 4, (10_000, 50))])
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED_READ, str(path)], capture_output=True, text=True, check=True
    )
    n_rows, n_states, kilobytes = map(int, done.stdout.split())
    assert (n_rows, n_states) == (500_000, 200)
    assert kilobytes < 200_000


def test_the_time_grows_with_the_columns_and_not_with_their_pairs(tmp_path: Path) -> None:
    """1,600 columns in at most 8 times the time that 400 take (4 expected; comparing pairs would make it "
    "16)."""
    rng = np.random.default_rng(0)
    seconds = []
    for n in (400, 1_600):
        path = tmp_path / f"wide{n}.csv"
        rows = rng.choice(["a", "b", "c"], (1_000, n))
        path.write_text("\n".join([",".join(f"v{i}" for i in range(n)), *(",".join(row) for row in rows)]))
        begin = time.process_time()
        assert len(read_csv(path).variables) == n
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 8 * seconds[0] + 0.2
