"""An upload into an unstored File, by what it holds: a name that says otherwise is refused, never believed."""

from __future__ import annotations

import codecs
import re

from chatapp.files.images import is_image, read_image
from chatapp.files.limits import MOST_BYTES, MOST_CHARACTERS
from chatapp.files.naming import ending_of, harmless_name
from chatapp.files.pdf import read_pdf
from chatapp.files.unusable import Unusable
from chatapp.history.texts import as_typed
from chatapp.models import File

PICTURE_ENDINGS = frozenset({"png", "jpg", "jpeg", "gif", "webp"})
# Nothing of these is in any text; a tab, line ends, a form feed and an escape (of a terminal's colours) are.
BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_upload(name: str, data: bytes, *, owner_id: int, sees_images: bool) -> File:
    """`sees_images`: whether the model that it is for does; else an image is refused. Raises Unusable."""
    name = harmless_name(name)
    try:
        return _read(name, data, owner_id=owner_id, sees_images=sees_images)
    except Unusable as unusable:
        unusable.name = name
        raise


def _read(name: str, data: bytes, *, owner_id: int, sees_images: bool) -> File:
    if not data.strip():
        raise Unusable("no_content")
    if len(data) > MOST_BYTES:
        raise Unusable("too_many_bytes")
    file = File(owner_id=owner_id, name=name)
    if is_image(data):
        if not sees_images:
            raise Unusable("unseen")
        read_image(file, data)
    elif ending_of(name) in PICTURE_ENDINGS:
        raise Unusable("not_an_image")
    elif b"%PDF-" in data[:1024]:
        read_pdf(file, data)
    elif ending_of(name) == "pdf":
        raise Unusable("not_a_pdf")
    else:
        _read_text(file, data)
    return file


def _read_text(file: File, data: bytes) -> None:
    encoding = next((encoding for mark, encoding in MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unusable("not_text") from error
    if BINARY.search(text):
        raise Unusable("not_text")
    if len(text) > MOST_CHARACTERS:
        raise Unusable("too_many_characters")
    if not text.strip():
        raise Unusable("no_content")
    file.kind, file.text = File.Kind.TEXT, as_typed(text)
    file.size = len(file.text)
