"""A reply that broke off goes on in its own row: begun here, ended as any other by `turns.finish_turn`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction

from chatapp.history.errors import NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.turns import Turn, first_status, open_run, refuse_while_writing
from chatapp.models import Message, Run

ENDED_EARLY = frozenset({Message.Status.STOPPED, Message.Status.INTERRUPTED, Message.Status.FAILED})
# What a call says of itself in the row of its reply.
_CALL_FACTS = (
    "reasoning",
    "reasoning_milliseconds",
    "failure",
    "failure_detail",
    "retry_at",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "estimated_prompt_tokens",
    "window_tokens",
    "request_through_id",
    "usage_outdated",
    "model_name",
    "request_extras",
    "left_out",
)
# Until the new call has ended none of its usage is known, and that of the former says nothing of what is added.
_NOT_YET: dict[str, Any] = {
    "failure": "",
    "failure_detail": "",
    "retry_at": None,
    "finish_reason": "",
    "prompt_tokens": None,
    "completion_tokens": None,
    "cached_tokens": None,
    "reasoning_tokens": None,
    "usage_outdated": False,
}


def can_continue(reply: Message) -> bool:
    """Whether it has text and broke off: stopped, interrupted, failed, or at its greatest length."""
    broke_off = reply.status in ENDED_EARLY or (
        reply.status == Message.Status.COMPLETE and reply.finish_reason == "length"
    )
    return reply.role == Message.Role.ASSISTANT and broke_off and bool(reply.content.strip()) and not reply.is_deleted


def call_facts(reply: Message) -> dict[str, Any]:
    """What the call that wrote it left in its row, to be put back where a continuation brought nothing.

    What was outdated meanwhile stays outdated.
    """
    return {name: getattr(reply, name) for name in _CALL_FACTS if name != "usage_outdated" or reply.usage_outdated}


@transaction.atomic
def begin_continuation(*, chat_id: UUID, reply_id: int, by: str) -> Turn:
    """A run that writes on in the reply's own row; its text stays. Pressed twice it is one run.

    Raises ChatBusy while another reply is written, NotPossible for what isn't a broken off reply at the chat's end.
    """
    chat = lock_chat(chat_id)
    reply = chat.messages.select_related("parent").on_path().last()
    if reply is None or reply.pk != reply_id or reply.parent is None or reply.parent.is_deleted:
        raise NotPossible("not_a_reply")
    if Run.objects.live().filter(reply=reply).exists():
        return Turn(chat, reply.parent, None)
    refuse_while_writing(chat)
    if not can_continue(reply):
        raise NotPossible("not_a_reply")
    revision = number_change(chat, touched=True)
    Message.objects.filter(pk=reply.pk).update(status=first_status(chat), revision=revision, **_NOT_YET)
    return Turn(chat, reply.parent, open_run(chat, reply, by=by), continued=reply)
