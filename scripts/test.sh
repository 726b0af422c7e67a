#!/bin/sh
# Everything that is checked before a change lands. Every part runs, pytest's summary comes last; fails when a part did.
set -u
if [ $# -gt 0 ]; then
    echo "scripts/test.sh runs everything and takes no arguments; .venv/bin/pytest PATHS runs what you name." >&2
    exit 2
fi
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
status=0

# browser: the pages in Chromium · pages: posts, sockets and runs on SQLite and the in-memory layer · postgres: the same on
# PostgreSQL and Valkey · many: replies, sockets, queue and folding in Chromium at two processes behind a proxy (make
# test-many: all of it) · rest: everything else · lint: style, types, contracts, migrations, deploy checks
parts="browser pages postgres many rest lint"
engine="engine"
if [ "${BROWSER:-}" = skip ]; then
    echo "BROWSER=skip: THE BROWSER TESTS ARE LEFT OUT"
    parts="pages postgres rest lint"
    engine="engine and not browser"
else
    CHROMIUM=$(scripts/browser.sh) || exit 1
    export CHROMIUM
fi

echo "== $parts: two at a time, one a core, the longest first; each is shown when it is done"
printf '%s\n' $parts | xargs -n 1 -P 2 scripts/part.sh || status=1

# Last and alone: the engine's threads wait for each other by spinning, and what runs beside them makes them wait long.
echo "== with the real engine"
pytest -m "$engine" || status=1
exit $status
