"""Images: looked at by Pillow within limits, and drawn anew, so that nothing but the picture is kept of a file."""

from __future__ import annotations

import warnings
from io import BytesIO
from threading import BoundedSemaphore

from PIL import Image, ImageOps

from chatapp.files.limits import LONGEST_SIDE, MOST_PIXELS
from chatapp.files.unusable import Unusable
from chatapp.models import File

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
JPEG_QUALITY = 88
# At once in this process: a large one takes some hundred megabytes while it is decoded.
_room = BoundedSemaphore(2)


def is_image(data: bytes) -> bool:
    return data.startswith(STARTS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")


def read_image(file: File, data: bytes) -> None:
    """As PNG, or as JPEG what came as a photograph: every server that sees images reads these two. Raises Unusable."""
    with _room, _opened(data) as image:
        is_photograph = image.format == "JPEG" or (image.format == "WEBP" and "A" not in image.getbands())
        drawn = _drawn(image, mode="RGB" if is_photograph else "")
    stream = BytesIO()
    if is_photograph:
        drawn.save(stream, "JPEG", quality=JPEG_QUALITY)
    else:
        drawn.save(stream, "PNG")
    file.kind, file.data = File.Kind.IMAGE, stream.getvalue()
    file.media_type = "image/jpeg" if is_photograph else "image/png"
    file.size = len(file.data)
    file.width, file.height = drawn.size


def check_image(file: File) -> None:
    """What another Foldline has drawn (in a file of chats) is kept as it is, if it is what it says. Raises Unusable."""
    with _room, _opened(bytes(file.data)) as image:
        _drawn(image, mode="")
        if Image.MIME.get(image.format or "") != file.media_type or file.media_type not in {"image/png", "image/jpeg"}:
            raise Unusable("not_an_image")
        file.width, file.height = image.size
    file.size = len(file.data)


def _opened(data: bytes) -> Image.Image:
    """Its header alone has been read: the pixels are counted before any is decoded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Image.open(BytesIO(data), formats=FORMATS).verify()  # finds what is damaged, but spoils what it looked at
            image = Image.open(BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as bomb:
        raise Unusable("too_many_pixels") from bomb
    except Exception as broken:  # a decoder may raise anything over bytes that somebody made up
        raise Unusable("not_an_image") from broken
    if image.width * image.height > MOST_PIXELS:
        raise Unusable("too_many_pixels")
    return image


def _drawn(image: Image.Image, *, mode: str) -> Image.Image:
    """The (first) picture upright, no larger than is looked at; without a word of what its file said beside it."""
    try:
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # a JPEG is decoded smaller at once
        image.load()
        upright = ImageOps.exif_transpose(image)
    except Exception as broken:
        raise Unusable("not_an_image") from broken
    has_alpha = "A" in upright.getbands() or "transparency" in upright.info
    plain = upright.convert(mode or ("RGBA" if has_alpha else "RGB"))
    plain.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    plain.info.clear()
    return plain
