#!/bin/sh
# Everything that is checked before a change lands. Every part runs, pytest's summary comes last; fails when a part did.
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
status=0

if [ "${BROWSER:-}" = skip ]; then
    echo "BROWSER=skip: THE BROWSER TESTS ARE LEFT OUT"
    marks="not browser"
else
    CHROMIUM=$(scripts/browser.sh) || exit 1
    export CHROMIUM
    marks=""
fi

scripts/lint.sh || status=1

echo "== tests of pages, posts and sockets on PostgreSQL and Valkey"
# The server is thrown away with its database: nothing is to be dropped while a thread still holds a connection.
python -m tests.with_servers pytest --quiet --reuse-db -m "not browser and not engine and not server" \
    tests/chatapp tests/accounts tests/admin || status=1

echo "== all tests on SQLite and the in-memory layer"
pytest -m "$marks" "$@" || status=1
exit $status
