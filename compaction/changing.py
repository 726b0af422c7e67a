"""Whether a chat has room in the window of another model, and against which limits it is folded for it (rule B8)."""

from __future__ import annotations

from dataclasses import replace

from compaction.budget import Limits, Meter, measure
from compaction.transcript import Transcript, last_complete_turn, turn_starts


def would_fill(meter: Meter) -> bool:
    """Whether the chat, measured for that model, reaches its trigger, or its window where it never folds by itself."""
    return 0 < (meter.trigger or meter.window) <= meter.used


def limits_for_change(limits: Limits) -> Limits:
    """Folded for a model that never folds by itself, the chat has to come under its window all the same."""
    return limits if limits.threshold_percent else replace(limits, threshold_percent=100)


def is_too_small(transcript: Transcript, limits: Limits, *, no_system_role: bool = False) -> bool:
    """Whether the window can't hold even what always stays: system prompt, pinned messages and the last turn."""
    messages = transcript.messages
    last = last_complete_turn(messages)
    start = max(turn_starts(messages), default=0) if last is None else last
    stays = tuple(replace(message, made_after_boundary=False) for message in messages[start:])
    least = replace(transcript, summary="", messages=stays, measured_offset=0)
    return measure(least, limits, no_system_role=no_system_role).used > limits.window > 0
