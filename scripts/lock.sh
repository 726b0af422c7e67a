#!/bin/sh
# Writes constraints.txt anew: what a fresh environment gets from the requirements files today.
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
"${PYTHON:-python3}" -m venv "$fresh"
"$fresh/bin/python" -m pip install -qq --disable-pip-version-check -r requirements.txt -r requirements-dev.txt -r requirements-bench.txt
{
    echo "# Every package of a fresh environment, pinned. Written by \`make lock\`; the reasons are in requirements*.txt."
    "$fresh/bin/python" -m pip freeze
} > constraints.txt
