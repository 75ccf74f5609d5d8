"""Print the lowest version of each requirement in setup.cfg, as constraints for pip.

python scripts/lowest_versions.py > constraints.txt
"""

from __future__ import annotations

import configparser
import re
import sys
from pathlib import Path

_REQUIREMENT = re.compile(r"(?P<name>[\w-]+) *>= *(?P<lowest>[\w.]+)(,.*)?")


def lowest_versions(setup: Path) -> list[str]:
    """Return "name==version" of every requirement of the project itself, without its extras.

    Raises
    ------
    ValueError
        If a requirement has no lower bound.
    """
    content = configparser.ConfigParser()
    content.read(setup, encoding="utf-8")
    found = []
    for line in content["options"]["install_requires"].split("\n"):
        if line.strip():
            match = _REQUIREMENT.fullmatch(line.strip())
            if match is None:
                raise ValueError(f"Expected a requirement with a lower bound but found {line!r}: add one")
            found.append(f"{match['name']}=={match['lowest']}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest_versions(Path(__file__).parent.parent / "setup.cfg")) + "\n")
