"""Counts in the place of times: the same on every machine, whatever else it does."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable
from types import FrameType

ELEMENT = re.compile(r"<[a-z]")


def python_calls(work: Callable[[], object]) -> int:
    """How many Python functions are entered, and generators gone on with, while `work` runs on this thread."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    gc.disable()  # what it calls is nobody's work
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def elements(html: str) -> int:
    return len(ELEMENT.findall(html))
