"""Where an uploaded file lies until it has been read: in FOLDLINE_DATA, by its import's id and no name of its own."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from uuid import UUID

from django.conf import settings

from chatapp.models import Import


class OutOfStep(Exception):
    """A part that doesn't follow on what is there; `arrived` says where to go on."""

    def __init__(self, arrived: int) -> None:
        super().__init__(arrived)
        self.arrived = arrived


def path_of(import_id: UUID) -> Path:
    return folder() / import_id.hex


def folder() -> Path:
    path = Path(settings.FOLDLINE_DATA) / "imports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def add_part(row: Import, chunks: Iterable[bytes], *, at: int) -> int:
    """Append; the bytes that are there now. A part that is sent twice is one part. Raises OutOfStep."""
    with path_of(row.pk).open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two tabs may send the same part at once
        arrived = file.seek(0, os.SEEK_END)
        if at != arrived:
            raise OutOfStep(arrived)
        for chunk in chunks:
            if file.tell() + len(chunk) > row.size:
                raise OutOfStep(arrived)
            file.write(chunk)
        return file.tell()


def discard(import_id: UUID) -> None:
    path_of(import_id).unlink(missing_ok=True)


def discard_if_ended(import_id: UUID) -> None:
    """Another process may have taken it over; then the file is still wanted."""
    if not Import.objects.open().filter(pk=import_id).exists():
        discard(import_id)


def discard_ended() -> None:
    """Files whose import has ended, or is gone with its owner."""
    lying = list(folder().iterdir())  # first: a file that comes meanwhile has its row already
    wanted = {pk.hex for pk in Import.objects.open().values_list("pk", flat=True)}
    for path in lying:
        if path.name not in wanted:
            path.unlink(missing_ok=True)
