"""What came back instead of a summary when it was asked for as a continuation, and what follows from it (rule E3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compaction.excuses import is_tool_call
from compaction.thinking import without_thinking

EMPTIES_TO_SUSPEND = 2

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
    *, refusal: str = "", text: str = "", tool_calls: bool = False, reasoning_only: bool = False, empties: int = 0
) -> Setback | None:
    """None for an answer that can be judged. `refusal`: the endpoint's own words where it refused.

    `empties`: how many empty or reasoning-only answers in a row this model gave to continuations before.
    Codes: refused, refused_by_template, tool_call, only_reasoning, empty.
    """
    if refusal:
        is_template = bool(TEMPLATE.search(refusal))
        return Setback("refused_by_template" if is_template else "refused", suspends=is_template)
    said = without_thinking(text) or ""
    if tool_calls or is_tool_call(said):
        return Setback("tool_call", suspends=True)
    if said:
        return None
    code = "only_reasoning" if reasoning_only or text.strip() else "empty"
    return Setback(code, suspends=empties + 1 >= EMPTIES_TO_SUSPEND)
