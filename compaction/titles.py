"""The title of a chat, made from its first turn: what is asked, and what of the answer can be used."""

from __future__ import annotations

import re

from compaction.quoting import fenced
from compaction.request import RequestMessage
from compaction.thinking import without_thinking

LONGEST_TITLE = 60
EXCERPT = 1_000
ASKED = "You name conversations. Answer with a title of two to six words in their language, and nothing else."
# A very small model repeats what it was asked.
ECHO = "two to six words"
TASK = "Write the title: two to six words, in the language of the conversation."

LABEL = re.compile(
    r"^\s*(?:the\s+)?(?:chat\s+|conversation\s+)?(?:title|titre|titel|título|标题|タイトル|제목)\s*[:：-]\s*",
    re.IGNORECASE,
)
MARKS = re.compile(r"^[\s#>*_`~\-•\"'“”„‚‘’«»「」『』《》.:]+|[\s*_`~\"'“”„‚‘’«»「」『』《》.。:：,;]+$")
INLINE_MARKS = re.compile(r"[*`#]+|__+|\[(?=[^\]]*\]\()|\]\([^)]*\)")
UNUSABLE = re.compile(
    r"^(?:i['’]?m sorry|i am sorry|sorry|i can(?:no|['’])t|i apologi[sz]e|as an ai|error\b|<|\{|\[)", re.IGNORECASE
)
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


def title_request(user_text: str, assistant_text: str) -> tuple[RequestMessage, ...]:
    said = f"User: {user_text.strip()[:EXCERPT]}\n\nAssistant: {assistant_text.strip()[:EXCERPT]}"
    return (
        RequestMessage("system", ASKED),
        RequestMessage("user", f"{fenced(said, of='conversation')}\n\n{TASK}"),
    )


def clean_title(text: str) -> str:
    """At most 60 characters on one line, without quotes, markdown or reasoning; "" when there is nothing to use."""
    said = without_thinking(text)
    line = next((line for line in (said or "").splitlines() if any(map(str.isalnum, line))), "")
    line = LABEL.sub("", MARKS.sub("", line))
    if UNUSABLE.match(line.strip()) or ECHO in line.casefold():
        return ""
    line = " ".join(CONTROL.sub(" ", INLINE_MARKS.sub("", line)).split())
    return _shortened(MARKS.sub("", line))


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_TITLE:
        return line
    cut = line[: LONGEST_TITLE - 1]
    words = cut.rsplit(" ", 1)[0]
    return MARKS.sub("", words if len(words) > LONGEST_TITLE // 2 else cut) + "…"
