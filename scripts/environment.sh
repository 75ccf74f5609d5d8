# Sourced by the scripts beside it: makes .venv where it is missing or out of date, then leaves $python set.
#   use_environment [EXTRA]   installs the project with that extra (test, ...), quick when nothing changed
use_environment() {
    local extra="${1:-}" candidate wanted stamp
    python=".venv/bin/python"
    if [ ! -x "$python" ]; then
        for candidate in python3.13 python3.12 python3.11 python3; do
            if "$candidate" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
                echo "Making .venv with $("$candidate" --version)" >&2
                "$candidate" -m venv .venv && break
            fi
        done
    fi
    if [ ! -x "$python" ]; then
        echo "Expected Python 3.11 to 3.13 with its venv module, found none: install one (on Debian: apt-get install python3-venv)" >&2
        return 1
    fi
    stamp=".venv/installed-${extra:-plain}"
    wanted="$(cat setup.cfg pyproject.toml | cksum)"
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        echo "Installing the project and what it needs (a minute or two, once)" >&2
        "$python" -m pip install --quiet --disable-pip-version-check -e ".${extra:+[$extra]}" >&2
        echo "$wanted" > "$stamp"
    fi
}
