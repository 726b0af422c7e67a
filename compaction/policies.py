"""Chats that are not summarised: bounded by the newest turns that fit (J4), or begun afresh at a message (J5)."""

from __future__ import annotations

from compaction.budget import Limits, headroom_tokens
from compaction.cutting import safe_cuts
from compaction.planning import Refusal
from compaction.request import RequestMessage, assemble
from compaction.shrinking import Shrunk, keep_newest_turns
from compaction.transcript import Message, Transcript

UNKNOWN_MESSAGE, NOT_A_TURN, NOTHING_BEFORE = "unknown_message", "not_a_turn", "nothing_before"


def windowed(transcript: Transcript, limits: Limits) -> Shrunk:
    """The newest turns that fit the window with room for a reply, and which were left out; all, if it is unknown.

    The last turn stays even where it alone is too long.
    """
    if not limits.window:
        return Shrunk(transcript)
    room = limits.window - (limits.headroom or headroom_tokens((), limits.window))
    return keep_newest_turns(transcript, limits, tokens=max(limits.window // 2, room))


def window_request(
    transcript: Transcript, limits: Limits, *, no_system_role: bool = False
) -> tuple[RequestMessage, ...]:
    """What is sent under the policy "window" (rule J4)."""
    return assemble(windowed(transcript, limits).transcript, no_system_role=no_system_role)


def fresh_boundary(messages: tuple[Message, ...], user_message: int) -> Message | Refusal:
    """The message that becomes the boundary, without a summary, so that the chat begins afresh at a user message (J5).

    `user_message` is an id. Refused where nothing lies before it, and behind the first unanswered message (rule C2).
    """
    index = next((index for index, message in enumerate(messages) if message.id == user_message), None)
    if index is None:
        return Refusal(UNKNOWN_MESSAGE)
    if index == 0:
        return Refusal(NOTHING_BEFORE)
    return messages[index - 1] if index in safe_cuts(messages) else Refusal(NOT_A_TURN)
