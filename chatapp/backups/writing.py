"""Makes an archive of an installation that is at work: nobody waits, and all of it is of one moment."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from chatapp import VERSION
from chatapp.backups.layout import (
    DATABASE,
    MANIFEST,
    SECRET,
    CannotBackUp,
    Manifest,
    fingerprint,
    note_backup,
)
from chatapp.importing import files as imported

BLOCK_BYTES = 1024 * 1024


class Archive:
    """A ZIP being written, which keeps size and SHA-256 of all that goes in."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        self.zipped = zipped
        self.files: dict[str, tuple[str, int]] = {}

    def add(self, name: str, blocks: Iterable[Any]) -> None:
        digest, size = hashlib.sha256(), 0
        with self.zipped.open(name, "w", force_zip64=True) as member:
            for block in blocks:
                digest.update(block)
                size += len(block)
                member.write(block)
        self.files[name] = (digest.hexdigest(), size)

    def add_file(self, name: str, path: Path) -> None:
        with path.open("rb") as file:
            self.add(name, iter(lambda: file.read(BLOCK_BYTES), b""))


def write_backup(target: Path, *, with_secret: bool = True) -> tuple[Path, Manifest]:
    """The archive's path and manifest; a folder as `target` gets a file named by the time. Raises CannotBackUp.

    It appears under its name only when it is whole, readable for this user alone.
    """
    made_at = timezone.now()
    if target.is_dir():
        target = target / f"foldline-{made_at:%Y-%m-%dT%H-%M-%S}Z.zip"
    if target.exists():
        raise CannotBackUp(f"{target} is there already. Name another file, or a folder.")
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with _private_zip(unfinished) as zipped:
            manifest = _fill(Archive(zipped), made_at.isoformat(), with_secret=with_secret)
        unfinished.replace(target)
    except (OSError, DatabaseError, sqlite3.Error, psycopg.Error) as error:
        raise CannotBackUp(f"No backup was made: {str(error).splitlines()[0]}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
    note_backup(target, made_at)
    return target, manifest


@contextmanager
def _private_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
            yield zipped
        file.flush()
        os.fsync(file.fileno())


def _fill(archive: Archive, made_at: str, *, with_secret: bool) -> Manifest:
    with tempfile.TemporaryDirectory(prefix="backing-up-", dir=settings.FOLDLINE_DATA) as folder:
        links = Path(folder)
        # Before the database and after it: whatever a row of that moment speaks of is in one of the two.
        _link_imports(links)
        dump = _dump_sqlite if connection.vendor == "sqlite" else _dump_postgres
        manifest = dump(archive, links, made_at)
        _link_imports(links)
        for path in sorted(links.iterdir()):
            archive.add_file(f"imports/{path.name}", path)
    if with_secret:
        archive.add(SECRET, [settings.SECRET_KEY.encode()])
    manifest = replace(manifest, files=archive.files)
    archive.zipped.writestr(MANIFEST, manifest.as_json())
    return manifest


def _link_imports(links: Path) -> None:
    """A second name for each file, so that it is there even when its import ends meanwhile."""
    for path in imported.folder().iterdir():
        if not (links / path.name).exists():
            try:
                os.link(path, links / path.name)
            except FileNotFoundError:
                continue
            except OSError:  # a file system without hard links
                shutil.copyfile(path, links / path.name)


def _dump_sqlite(archive: Archive, folder: Path, made_at: str) -> Manifest:
    """One read transaction, beside which others write; made anew, so that nothing erased lies in free pages."""
    copy = folder / DATABASE
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(copy)])
    with sqlite3.connect(copy) as copied:
        migrations = copied.execute("SELECT app, name FROM django_migrations ORDER BY id").fetchall()
    archive.add_file(DATABASE, copy)
    copied.close()
    copy.unlink()
    return _manifest(made_at, migrations)


def _dump_postgres(archive: Archive, _folder: Path, made_at: str) -> Manifest:
    """One transaction that sees one moment; it needs no tool of PostgreSQL's, which would have to fit the server."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
        migrations = cursor.fetchall()
        tables = {table: _columns(cursor, table) for table in own_tables()}
        for table, columns in tables.items():
            with cursor.copy(f"COPY {_quoted(table)} ({', '.join(map(_quoted, columns))}) TO STDOUT") as rows:
                archive.add(f"tables/{table}", rows)
    return replace(_manifest(made_at, migrations), tables=tables)


def own_tables() -> list[str]:
    """Those of all installed apps that are there, and the record of migrations."""
    tables: list[str] = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return sorted({*tables, "django_migrations"})


def _columns(cursor: Any, table: str) -> list[str]:
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
        " AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position",
        [table],
    )
    return [name for (name,) in cursor.fetchall()]


def _quoted(name: str) -> str:
    quoted: str = connection.ops.quote_name(name)
    return quoted


def _manifest(made_at: str, migrations: list[tuple[str, str]]) -> Manifest:
    secret = fingerprint(settings.SECRET_KEY)
    return Manifest(VERSION, made_at, connection.vendor, migrations, secret)
