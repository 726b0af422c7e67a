"""The name of a file as a person reads it: one harmless line, whatever came."""

from __future__ import annotations

import re
import unicodedata

from chatapp.files.limits import LONGEST_NAME

# Control characters, and what turns the direction of writing ("gpj.exe" would read as "exe.jpg"), and quotes and tags.
UNWANTED = re.compile('[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"<>]+')
ENDING = re.compile(r"\.\w{1,10}$")


def harmless_name(name: str) -> str:
    """The last part of a path, of at most 120 characters; its ending stays."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", UNWANTED.sub(" ", name)))[-1]
    plain = " ".join(last.split()).strip(". ")
    if len(plain) > LONGEST_NAME:
        found = ENDING.search(plain)
        ending = found[0] if found else ""
        plain = plain[: LONGEST_NAME - len(ending) - 1].rstrip() + "…" + ending
    return plain or "file"


def ending_of(name: str) -> str:
    """In lower case, without the dot."""
    found = ENDING.search(name)
    return found[0][1:].lower() if found else ""
