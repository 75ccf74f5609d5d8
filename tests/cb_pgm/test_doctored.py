"""Folders that somebody has doctored are read, or refused in one line; they run no code."""

from pathlib import Path

import doctored
import pytest


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("doctored")
    doctored.prepare(work)
    return work


@pytest.mark.parametrize("kind", ["session", "study", "run"])
@pytest.mark.parametrize("ways", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_each_way_ends_in_one_line(kind: str, ways: int, folders: Path) -> None:
    faults = {change: found for change, found in doctored.attacks(kind, ways, 1, folders) if found}
    assert not faults
