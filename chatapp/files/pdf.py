"""The text of a PDF, read by a process of its own: whatever a hostile one does, it ends with its time or its memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

from chatapp.files.limits import MOST_CHARACTERS, MOST_PDF_PAGES, PDF_MEMORY_BYTES, PDF_SECONDS
from chatapp.files.unusable import Unusable
from chatapp.history.texts import as_typed
from chatapp.models import File

CHILD = Path(__file__).with_name("pdf_child.py")
# At once in this process: each may take a core and its memory.
_room = BoundedSemaphore(2)


def read_pdf(file: File, data: bytes) -> None:
    """Raises Unusable: unreadable, too slow, encrypted, or without any text (a scan)."""
    found = _ask_child(data)
    if found["problem"]:
        raise Unusable(found["problem"])
    text = as_typed(found["text"])
    if not text.strip():
        raise Unusable("scanned")
    file.kind, file.text, file.size, file.is_cut = File.Kind.PDF, text, len(text), found["is_cut"]


def _ask_child(data: bytes, *, seconds: float = PDF_SECONDS) -> dict[str, Any]:
    if not _room.acquire(timeout=seconds):
        raise Unusable("busy")
    limits = [str(each) for each in (MOST_PDF_PAGES, MOST_CHARACTERS, int(seconds), PDF_MEMORY_BYTES)]
    try:
        done = subprocess.run(  # noqa: S603 (our own file; what comes from outside goes in by stdin)
            [sys.executable, "-I", str(CHILD), *limits], input=data, capture_output=True, timeout=seconds, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except subprocess.TimeoutExpired as slow:
        raise Unusable("too_slow") from slow
    except (subprocess.CalledProcessError, ValueError) as broken:
        raise Unusable("broken_pdf") from broken
    finally:
        _room.release()
    return found
