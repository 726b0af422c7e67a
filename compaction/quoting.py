"""Quoted records: a fence around other people's words that no text inside can close (rule E7)."""

from __future__ import annotations

import re
import unicodedata

FENCE = "record"

# Whatever a model may read as "<" (an entity needs no semicolon: "&ltrecord" is "<record"), as "/", or not see at all.
OPENER = (
    r"(?:[<\u00ab\u02c2\u1438\u2039\u2329\u276e\u27e8\u3008\u300a\ufe64\uff1c]"
    r"|&\s*(?:lt|laquo|lsaquo|#0*60|#[xX]0*3[cC]);?)"
)
SLASH = r"(?:[/\\\uff0f\u2044\u2215\u29f8]|&\s*(?:sol|#0*47|#[xX]0*2[fF]);?)"
UNSEEN = (
    r"[\s\x00-\x1f\x7f-\xa0\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff"
    r"\u2000-\u200f\u2028-\u202f\u205f-\u206f\u20d0-\u20ff\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufe20-\ufe2f"
    r"\ufeff\uffa0\ufff0-\ufffc\U000e0000-\U000e0fff\U0001d173-\U0001d17a]"
)
LETTER = r"[^\W_]|[\u24b6-\u24e9\U0001f110-\U0001f189]"
TAG = re.compile(
    rf"{OPENER}(?P<rest>(?:{UNSEEN}|{SLASH})*(?P<name>(?:(?:{LETTER}){UNSEEN}*){{{len(FENCE)}}}))", re.IGNORECASE
)
# Marks that chat templates turn into special tokens; llama.cpp reads them in the text of a message too.
SPECIAL = re.compile(
    r"<(?=[|\uff5c][^|\uff5c<>\s]{1,60}[|\uff5c]>|/?s>|(?:start|end)_of_turn>|[be]os>|</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\])"
)
UNSEEN_CHARACTER = re.compile(UNSEEN)
# Letters of other scripts that look like those of the fence's name, after compatibility folding and lower case.
LOOKALIKES = str.maketrans("геёєсϲоοогԁɗ𐐬օ", "reeeccooordd" + "oo")


def neutralise(text: str) -> str:
    """The text with every tag that could open or close a fence broken by another bracket; the rest stays as it is."""
    return SPECIAL.sub(lambda mark: "[" if mark[0] == "<" else "(", TAG.sub(_broken, text))


def fenced(text: str, *, of: str) -> str:
    return f'<{FENCE} of="{of}">\n{neutralise(text)}\n</{FENCE}>'


def _broken(tag: re.Match[str]) -> str:
    return "[" + tag["rest"] if _folded(tag["name"]) == FENCE else tag[0]


def _folded(name: str) -> str:
    visible = unicodedata.normalize("NFKD", UNSEEN_CHARACTER.sub("", name)).casefold()
    return UNSEEN_CHARACTER.sub("", visible).translate(LOOKALIKES)
