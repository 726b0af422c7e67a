"""Which messages may be pinned: to stay verbatim in every request, also once they are archived (rule C6)."""

from __future__ import annotations

from compaction.budget import Limits
from compaction.planning import ASSUMED_WINDOW, Refusal
from compaction.request import pinned_turns
from compaction.tokens import estimate_request
from compaction.transcript import Message, Transcript

# Share of the window that all pinned messages together may take, archived or live.
MOST_PERCENT = 15

NOT_PINNABLE, TOO_MUCH_PINNED = "not_pinnable", "too_much_pinned"


def may_pin(transcript: Transcript, message: Message, limits: Limits) -> Refusal | None:
    """None when it may. Steps of tools, and what is empty or not finished, can't be pinned.

    An unknown window counts as 8,192. The detail of `too_much_pinned` is tokens with it > tokens allowed.
    """
    if message.role == "tool" or message.tool_calls or message.is_waiting or message.is_empty:
        return Refusal(NOT_PINNABLE)
    pinned = {found.id: found for found in (*pinned_messages(transcript), message)}
    in_order = sorted(pinned.values(), key=lambda found: found.position)
    size = round(estimate_request(pinned_turns(in_order)) * limits.ratio)
    most = (limits.window or ASSUMED_WINDOW) * MOST_PERCENT // 100
    return Refusal(TOO_MUCH_PINNED, f"{size} > {most}") if size > most else None


def pinned_messages(transcript: Transcript) -> tuple[Message, ...]:
    """Archived ones, then live ones, in order of position."""
    return (*transcript.pinned, *(message for message in transcript.messages if message.is_pinned))
