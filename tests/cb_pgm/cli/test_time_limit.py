"""`time_limit` of a knowledge file bounds all searches of a command together."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cb_pgm.cli.program import main

LIMIT = 1.5
COMMANDS = {
    "discover": ["--bootstrap", "40"],
    "effects": ["--seed", "0", "--draws", "40"],
    "run": ["--policy", "moss", "--horizon", "10", "--seed", "0"],
}


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a table on which one search takes seconds, and forty take minutes."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (2_000, 61))
    for column in range(1, 61):
        copies = rng.random(2_000) < 0.7
        codes[copies, column] = codes[copies, rng.integers(column)]
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    pd.DataFrame(codes, columns=[*(f"v{number}" for number in range(60)), "y"]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_searches_of_a_command_last_no_longer_than_the_limit(command, wide, tmp_path, capsys):
    """Against the same command whose searches end at once, which takes what reading and all else takes."""
    lasted = []
    for limit in (1e-9, 1e-9, LIMIT):  # the first one also imports
        known = tmp_path / "known.toml"
        known.write_text(f"[search]\ntime_limit = {limit}\n")
        began = time.monotonic()
        assert (
            main([command, str(wide), "--reward", "y=1", "--knowledge", str(known), *COMMANDS[command]]) == 0
        )
        lasted.append(time.monotonic() - began)
    out, err = capsys.readouterr()
    assert f"time limit of {LIMIT:g} s ended" in out + err
    _, rest, limited = lasted
    assert limited < rest + 1.5 * LIMIT, lasted
