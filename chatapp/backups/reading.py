"""Opens an archive and looks at every byte of it before anything is changed by it."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chatapp.backups.layout import DATABASE, KNOWN_COLUMN, KNOWN_NAMES, MANIFEST, CannotRestore, Manifest

BLOCK_BYTES = 1024 * 1024
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, Manifest]]:
    """The archive, checked against its manifest. Raises CannotRestore."""
    try:
        zipped = zipfile.ZipFile(path)
    except OSError as error:
        raise CannotRestore(f"{path} can't be opened: {error.strerror}.") from error
    except BROKEN as error:
        raise CannotRestore(f"{path} is no backup, or it isn't whole.") from error
    with zipped:
        yield zipped, _checked(zipped)


def _checked(zipped: zipfile.ZipFile) -> Manifest:
    try:
        manifest = Manifest.from_json(zipped.read(MANIFEST))
        for name, (digest, size) in manifest.files.items():
            if not KNOWN_NAMES.fullmatch(name) or _sum(zipped, name) != (digest, size):
                raise CannotRestore(f"The archive is damaged: {name[:80]} isn't what its manifest says.")
    except (*BROKEN, KeyError) as error:
        raise CannotRestore("The archive is damaged: a part of it is missing or can't be read.") from error
    wanted = {f"tables/{table}" for table in manifest.tables} or {DATABASE}
    columns = (column for columns in manifest.tables.values() for column in columns)
    if not wanted <= manifest.files.keys() or not all(KNOWN_COLUMN.fullmatch(column) for column in columns):
        raise CannotRestore("The archive is damaged: it lacks a part of the database.")
    return manifest


def _sum(zipped: zipfile.ZipFile, name: str) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with zipped.open(name) as member:
        while block := member.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size
