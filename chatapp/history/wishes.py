"""What a person decides about the request of a chat: pins, a fresh start, a policy (rules C6, J4, J5)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chatapp.history.attaching import NOTHING, attached_to
from chatapp.history.boundary import record_for_path
from chatapp.history.compactions import refuse_while_busy
from chatapp.history.errors import NotPossible
from chatapp.history.loading import load_situation, pure_message
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.ongoing import forget_chunks
from chatapp.history.sizes import outdate_record
from chatapp.models import Chat, Compaction, Message
from compaction.memory import after_success
from compaction.pinning import may_pin
from compaction.planning import Refusal
from compaction.policies import fresh_boundary


@transaction.atomic
def pin(*, chat_id: UUID, message_id: int, pinned: bool) -> None:
    """Keep a message verbatim in every request, or no longer. Raises NotPossible, beyond 15 % of the window too."""
    chat = lock_chat(chat_id)
    message = chat.messages.filter(pk=message_id, active=True).first()
    if message is None:
        raise NotPossible("no_such_message")
    if pinned:
        situation = load_situation(chat_id)
        beside = attached_to([message], sees_images=bool(situation.model and situation.model.sees_images))
        pinning = pure_message(message, chat.compacted_through, beside.get(message.pk, NOTHING))
        refusal = may_pin(situation.transcript, pinning, situation.limits)
        if refusal:
            raise NotPossible(refusal.code)
    counted: dict[str, Any] = {}
    if chat.compacted_through and message.position <= chat.compacted_through.position:
        outdate_record(chat)
        counted = {} if chat.summary else record_for_path(chat)  # the divider of a fresh start counts what is sent
    revision = number_change(chat, **counted)
    Message.objects.filter(pk=message.pk).update(pinned=pinned, revision=revision)


@transaction.atomic
def choose_policy(*, chat_id: UUID, policy: Chat.Policy) -> None:
    number_change(lock_chat(chat_id), policy=policy)


@transaction.atomic
def start_fresh(*, chat_id: UUID, message_id: int, user_id: int) -> Compaction:
    """A boundary without a summary: what lies before the user message is no longer sent (rule J5). Undo as always.

    Raises ChatBusy while a run or compaction is live, NotPossible where no turn begins.
    """
    chat = lock_chat(chat_id)
    refuse_while_busy(chat)
    situation = load_situation(chat_id)
    boundary = fresh_boundary(situation.transcript.messages, message_id)
    if isinstance(boundary, Refusal):
        raise NotPossible(boundary.code)
    now = timezone.now()
    compaction = Compaction.objects.create(
        chat=chat,
        by_id=user_id,
        trigger=Compaction.Trigger.FRESH,
        mode=Compaction.Mode.FRESH,
        status=Compaction.Status.APPLIED,
        through_id=boundary.id,
        from_position=0,
        through_position=boundary.position,
        message_count=boundary.position + 1,
        tokens_before=situation.meter().used,
        ended_at=now,
    )
    forget_chunks(chat.compactions.all())
    number_change(
        chat,
        summary="",
        compacted_through_id=boundary.id,
        compacted_at=now,
        compaction_memory=asdict(after_success()),
    )
    Compaction.objects.filter(pk=compaction.pk).update(tokens_after=load_situation(chat_id).meter().used)
    return compaction
