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

# Both at once, one core each. The servers are thrown away with their database: nothing is to be dropped while a thread
# still holds a connection.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
python -m tests.with_servers pytest --quiet --reuse-db -m "not browser and not engine and not server" \
    tests/chatapp tests/accounts tests/admin >"$log" 2>&1 &
servers=$!
scripts/lint.sh || status=1
wait "$servers" || status=1
echo "== tests of pages, posts and sockets on PostgreSQL and Valkey"
cat "$log"

echo "== all tests on SQLite and the in-memory layer"
pytest -m "$marks" "$@" || status=1
exit $status
