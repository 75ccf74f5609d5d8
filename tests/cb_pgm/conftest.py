"""What several test files here need: the printed algorithms of `scripts/paper_slips.py` and its graphs."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def paper_slips() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "paper_slips.py"
    spec = importlib.util.spec_from_file_location("paper_slips", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module
