"""Run as a script of its own: a PDF by stdin, its text as JSON by stdout. Limits: pages, characters, seconds, bytes."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from io import BytesIO
from typing import Any

from pypdf import PdfReader, overwrite_configuration
from pypdf.errors import FileNotDecryptedError, PyPdfError

LARGEST_STREAM_BYTES = 25_000_000


def read(data: bytes, *, most_pages: int, most_characters: int) -> dict[str, Any]:
    """`problem` is a code of templates/files/_refused.html, or ""."""
    texts: list[str] = []
    length, is_cut = 0, False
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return {"text": "", "is_cut": False, "problem": "encrypted"}
        for number, page in enumerate(reader.pages):
            if number >= most_pages or length > most_characters:
                is_cut = True
                break
            texts.append(page.extract_text() or "")
            length += len(texts[-1]) + 2
    except FileNotDecryptedError:
        return {"text": "", "is_cut": False, "problem": "encrypted"}
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        # Pages that could be read are better than none.
        if not any(texts):
            return {"text": "", "is_cut": False, "problem": "broken_pdf"}
        is_cut = True
    text = "\n\n".join(part.strip() for part in texts if part.strip())
    return {"text": text[:most_characters], "is_cut": is_cut or len(text) > most_characters, "problem": ""}


def limit(seconds: int, memory_bytes: int) -> None:
    """Where the system knows such limits; the parent's own clock holds everywhere."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 (not on Windows)

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def main() -> None:
    most_pages, most_characters, seconds, memory_bytes = map(int, sys.argv[1:5])
    limit(seconds, memory_bytes)
    logging.disable()
    overwrite_configuration(zlib_maximum_output_length=LARGEST_STREAM_BYTES, jbig2dec_binary=None)
    found = read(sys.stdin.buffer.read(), most_pages=most_pages, most_characters=most_characters)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
