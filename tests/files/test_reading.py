"""What is taken of a file and what is refused: judged by its content, whatever it is called."""

from __future__ import annotations

import zlib
from io import BytesIO

import pytest
from PIL import Image

from chatapp.files import pdf as pdf_reading
from chatapp.files.limits import LONGEST_SIDE, MOST_BYTES, MOST_CHARACTERS
from chatapp.files.naming import harmless_name
from chatapp.files.pdf import read_pdf
from chatapp.files.reading import read_upload
from chatapp.files.unusable import Unusable
from chatapp.models import File
from tests.making_files import TABLE, pdf, picture


def read(name: str, data: bytes, *, sees_images: bool = True) -> File:
    return read_upload(name, data, owner_id=1, sees_images=sees_images)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("report.csv", "report.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a.txt", "a.txt"),
        ("a\0b\r\nc.txt", "a b c.txt"),
        ("gpj\u202eexe.txt", "gpj exe.txt"),
        ("<script>x</script>.txt", "script .txt"),
        ("..", "file"),
        ("", "file"),
        ("é" * 300 + ".markdown", "é" * 110 + "…" + ".markdown"),
    ],
)
def test_name_is_one_harmless_line(name: str, shown: str) -> None:
    assert harmless_name(name) == shown


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_kept_as_it_was_written_whatever_its_encoding(encoding: str) -> None:
    file = read("heights.csv", TABLE.replace("\n", "\r\n").encode(encoding))

    assert (file.kind, file.text, file.size, bytes(file.data)) == ("text", TABLE, len(TABLE), b"")


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.txt", b"", "no_content"),
        ("a.txt", b" \n", "no_content"),
        ("a.txt", b"caf\xe9", "not_text"),
        ("a.txt", b"a\0b", "not_text"),
        ("a.docx", b"PK\x03\x04" + bytes(30), "not_text"),
        ("a.txt", b"a" * (MOST_CHARACTERS + 1), "too_many_characters"),
        ("a.bin", b"a" * (MOST_BYTES + 1), "too_many_bytes"),
        ("photo.png", b"<script>alert(1)</script>", "not_an_image"),
        ("photo.png", b"\x89PNG\r\n\x1a\n" + b"not much of one", "not_an_image"),
        ("photo.webp", b"RIFF\x04\0\0\0WEBP", "not_an_image"),
        ("sound.wav", b"RIFF\x04\0\0\0WAVEfmt ", "not_text"),
        ("paper.pdf", b"just words", "not_a_pdf"),
        ("paper.pdf", b"%PDF-1.4\nand nothing", "broken_pdf"),
        ("scan.pdf", pdf(""), "scanned"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_reason(name: str, data: bytes, code: str) -> None:
    with pytest.raises(Unusable) as refused:
        read(name, data)

    assert (refused.value.code, refused.value.name) == (code, name)


def test_an_image_for_a_model_that_sees_none_is_refused_under_any_name() -> None:
    with pytest.raises(Unusable, match="unseen"):
        read("words.txt", picture(), sees_images=False)


@pytest.mark.parametrize(
    ("kind", "mode", "media_type"),
    [
        ("PNG", "RGB", "image/png"),
        ("JPEG", "RGB", "image/jpeg"),
        ("GIF", "P", "image/png"),
        ("WEBP", "RGB", "image/jpeg"),
    ],
)
def test_images_become_png_or_jpeg(kind: str, mode: str, media_type: str) -> None:
    file = read("misnamed.txt", picture(kind, mode=mode))

    assert (file.kind, file.media_type, file.width, file.height) == ("image", media_type, 8, 6)
    assert Image.open(BytesIO(file.data)).size == (8, 6)


def test_what_a_photograph_says_of_its_place_is_not_kept() -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x0112] = "At my house", 6  # a description, and "turn it by a quarter"
    file = read("photo.jpg", picture("JPEG", exif=exif))

    assert b"At my house" not in bytes(file.data)
    assert not Image.open(BytesIO(file.data)).getexif()
    assert (file.width, file.height) == (6, 8)


def test_a_script_behind_an_image_is_not_kept() -> None:
    assert b"<script>" not in bytes(read("a.png", picture() + b"<script>alert(1)</script>").data)


def test_a_large_image_is_made_smaller() -> None:
    assert (read("a.png", picture(size=(LONGEST_SIDE * 2, 100))).width) == LONGEST_SIDE


def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded() -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + name + data + zlib.crc32(name + data).to_bytes(4)

    head = (20_000).to_bytes(4) * 2 + b"\x08\x02\0\0\0"
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")

    with pytest.raises(Unusable, match="too_many_pixels"):
        read("bomb.png", bomb)


def test_the_text_of_a_pdf_is_read_page_by_page() -> None:
    file = read("paper", pdf("The first page", "The second"))

    assert (file.kind, file.text, file.is_cut) == ("pdf", "The first page\n\nThe second", False)


def test_of_a_pdf_with_too_many_pages_the_beginning_is_taken_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reading, "MOST_PDF_PAGES", 2)

    file = read("paper.pdf", pdf("One", "Two", "Three"))

    assert (file.text, file.is_cut) == ("One\n\nTwo", True)


def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = pdf_reading._ask_child
    monkeypatch.setattr(pdf_reading, "_ask_child", lambda data: asked(data, seconds=0.02))

    with pytest.raises(Unusable, match="too_slow"):
        read_pdf(File(), pdf("Slow"))


def test_a_pdf_that_takes_too_much_memory_hurts_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reading, "PDF_MEMORY_BYTES", 40_000_000)

    with pytest.raises(Unusable, match="broken_pdf"):
        read_pdf(File(), pdf("Large"))
