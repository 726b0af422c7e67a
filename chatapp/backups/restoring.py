"""From an archive back to an installation. Whatever can be refused is refused before anything is changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
import zipfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from chatapp import sign_ins
from chatapp.backups import postgres
from chatapp.backups.layout import DATABASE, SECRET, CannotRestore, Manifest, fingerprint
from chatapp.backups.reading import BLOCK_BYTES, open_archive
from chatapp.importing import files as imported
from chatapp.models import Compaction, Run
from chatapp.runs import reaper


@dataclass(frozen=True, slots=True)
class Restored:
    """`set_aside`: what was there before, by its new name; `ended`: chats in which something was going on."""

    manifest: Manifest
    set_aside: tuple[Path, ...]
    ended: int
    has_other_secret: bool


def restore(path: Path, *, replace: bool = False) -> Restored:
    """Database, files being imported and, where the archive has it, the secret. Raises CannotRestore.

    `replace`: over an installation that holds accounts. Replies that were being written become interrupted.
    """
    with open_archive(path) as (zipped, manifest):
        _refuse_what_cannot_be(manifest, replace=replace)
        stamp = f"{timezone.now():%Y-%m-%dT%H-%M-%S}"
        has_former = _holds_accounts()
        if manifest.database == "sqlite":
            set_aside = _restore_sqlite(zipped, stamp, keep=has_former)
        else:
            set_aside = _restore_postgres(zipped, manifest)
        set_aside += _restore_secret(zipped, manifest, stamp, keep=has_former)
        for name in manifest.files:
            if name.startswith("imports/"):
                _unpack(zipped, name, imported.folder() / name.removeprefix("imports/"))
    call_command("migrate", interactive=False, verbosity=0)
    sign_ins.end_everybodys()
    live = Run.objects.live().select_related("chat")
    ended = reaper.take_over(live, Compaction.objects.live().select_related("chat"))
    has_other_secret = fingerprint(_secret_in_force()) != manifest.secret_fingerprint
    return Restored(manifest, tuple(set_aside), len(ended), has_other_secret)


def _refuse_what_cannot_be(manifest: Manifest, *, replace: bool) -> None:
    if manifest.database != connection.vendor:
        raise CannotRestore(
            f"The archive holds a database of {manifest.database}, and this installation is on {connection.vendor}."
            " Set DATABASE_URL accordingly (leave it out for SQLite)."
        )
    if unknown := [name for name in manifest.migrations if name not in _known_migrations()]:
        app, name = unknown[0]
        raise CannotRestore(
            f"The archive was made by a newer Foldline ({manifest.version}, {app} {name}). Upgrade first, then restore."
        )
    if not replace and _holds_accounts():
        raise CannotRestore(
            "This installation holds accounts already. With --replace the archive takes their place; back up first."
        )


def _known_migrations() -> set[tuple[str, str]]:
    disk: set[tuple[str, str]] = set(MigrationLoader(None).disk_migrations)
    return disk


def _holds_accounts() -> bool:
    try:
        return User.objects.exists()
    except DatabaseError:  # no tables yet
        return False


def _restore_sqlite(zipped: zipfile.ZipFile, stamp: str, *, keep: bool) -> list[Path]:
    """The new database is checked before it takes the old one's place, which stays beside it."""
    target = Path(settings.DATABASES["default"]["NAME"])
    fresh = target.with_name(f"{target.name}.restoring")
    try:
        _unpack(zipped, DATABASE, fresh)
        _check_sqlite(fresh)
        connections.close_all()
        if target.exists():
            _end_wal(target)
        aside = _put_aside(target, stamp, keep=keep)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
    return aside


def _check_sqlite(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as database:
            (outcome,) = database.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        raise CannotRestore("The archive's database can't be read.") from error
    if outcome != "ok":
        raise CannotRestore(f"The archive's database is damaged: {outcome}.")


def _end_wal(path: Path) -> None:
    """Puts what the journal holds into the file itself, which SQLite does for whoever has it open alone."""
    try:
        with closing(sqlite3.connect(path, timeout=2)) as database:
            database.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        raise CannotRestore("The database is in use. Stop every Foldline that runs on it, then restore.") from error


def _restore_postgres(zipped: zipfile.ZipFile, manifest: Manifest) -> list[Path]:
    if others := postgres.other_sessions():
        raise CannotRestore(
            f"The database is in use by {others} other connections. Stop every Foldline that runs on it, then restore."
        )
    try:
        postgres.replace_all(manifest, lambda table: zipped.open(f"tables/{table}"))
    except (DatabaseError, psycopg.Error) as error:
        first = str(error).splitlines()[0]
        raise CannotRestore(f"The database doesn't take what the archive holds; it is as it was: {first}") from error
    return []


def _restore_secret(zipped: zipfile.ZipFile, manifest: Manifest, stamp: str, *, keep: bool) -> list[Path]:
    """Not where SECRET_KEY is set: then that is the one in force, whatever the file says."""
    if not manifest.has_secret or settings.ENVIRONMENT.text("SECRET_KEY"):
        return []
    target = Path(settings.FOLDLINE_DATA) / "secret"
    if target.exists() and target.read_bytes().strip() == zipped.read(SECRET):
        return []
    aside = _put_aside(target, stamp, keep=keep)
    _unpack(zipped, SECRET, target)
    return aside


def _secret_in_force() -> str:
    """That of the next start; this process has read the one before."""
    given: str = settings.ENVIRONMENT.text("SECRET_KEY")
    return given or (Path(settings.FOLDLINE_DATA) / "secret").read_text().strip()


def _put_aside(path: Path, stamp: str, *, keep: bool) -> list[Path]:
    """An empty installation's isn't worth a name."""
    if not path.exists():
        return []
    if keep:
        return [path.replace(path.with_name(f"{path.name}.before-{stamp}"))]
    path.unlink()
    return []


def _unpack(zipped: zipfile.ZipFile, name: str, target: Path) -> None:
    target.unlink(missing_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file, zipped.open(name) as member:
        shutil.copyfileobj(member, file, BLOCK_BYTES)
