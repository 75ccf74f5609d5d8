"""What several test files here need: the printed algorithms of `scripts/paper_slips.py` and its graphs."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def paper_slips() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "scripts")
        return importlib.import_module("paper_slips")
