"""Turns from begin to end: the person's message, the reply's placeholder and its run, in one transaction each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from chatapp.history.allowing import admit
from chatapp.history.attaching import attach
from chatapp.history.drafts import clear_draft
from chatapp.history.errors import ChatBusy, Fenced, NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.paths import branch_at
from chatapp.history.texts import first_words, storable
from chatapp.models import Chat, Compaction, LanguageModel, Message, Run

LEASE = timedelta(seconds=12)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a command began; `run` is None when the same command had been taken already.

    `continued`: the reply as it was before a run went on in its row.
    """

    chat: Chat
    message: Message
    run: Run | None
    continued: Message | None = None


@transaction.atomic
def start_chat(
    *,
    owner_id: int,
    text: str,
    idempotency_key: str,
    model: LanguageModel | None,
    system_prompt: str,
    by: str,
    file_ids: Sequence[UUID] = (),
    title: str = "",
    **settings: Any,
) -> Turn:
    """A new chat with its first turn. `by` names the process that will write the reply.

    `title`: where no words are said. `settings`: policy, parameters, and when it is deleted, where it is a
    temporary chat.
    """
    get_user_model().objects.select_for_update(no_key=True).get(pk=owner_id)  # the same start twice at once is one chat
    sent = (
        Message.objects.select_related("chat")
        .filter(chat__owner_id=owner_id, position=0, role=Message.Role.USER, idempotency_key=idempotency_key)
        .exclude(idempotency_key="")
        .first()
    )
    if sent:
        return Turn(sent.chat, sent, None)
    chat = Chat.objects.create(
        owner_id=owner_id,
        model=model,
        system_prompt=system_prompt,
        title=first_words(storable(text)) or first_words(title),
        **settings,
    )
    clear_draft(owner_id=owner_id, chat_id=None, text=text, file_ids=file_ids)
    return begin_turn(chat_id=chat.pk, text=text, idempotency_key=idempotency_key, by=by, file_ids=file_ids)


@transaction.atomic
def begin_turn(
    *,
    chat_id: UUID,
    text: str,
    idempotency_key: str,
    by: str,
    file_ids: Sequence[UUID] = (),
    was_counted: bool = False,
) -> Turn:
    """The person's message, the reply's placeholder and its run. The same key twice is one message.

    Raises ChatBusy while a run is live, LimitReached where its owner may send no more; a message sent during a
    compaction waits behind it (rule I3). `was_counted`: as a send, when it began to wait.
    """
    chat = lock_chat(chat_id)
    if sent := already_sent(chat, idempotency_key):
        return Turn(chat, sent, None)
    refuse_while_writing(chat)
    return open_turn(
        chat, text=text, idempotency_key=idempotency_key, by=by, file_ids=file_ids, was_counted=was_counted
    )


def open_turn(
    chat: Chat,
    *,
    text: str,
    idempotency_key: str,
    by: str,
    file_ids: Sequence[UUID] = (),
    was_counted: bool = False,
) -> Turn:
    """As begin_turn, of a locked chat in which nothing is written and nothing was sent under that key."""
    last = chat.messages.on_path().only("chat", "position").last()
    number_change(chat, touched=True, archived_at=None)  # who writes in an archived chat wants it back
    message = store_said(chat, text, parent=last, idempotency_key=idempotency_key, file_ids=file_ids)
    return Turn(chat, message, open_reply(chat, message, by=by, was_counted=was_counted))


@transaction.atomic
def begin_again(*, chat_id: UUID, reply_id: int, by: str) -> Turn:
    """Another reply beside an ended one (Regenerate, Retry): a sibling takes the path, nothing is overwritten.

    Raises ChatBusy while a run is live, NotPossible for what isn't a reply on the active path.
    """
    chat = lock_chat(chat_id)
    refuse_while_writing(chat)
    reply = (
        chat.messages.select_related("parent")
        .filter(
            pk=reply_id,
            active=True,
            role=Message.Role.ASSISTANT,
            parent__role=Message.Role.USER,
            parent__deleted_at=None,
        )
        .first()
    )
    if reply is None or reply.parent is None:
        raise NotPossible("not_a_reply")
    branch_at(chat, reply.position)
    return Turn(chat, reply.parent, open_reply(chat, reply.parent, by=by))


@transaction.atomic
def save_partial(*, run_id: int, attempt: int, content: str, reasoning: str) -> bool:
    """Store the text so far and prolong the lease; True when a stop was asked for. Raises Fenced."""
    now = timezone.now()
    mine = Run.objects.live().filter(pk=run_id, attempt=attempt)
    if not mine.update(heartbeat_at=now, lease_until=now + LEASE):
        raise Fenced
    run = Run.objects.get(pk=run_id)
    Message.objects.filter(pk=run.reply_id).update(content=storable(content), reasoning=storable(reasoning))
    return run.stop_requested


@transaction.atomic
def begin_writing(*, run_id: int, attempt: int, **facts: Any) -> bool:
    """`facts` tell what the reply's request was built from; True when it left the queue by this. Raises Fenced."""
    mine = Run.objects.live().filter(pk=run_id, attempt=attempt)
    if Message.objects.filter(pk__in=mine.values("reply"), status=Message.Status.STREAMING).update(**facts):
        return False
    run = _my_run(run_id, attempt)
    rows = Message.objects.filter(pk=run.reply_id)
    revision = number_change(lock_chat(run.chat_id))
    rows.update(status=Message.Status.STREAMING, revision=revision, **facts)
    return True


@transaction.atomic
def finish_turn(
    *, run_id: int, attempt: int, status: Message.Status, content: str, reasoning: str, **facts: Any
) -> Message:
    """Text, usage, status; the run is closed with it. Raises Fenced when the run isn't ours any more."""
    run = _my_run(run_id, attempt)
    chat = lock_chat(run.chat_id)
    now = timezone.now()
    if not Run.objects.live().filter(pk=run_id, attempt=attempt).update(status=_RUN_STATUS[status], ended_at=now):
        raise Fenced
    revision = number_change(chat, touched=True, unread_since=chat.unread_since or now)
    Message.objects.filter(pk=run.reply_id).update(
        status=status, content=storable(content), reasoning=storable(reasoning), revision=revision, **facts
    )
    return Message.objects.get(pk=run.reply_id)


_RUN_STATUS = {
    Message.Status.COMPLETE: Run.Status.COMPLETE,
    Message.Status.STOPPED: Run.Status.STOPPED,
    Message.Status.INTERRUPTED: Run.Status.INTERRUPTED,
    Message.Status.FAILED: Run.Status.FAILED,
}


@transaction.atomic
def request_stop(*, chat_id: UUID) -> Run | None:
    """Mark the chat's live run for stopping and return it; None when nothing is being written."""
    run = Run.objects.live().filter(chat_id=chat_id).first()
    if run:
        Run.objects.filter(pk=run.pk).update(stop_requested=True)
    return run


@transaction.atomic
def interrupt_run(run: Run) -> bool:
    """Take a dead run over: its attempt is raised, so a late writer changes nothing; its text so far is kept."""
    chat = lock_chat(run.chat_id)
    taken = Run.objects.live().filter(pk=run.pk, attempt=run.attempt)
    if not taken.update(status=Run.Status.INTERRUPTED, attempt=run.attempt + 1, ended_at=timezone.now()):
        return False
    revision = number_change(chat, unread_since=chat.unread_since or timezone.now())
    Message.objects.filter(pk=run.reply_id).update(
        status=Message.Status.INTERRUPTED, failure="interrupted", revision=revision
    )
    return True


def _my_run(run_id: int, attempt: int) -> Run:
    run = Run.objects.live().filter(pk=run_id, attempt=attempt).first()
    if run is None:
        raise Fenced
    return run


def already_sent(chat: Chat, idempotency_key: str) -> Message | None:
    """The message of an earlier command with the same key; a command without one was never carried out before."""
    return chat.messages.filter(idempotency_key=idempotency_key).first() if idempotency_key else None


def store_said(
    chat: Chat,
    text: str,
    *,
    parent: Message | None,
    idempotency_key: str,
    file_ids: Sequence[UUID] = (),
    **kept: Any,
) -> Message:
    """A user message behind `parent`, at the chat's revision; `kept`: what it keeps of the wording that it replaces."""
    facts = {"shown_revision": chat.revision, **kept}
    message = Message.objects.create(
        chat=chat,
        parent=parent,
        position=parent.position + 1 if parent else 0,
        role=Message.Role.USER,
        content=storable(text),
        idempotency_key=idempotency_key,
        revision=chat.revision,
        file_count=len(file_ids),
        **facts,
    )
    if file_ids:
        attach(message, file_ids)
    return message


def refuse_while_writing(chat: Chat) -> None:
    """Raises ChatBusy while a run is live."""
    if Run.objects.live().filter(chat=chat).exists():
        raise ChatBusy("run_live")


def first_status(chat: Chat) -> Message.Status:
    """Of a reply that is about to be written: behind a compaction it waits (rule I3)."""
    compacting = Compaction.objects.live().filter(chat=chat).exists()
    return Message.Status.QUEUED if compacting else Message.Status.STREAMING


def open_run(chat: Chat, reply: Message, *, by: str, was_counted: bool = False) -> Run:
    """The one place where runs begin, and so where limits are asked. Raises LimitReached."""
    admit(chat, is_send=not was_counted, is_run=True)
    return Run.objects.create(chat=chat, reply=reply, owner=by, lease_until=timezone.now() + LEASE)


def open_reply(chat: Chat, message: Message, *, by: str, was_counted: bool = False) -> Run:
    reply = Message.objects.create(
        chat=chat,
        parent=message,
        position=message.position + 1,
        role=Message.Role.ASSISTANT,
        status=first_status(chat),
        shown_revision=chat.revision,
        revision=chat.revision,
    )
    return open_run(chat, reply, by=by, was_counted=was_counted)
