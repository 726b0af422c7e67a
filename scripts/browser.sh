#!/bin/sh
# Sees to it that there is a Chromium for the browser tests; on Debian as root it installs one. Prints its path.
set -eu

found() {
    for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome google-chrome-stable \
        "/Applications/Chromium.app/Contents/MacOS/Chromium" "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
        if [ -n "$browser" ] && command -v "$browser"; then return 0; fi
    done
    return 1
}

if found; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2
    apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
    if found; then exit 0; fi
fi
echo "NO CHROMIUM: the browser tests need Chromium or Chrome (CHROMIUM=/path names it). BROWSER=skip leaves them out." >&2
exit 1
