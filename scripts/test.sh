#!/bin/sh
# Everything that is checked before a change lands. Every part runs, pytest's summary comes last; fails when a part did.
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
status=0

if [ "${BROWSER:-}" != skip ]; then
    CHROMIUM=$(scripts/browser.sh) || exit 1
    export CHROMIUM
fi

# Two at once, one a core: the browser in front, everything else behind, on both databases. What is behind is shown when
# it is done, last of all. The servers are thrown away with their database: nothing is to be dropped while a thread
# still holds a connection.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
    failed=0
    echo "== pages, posts and sockets on PostgreSQL and Valkey"
    python -m tests.with_servers pytest --quiet --reuse-db -m "not browser and not engine and not server" \
        tests/chatapp tests/accounts tests/admin || failed=1
    echo "== everything but the browser, on SQLite and the in-memory layer"
    pytest -m "not browser" "$@" || failed=1
    exit $failed
) >"$log" 2>&1 &
behind=$!

scripts/lint.sh || status=1
if [ "${BROWSER:-}" = skip ]; then
    echo "BROWSER=skip: THE BROWSER TESTS ARE LEFT OUT"
else
    echo "== the whole product in a browser"
    pytest -m browser "$@" || status=1
fi
wait "$behind" || status=1
cat "$log"
exit $status
