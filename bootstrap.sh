#!/bin/sh
# Makes .venv with what this project needs, from the locked requirements, with plain Python and pip.
#
#     ./bootstrap.sh          what it takes to run
#     ./bootstrap.sh dev      and to test and check
#
# Does nothing when that was done already and the locks have not changed since. PYTHON names the Python to use.
set -eu
cd "$(dirname "$0")"

case "${1:-run}" in
    run) lock=requirements.lock ;;
    dev) lock=requirements-dev.lock ;;
    *) echo "usage: $0 [run|dev]" >&2; exit 2 ;;
esac

# What was installed last, as a fingerprint; the path is in it, because a venv does not survive a move.
fingerprint() { { pwd; cat "$1"; sed -n '/^\[build-system/,/^\[dependency/p' pyproject.toml; } | cksum; }
wanted=$(fingerprint "$lock")
stamp=.venv/.installed-${1:-run}
if [ -x .venv/bin/python ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

usable() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
can_make_venvs() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

chosen= without_venv=
for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    usable "$python" || continue
    if can_make_venvs "$python"; then
        chosen=$python
        break
    fi
    without_venv=${without_venv:-$python}
done
if [ -z "$chosen" ] && [ -n "$without_venv" ]; then
    version=$("$without_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "Python $version is here without its venv module: install it (Debian, Ubuntu: apt-get install python$version-venv)" >&2
    exit 1
fi
if [ -z "$chosen" ]; then
    echo "No Python 3.11 or newer found: install one, or name it with PYTHON=/path/to/python3" >&2
    exit 1
fi

echo "Installing into .venv with $("$chosen" --version) ..."
# A venv that was moved here or lost its Python is made anew; one that fits is only completed.
has_pip() { .venv/bin/python -m pip --version >/dev/null 2>&1; }
is_moved() { [ -f .venv/.place ] && [ "$(cat .venv/.place)" != "$(pwd)" ]; }
if is_moved || ! usable .venv/bin/python || ! { has_pip || .venv/bin/python -m ensurepip >/dev/null 2>&1; }; then
    "$chosen" -m venv --clear .venv
fi
pwd > .venv/.place
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
.venv/bin/python -m pip install --quiet --require-hashes -r "$lock"
.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --no-index --editable .
if [ "$lock" = requirements-dev.lock ]; then
    # All that it takes to run is among it.
    fingerprint requirements.lock > .venv/.installed-run
fi
echo "$wanted" > "$stamp"
