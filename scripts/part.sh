#!/bin/sh
# One part of `make test`, shown as a whole when it is done. Usage: scripts/part.sh NAME
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
begun=$(date +%s)
apart="not browser and not engine"

# A database that is thrown away with its server is kept at the end: no thread may still hold a connection to it.
run() {
    case $1 in
    lint) scripts/lint.sh ;;
    browser) pytest -m "browser and not engine" ;;
    many)
        scripts/many.sh tests/browser/test_streaming.py tests/browser/test_sockets.py \
            tests/browser/test_conversation_cases.py tests/browser/test_queue.py tests/browser/test_folding.py tests/browser/test_failing.py
        ;;
    pages) pytest -m "$apart" tests/chatapp ;;
    rest) pytest -m "$apart" --ignore=tests/chatapp ;;
    postgres)
        python -m tests.with_servers pytest --quiet --reuse-db -m "$apart and not server" \
            tests/chatapp tests/accounts tests/admin
        ;;
    *)
        echo "There is no part “$1”."
        return 2
        ;;
    esac
}

run "$1" >"$log" 2>&1
status=$?
echo "== $1: exit $status after $(($(date +%s) - begun)) s" >>"$log"
cat "$log"
exit $status
