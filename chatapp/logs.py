"""What no line of the log may hold: the part of an address that opens a door."""

from __future__ import annotations

import logging
import re

_DOOR = re.compile(r"(/(?:s|setup)/)[^/\s]+")


class WithoutTokens(logging.Filter):
    """Links that are shared and the one of the first account are told without their token."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_DOOR.sub(r"\1…", arg) if isinstance(arg, str) else arg for arg in record.args)
        return True
