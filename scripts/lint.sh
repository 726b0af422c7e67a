#!/bin/sh
# Style, types and who may import whom. Every check runs; fails when one did.
set -u
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
FOLDLINE_DATA=$(mktemp -d)
export FOLDLINE_DATA
trap 'rm -rf "$FOLDLINE_DATA"' EXIT
failed=

check() {
    printf '== %s\n' "$*"
    "$@" || failed="$failed
  $*"
}

templates() { git ls-files -z --cached --others --exclude-standard '*.html' | xargs -0 -r djade --target-version 5.2 --check; }

production_check() {
    PUBLIC_URL=https://chat.example.org SECRET_KEY=$(python -c 'import secrets; print(secrets.token_urlsafe(50))') \
        python -W error manage.py check --deploy --fail-level WARNING
}

check ruff check --quiet .
check ruff format --check --quiet .
check templates
check mypy --strict compaction
check mypy chatapp
check lint-imports
check python -W error manage.py makemigrations --check --dry-run
check python -m scripts.migrations
check production_check

if [ -n "$failed" ]; then
    printf '\nThese checks failed:%s\n' "$failed" >&2
    exit 1
fi
