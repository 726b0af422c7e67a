"""Whether what the summariser wrote may stand for the earlier turns (rules, F)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from compaction.excuses import is_apology, is_error, is_tool_call
from compaction.scripts import dominant, shares
from compaction.thinking import without_thinking
from compaction.tokens import estimate_text

LEAST_PROSE = 40
# Estimates are within ±35 %, so an answer that kept to its max_tokens can look a third longer than allowed.
ALLOWED_PERCENT = 150
# A stretch of this share of its words that is also in the source makes it a copy; so many stretches are looked at.
COPIED_PERCENT, STRETCHES, SHORTEST_COPY = 60, 40, 200
FOREIGN_SHARE, LEAST_LETTERS = 0.15, 30


@dataclass(frozen=True, slots=True)
class Verdict:
    """`text` without think blocks; `code` says why it is not ok; `cut`: accepted although its end is missing."""

    ok: bool
    text: str
    code: str = ""
    cut: bool = False


def judge(
    text: str, *, finish_reason: str, tool_calls: bool, reasoning_only: bool, budget: int, source_text: str
) -> Verdict:
    """`budget` = tokens that were asked for at most; `source_text` = the archived text that is summed up.

    Codes: tool_call, unclosed_think, only_reasoning, empty, error_text, apology, too_short, cut_short, other_script,
    copy, too_large.
    """
    said = without_thinking(text)
    if tool_calls:
        return Verdict(ok=False, text=said or "", code="tool_call")
    if said is None:
        return Verdict(ok=False, text="", code="unclosed_think")
    if not said:
        return Verdict(ok=False, text="", code="only_reasoning" if reasoning_only or text.strip() else "empty")
    is_cut = finish_reason == "length"
    code = _not_a_summary(said) or _wrong_size(said, budget, is_cut=is_cut) or _not_its_own(said, source_text)
    return Verdict(ok=not code, text=said, code=code, cut=is_cut and not code)


def _not_a_summary(said: str) -> str:
    if is_tool_call(said):
        return "tool_call"
    if is_error(said):
        return "error_text"
    return "apology" if is_apology(said) else ""


def _wrong_size(said: str, budget: int, *, is_cut: bool) -> str:
    size = estimate_text(said)
    if len(_prose(said)) < LEAST_PROSE:
        return "too_short"
    if is_cut and size * 2 < budget:
        return "cut_short"
    return "too_large" if size * 100 > budget * ALLOWED_PERCENT else ""


def _not_its_own(said: str, source: str) -> str:
    script = dominant(source)
    letters = sum(map(str.isalpha, said))
    if script and letters >= LEAST_LETTERS and shares(said).get(script, 0.0) < FOREIGN_SHARE:
        return "other_script"
    return "copy" if _is_copy(said, source) else ""


def _prose(said: str) -> str:
    """Words and their spaces: marks of markdown and punctuation don't count."""
    return " ".join(re.findall(r"\w+", said))


def _is_copy(said: str, source: str) -> bool:
    """One stretch of most of its words stands just so in the source; sentences picked from here and there are fine."""
    if len(said) < SHORTEST_COPY:
        return False
    words = re.findall(r"\w+", said.casefold())
    length = max(1, len(words) * COPIED_PERCENT // 100)
    starts = range(0, len(words) - length + 1, max(1, (len(words) - length) // STRETCHES))
    told = " ".join(["", *re.findall(r"\w+", source.casefold()), ""])
    return any(f" {' '.join(words[start : start + length])} " in told for start in starts)
