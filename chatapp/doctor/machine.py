"""What lies on this machine: the data folder, static files, the secret, the demo model, the newest backup."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from chatapp import backups, engine
from chatapp.doctor.findings import Finding, broken, fine, look
from chatapp.management.commands.prepare import static_fingerprint

LITTLE_BYTES, NEARLY_NONE_BYTES = 2_000_000_000, 200_000_000
SHORTEST_SECRET, FEWEST_CHARACTERS = 32, 10
OLD_BACKUP = timedelta(days=7)


def examine_disk() -> Iterator[Finding]:
    folder = Path(settings.FOLDLINE_DATA)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        yield broken("disk", f"Nothing can be stored in {folder} ({error.strerror}).", "Give this user the right to.")
        return
    free = shutil.disk_usage(folder).free
    words = f"{free / 1e9:.1f} GB are free in {folder}."
    if free < NEARLY_NONE_BYTES:
        yield broken("disk", words, "Make room: soon no message can be stored.")
    elif free < LITTLE_BYTES:
        yield look("disk", words, "Make room in time; a backup needs as much as the database has.")
    else:
        yield fine("disk", words)
    open_to_others = [path for path in (folder, folder / "secret") if path.exists() and path.stat().st_mode & 0o077]
    for path in open_to_others:
        yield look("disk", f"Others on this machine may read {path}.", f"chmod go= {path}")


def examine_static_files() -> Iterator[Finding]:
    stamp = Path(settings.FOLDLINE_DATA) / "static.fingerprint"
    if not stamp.exists() or not settings.STATIC_ROOT.is_dir():
        yield broken("static files", "They haven't been collected.", "Run manage.py prepare.")
    elif stamp.read_text() != static_fingerprint():
        yield look("static files", "They are of another version than the code.", "Run manage.py prepare, then restart.")
    else:
        yield fine("static files", "They are collected and of this version.")


def examine_secret() -> Iterator[Finding]:
    secret = settings.SECRET_KEY
    if len(secret) < SHORTEST_SECRET or len(set(secret)) < FEWEST_CHARACTERS:
        yield broken(
            "secret",
            "SECRET_KEY can be guessed: it signs sessions and seals keys.",
            "Set a new one (openssl rand -base64 48), the former as SECRET_KEY_FALLBACKS; run manage.py rotate_keys.",
        )
    else:
        yield fine("secret", "The secret is long enough.")
    if settings.SECRET_KEY_FALLBACKS:
        yield look("secret", "Former secrets are still taken.", "After manage.py rotate_keys they can go.")


def examine_engine() -> Iterator[Finding]:
    if reason := engine.reason_unwanted():
        yield fine("demo engine", f"It isn't started: {reason}.")
    else:
        yield fine("demo engine", f"Each process starts one with {engine.model_name()}.")


def examine_backups() -> Iterator[Finding]:
    newest = backups.newest_backup()
    if newest is None:
        yield look("backups", "None is known of.", "Run manage.py backup FILE every day, and keep it elsewhere.")
        return
    path, made_at = newest
    words = f"The newest is of {made_at:%Y-%m-%d %H:%M} UTC ({path})."
    if timezone.now() - made_at > OLD_BACKUP:
        yield look("backups", words, "Run manage.py backup FILE every day.")
    else:
        yield fine("backups", words)
