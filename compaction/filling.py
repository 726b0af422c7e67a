"""Whether a reply that never began was kept from it by a full window (rule B5)."""

from __future__ import annotations

from compaction.budget import Limits
from compaction.planning import CEILING_PERCENT
from compaction.tokens import estimate_text
from compaction.transcript import Usage


def was_window_full(
    *, finish_reason: str, usage: Usage | None, estimated_prompt: int, reasoning: str, limits: Limits
) -> bool:
    """For a reply without a visible word: it ended at "length", and its size has reached the trigger.

    The size is the call's recorded usage, else the estimate of prompt and reasoning. Where nothing is folded by itself
    85 % of the window stand for the trigger; with an unknown window a limit of the reply's own length is as likely.
    """
    line = limits.trigger or limits.window * CEILING_PERCENT // 100
    if finish_reason != "length" or not line:
        return False
    estimate = round((estimated_prompt + estimate_text(reasoning)) * limits.ratio)
    return (usage.prompt + usage.completion if usage else estimate) >= line
