#!/bin/sh
# Sees to it that the browser tests can run: a Chromium, and what Playwright's driver needs. Prints Chromium's path.
# On Debian as root what is missing is installed. Its headless shell is the same engine without a window's own pages and
# processes: a test costs half the processor time.
set -eu
cd "$(dirname "$0")/.."
shell=chromium-headless-shell

found() {
    for browser in "${CHROMIUM:-}" "$shell" chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        if [ -n "$browser" ] && command -v "$browser"; then return 0; fi
    done
    return 1
}

driver() { .venv/bin/python -m playwright --version >/dev/null 2>&1; }

install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

driver || install libatomic1 || true
if ! driver; then
    echo "PLAYWRIGHT'S DRIVER DOESN'T START (Debian: apt-get install libatomic1). BROWSER=skip leaves the browser tests out." >&2
    exit 1
fi
command -v "${CHROMIUM:-$shell}" >/dev/null || install "$shell" fonts-dejavu-core || true
if ! found; then
    echo "NO CHROMIUM: the browser tests need Chromium or Chrome (CHROMIUM=/path names it). BROWSER=skip leaves them out." >&2
    exit 1
fi
