"""A start, the effects of a small table and a session's row don't wait for libraries that they don't use."""

import subprocess
import sys

import pytest

STARTED = """
from cb_pgm import Session
states = {"a": ["0", "1"], "y": ["0", "1"]}
with Session.start(folder, states=states, reward="y=1", horizon=9, seed=1) as session:
    (pull,) = session.ask()
    session.tell([{"a": "0", "y": "1"} | dict(pull.intervention)] * pull.left)
"""
PROGRAMS = {
    "import": "import cb_pgm",
    "help": "from cb_pgm.cli.program import main\ntry: main(['--help'])\nexcept SystemExit: pass",
    "effects": (
        "from cb_pgm.cli.program import main\n"
        "main(['effects', 'data/kidney_stones.csv', '--reward', 'success=yes', '--draws', '5'])"
    ),
    "tell": STARTED,
}
#: What takes more than .4 s to import, and scipy.stats.
HEAVY = ("pgmpy", "causallearn", "matplotlib", "sklearn", "scipy.stats", "distributed", "torch")
LIGHT = {"import": ("numpy", "pandas", "numba"), "help": ("pandas", "numba"), "tell": ("pandas",)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_heavy_libraries_are_not_loaded(name, tmp_path):
    code = (
        f"import sys; folder = {str(tmp_path / 'session')!r}\n{PROGRAMS[name]}\n"
        f"sys.stderr.write(' '.join(m for m in {(*HEAVY, *LIGHT.get(name, ()))!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1:] in ([], [""]), done.stderr
