#!/bin/sh
# Asks PyPI's advisories about every pinned package; one that it can't ask about fails, too.
# pip-audit lives in an environment of its own: nothing else needs it.
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"${PYTHON:-python3}" -m venv "$fresh"
"$fresh/bin/python" -m pip install -qq --disable-pip-version-check pip-audit==2.10.1
grep -hEv '^(#|$)' constraints.txt requirements-model.txt | sed 's/ *#.*//' | sort -u > "$fresh/pins.txt"
"$fresh/bin/pip-audit" --requirement "$fresh/pins.txt" --no-deps --disable-pip --strict "$@"
