"""Files as people have them, made with as few bytes as the test needs."""

from __future__ import annotations

import zlib
from io import BytesIO

from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

TABLE = "place,height\nDover,107\nCalais,32\n"


def upload(name: str = "heights.csv", content: str | bytes = TABLE) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def picture(kind: str = "PNG", size: tuple[int, int] = (8, 6), *, mode: str = "RGB", **how: object) -> bytes:
    stream = BytesIO()
    Image.new(mode, size, "red" if mode == "RGB" else 1).save(stream, kind, **how)
    return stream.getvalue()


def pdf(*pages: str, filler: bytes = b"") -> bytes:
    """One line of text a page. `filler` is drawn before each: operators that take a reader's time."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for page in pages:
        stream = zlib.compress(filler + f"BT /F1 12 Tf 72 720 Td ({page}) Tj ET".encode())
        objects.append(b"<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream" % (len(stream), stream))
        kids.append(len(objects) + 1)
        font = b"/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]%b/Contents %d 0 R>>" % (font, len(objects)))
    objects[1] = b"<</Type/Pages/Count %d/Kids[%b]>>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(objects) + 1, table)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(out)
