#!/bin/sh
# Tests in a browser at two processes behind a proxy: nginx with deploy/nginx.conf where it is installed, our own elsewhere.
# Usage: scripts/many.sh TESTS …
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
CHROMIUM=$(scripts/browser.sh)
export CHROMIUM
exec pytest --shape=many -m "server and not engine" "$@"
