#!/bin/sh
# Everything that is checked before a change lands. Every part runs, pytest's summary comes last; fails when a part did.
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
status=0

if [ "${BROWSER:-}" = skip ]; then
    echo "BROWSER=skip: THE BROWSER TESTS ARE LEFT OUT"
    engine="engine and not browser"
else
    CHROMIUM=$(scripts/browser.sh) || exit 1
    export CHROMIUM
    engine="engine"
fi

# Two at once, one a core: behind, style, types and all parts but browser and engine on SQLite; in front, the browser, and
# the same pages, posts and sockets on PostgreSQL. What is behind is shown when it is done. The servers are thrown away
# with their database: nothing is to be dropped while a thread still holds a connection.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
behind() {
    failed=0
    scripts/lint.sh || failed=1
    echo "== all parts but browser and engine, on SQLite and the in-memory layer"
    pytest -m "not browser and not engine" "$@" || failed=1
    return $failed
}
behind "$@" >"$log" 2>&1 &
behind=$!

if [ "${BROWSER:-}" != skip ]; then
    echo "== the pages in a browser"
    pytest -m "browser and not engine" "$@" || status=1
    echo "== replies, sockets, queue and folding in a browser at two processes behind a proxy (make test-many: all of it)"
    scripts/many.sh tests/browser/test_streaming.py tests/browser/test_conversation_cases.py tests/browser/test_queue.py \
        tests/browser/test_folding.py tests/browser/test_failing.py "$@" || status=1
fi
echo "== pages, posts and sockets on PostgreSQL and Valkey"
python -m tests.with_servers pytest --quiet --reuse-db -m "not browser and not engine and not server" \
    tests/chatapp tests/accounts tests/admin || status=1
wait "$behind" || status=1
cat "$log"

# Last and alone: the engine's threads wait for each other by spinning, and what runs beside them makes them wait long.
echo "== with the real engine"
pytest -m "$engine" "$@" || status=1
exit $status
