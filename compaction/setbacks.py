"""What came back instead of a summary when it was asked for as a continuation, and what follows from it (rule E3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compaction.excuses import is_tool_call
from compaction.thinking import without_thinking

EMPTIES_TO_SUSPEND = 2
# Words that the judge found to be no summary at all: as good as none.
NO_SUMMARY = frozenset({"apology", "copy", "error_text", "too_short"})
COUNTED = frozenset({"empty", "only_reasoning"}) | NO_SUMMARY

TEMPLATE = re.compile(
    r"jinja|chat.?template|template.?error|raise_exception|roles? must alternate|conversation roles"
    r"|after the (?:optional )?system|system (?:role|message)[^.]{0,40}(?:support|must|only|first)"
    r"|(?:expected|unexpected|unsupported|invalid) (?:message )?role",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Setback:
    """Why the summary is asked for as a transcript after all. `suspends`: no continuation of this model from now on."""

    code: str
    suspends: bool


def read_setback(
    *,
    refusal: str = "",
    text: str = "",
    tool_calls: bool = False,
    reasoning_only: bool = False,
    judged: str = "",
    empties: int = 0,
) -> Setback | None:
    """None for an answer with a summary in it, be it a poor one. `refusal`: the endpoint's own words where it refused.

    `judged`: the code of the verdict on the answer. `empties`: how many answers in a row without a summary this model
    gave to continuations before. Codes: refused, refused_by_template, tool_call, and those of COUNTED.
    """
    if refusal:
        is_template = bool(TEMPLATE.search(refusal))
        return Setback("refused_by_template" if is_template else "refused", suspends=is_template)
    said = without_thinking(text) or ""
    if tool_calls or is_tool_call(said):
        return Setback("tool_call", suspends=True)
    if said and judged not in NO_SUMMARY:
        return None
    code = judged if said else "only_reasoning" if reasoning_only or text.strip() else "empty"
    return Setback(code, suspends=empties + 1 >= EMPTIES_TO_SUSPEND)
