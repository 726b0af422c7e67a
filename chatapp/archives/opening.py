"""An uploaded file as the files in it: itself, or the entries of a ZIP. What is unpacked is counted as it comes.

Nothing is ever unpacked to a name: an entry is a stream of bytes that may hold chats.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from chatapp.history.texts import storable

CHUNK = 64 * 1024
MOST_FILES = 20_000
MOST_DIRECTORY_BYTES = 8 * 1024 * 1024
MOST_UNPACKED_BYTES = 2 * 1024 * 1024 * 1024
# Chats pack to a tenth or a thirtieth; what grows more than this isn't talk.
MOST_RATIO, RATIO_FROM_BYTES = 200, 16 * 1024 * 1024
# zipfile unpacks the others without a bound, before what comes out could be counted: 400 bytes were 400 MB of memory.
COUNTABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ZIP_MARK = b"PK\x03\x04"
EMPTY_ZIP_MARK = b"PK\x05\x06"
LONGEST_NAME = 200
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    struct.error,
)


class Unopenable(Exception):
    """broken_zip, encrypted, zip_in_zip, too_many_files, bomb, no_file, empty"""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Opened:
    """One file of the upload; its chunks raise Unopenable. `is_entry`: it lies in a ZIP beside files of other kinds."""

    name: str
    chunks: Iterator[bytes]
    is_entry: bool = False


class Counted(io.RawIOBase):
    """A file that says how far it has been read: that is what a progress bar shows of it, packed or not."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.count = 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self.file.read(len(buffer))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def tell(self) -> int:
        return self.file.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def open_upload(path: Path, name: str, *, on_read: Callable[[int], None], skip: int = 0) -> Iterator[Opened]:
    """Its files but for the first `skip`, one after the other. `on_read` is told the packed bytes so far."""
    try:
        with path.open("rb") as stored:
            is_zip = stored.read(len(ZIP_MARK)) in {ZIP_MARK, EMPTY_ZIP_MARK}
            stored.seek(0)
            counted = Counted(stored)
            if is_zip:
                yield from _entries(counted, stored, on_read, skip)
            elif not skip:
                yield Opened(name, _read(counted, on_read))
    except FileNotFoundError as error:
        raise Unopenable("no_file") from error


def _read(counted: Counted, on_read: Callable[[int], None]) -> Iterator[bytes]:
    while chunk := counted.read(CHUNK):
        on_read(counted.count)
        yield chunk


def _entries(counted: Counted, stored: BinaryIO, on_read: Callable[[int], None], skip: int) -> Iterator[Opened]:
    try:
        if _directory_bytes(stored) > MOST_DIRECTORY_BYTES:
            raise Unopenable("too_many_files")
        archive = zipfile.ZipFile(counted)
    except _BROKEN as error:
        raise Unopenable("broken_zip") from error
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_rubbish(entry.filename)]
    if len(entries) > MOST_FILES:
        raise Unopenable("too_many_files")
    if not entries:
        raise Unopenable("empty")
    unpacking = _Unpacking(archive, counted, on_read)
    with archive:
        for entry in entries[skip:]:
            yield Opened(shown_name(entry.filename), unpacking.chunks(entry), is_entry=True)


def _is_rubbish(name: str) -> bool:
    return name.startswith("__MACOSX/")


def shown_name(name: str) -> str:
    """A name to be shown, never a path to be opened."""
    return storable("".join(char if char.isprintable() else "\ufffd" for char in name))[-LONGEST_NAME:]


@dataclass(slots=True)
class _Unpacking:
    archive: zipfile.ZipFile
    counted: Counted
    on_read: Callable[[int], None]
    unpacked: int = 0

    def chunks(self, entry: zipfile.ZipInfo) -> Iterator[bytes]:
        if entry.flag_bits & 1:
            raise Unopenable("encrypted")
        if entry.compress_type not in COUNTABLE:
            raise Unopenable("broken_zip")
        packed_before, own = self.counted.count, 0
        try:
            with self.archive.open(entry) as stream:
                while chunk := stream.read(CHUNK):
                    if not own and chunk.startswith(ZIP_MARK):
                        raise Unopenable("zip_in_zip")
                    own += len(chunk)
                    self.unpacked += len(chunk)
                    packed = self.counted.count - packed_before
                    if self.unpacked > MOST_UNPACKED_BYTES or own > max(RATIO_FROM_BYTES, MOST_RATIO * packed):
                        raise Unopenable("bomb")
                    self.on_read(self.counted.count)
                    yield chunk
        except _BROKEN as error:
            raise Unopenable("broken_zip") from error


def _directory_bytes(stored: BinaryIO) -> int:
    """How long the list of entries is, before all of it is read into memory."""
    size = stored.seek(0, io.SEEK_END)
    stored.seek(max(0, size - 66_000))
    tail = stored.read()
    at = tail.rfind(EMPTY_ZIP_MARK)
    if at < 0:
        raise zipfile.BadZipFile
    (length,) = struct.unpack_from("<L", tail, at + 12)
    locator = at - 20
    if locator >= 0 and tail.startswith(b"PK\x06\x07", locator):
        (offset,) = struct.unpack_from("<Q", tail, locator + 8)
        stored.seek(offset)
        (length,) = struct.unpack_from("<Q", stored.read(56), 40)
    stored.seek(0)
    return int(length)
