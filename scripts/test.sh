#!/bin/sh
# Everything that is checked before a change lands. Every part runs, pytest's summary comes last; fails when a part did.
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
status=0

whole="browser or engine or server"
if [ "${BROWSER:-}" = skip ]; then
    echo "BROWSER=skip: THE BROWSER TESTS ARE LEFT OUT"
    whole="($whole) and not browser"
else
    CHROMIUM=$(scripts/browser.sh) || exit 1
    export CHROMIUM
fi
parts="not browser and not engine and not server"

# Two at once, one a core: the parts on both databases behind, the whole product in front. What is behind is shown when
# it is done, last of all. The servers are thrown away with their database: nothing is to be dropped while a thread
# still holds a connection.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(
    failed=0
    echo "== pages, posts and sockets on PostgreSQL and Valkey"
    python -m tests.with_servers pytest --quiet --reuse-db -m "$parts" tests/chatapp tests/accounts tests/admin || failed=1
    echo "== all parts on SQLite and the in-memory layer"
    pytest -m "$parts" "$@" || failed=1
    exit $failed
) >"$log" 2>&1 &
behind=$!

scripts/lint.sh || status=1
echo "== the whole product: server, engine and browser"
pytest -m "$whole" "$@" || status=1
wait "$behind" || status=1
cat "$log"
exit $status
