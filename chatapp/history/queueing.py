"""Messages that wait for a reply to end: queued, sent in order, each exactly once, or taken back."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery

from chatapp.history.allowing import admit
from chatapp.history.attaching import attach, file_ids_of, let_go
from chatapp.history.drafts import clear_draft
from chatapp.history.errors import LimitReached, NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.texts import storable
from chatapp.history.turns import Turn, already_sent, begin_turn, open_turn
from chatapp.models import Chat, QueuedMessage, Run

# In one chat. Who writes ahead by hand has a few; without an end a script could fill the list that every page shows.
MOST_WAITING = 30


@transaction.atomic
def send(*, chat_id: UUID, text: str, idempotency_key: str, by: str, file_ids: Sequence[UUID] = ()) -> Turn | None:
    """A turn with this message; None where it waits now, or waits already under the same key.

    It waits while a reply is written, and behind messages that are about to be sent. Where those wait for the person
    (after a reply that didn't end well) it is sent at once, and they after it. Raises LimitReached, and NotPossible
    where as many wait as may.
    """
    chat = lock_chat(chat_id)
    found = Chat.objects.filter(pk=chat_id).values(
        newest_run=Subquery(chat.runs.order_by("-pk").values("status")[:1]),
        waits=Exists(chat.queued.all()),
        goes_at_once=Exists(chat.queued.filter(at_once=True)),
        is_queued=Exists(chat.queued.filter(idempotency_key=idempotency_key)),
        is_sent=Exists(chat.messages.filter(idempotency_key=idempotency_key)),
    )
    known = found.get()  # all at once, and behind the lock
    if idempotency_key and known["is_queued"]:
        return None
    clear_draft(owner_id=chat.owner_id, chat_id=chat.pk, text=text, file_ids=file_ids)
    if sent := already_sent(chat, idempotency_key) if known["is_sent"] else None:
        return Turn(chat, sent, None)
    is_due = known["waits"] and (_goes_on(known["newest_run"]) or known["goes_at_once"])
    if not (is_due or known["newest_run"] == Run.Status.LIVE):
        return open_turn(chat, text=text, idempotency_key=idempotency_key, by=by, file_ids=file_ids)
    if chat.queued.count() >= MOST_WAITING:
        raise NotPossible("queue_full")
    admit(chat, is_send=True)
    number_change(chat, touched=True)
    row = QueuedMessage.objects.create(chat=chat, text=storable(text), idempotency_key=idempotency_key)
    if file_ids:
        attach(row, file_ids)
    return begin_next(chat_id=chat_id, by=by)


def begin_next(*, chat_id: UUID, by: str) -> Turn | None:
    """The turn of the message whose time has come, which leaves the queue in the same transaction; None without one.

    Where its owner has reached a limit it goes on waiting. Raises Chat.DoesNotExist.
    """
    if not QueuedMessage.objects.filter(chat=chat_id).exists():  # as after most replies: nothing is locked for it
        return None
    return _begin_next(chat_id, by=by)


@transaction.atomic
def _begin_next(chat_id: UUID, *, by: str) -> Turn | None:
    chat = lock_chat(chat_id)
    row = next_of(chat)
    if row is None:
        return None
    try:
        return _begin(row, by=by)
    except LimitReached:
        return None


def _begin(row: QueuedMessage, *, by: str) -> Turn:
    """Raises LimitReached; then it is still there."""
    turn = begin_turn(
        chat_id=row.chat_id,
        text=row.text,
        idempotency_key=row.idempotency_key,
        by=by,
        file_ids=file_ids_of(row),
        was_counted=True,
    )
    row.delete()
    return turn


@transaction.atomic
def send_now(*, chat_id: UUID, queued_id: int, by: str) -> Turn | Run:
    """This one goes first: its turn, or the run that must be stopped for it and is marked so.

    Raises NotPossible once it no longer waits, LimitReached where it has to.
    """
    chat = lock_chat(chat_id)
    row = _waiting(chat, queued_id)
    live = Run.objects.live().filter(chat=chat).first()
    chat.queued.update(at_once=False)
    if live is None:
        return _begin(row, by=by)
    admit(chat)
    chat.queued.filter(pk=row.pk).update(at_once=True)
    number_change(chat)
    Run.objects.filter(pk=live.pk).update(stop_requested=True)
    return live


@transaction.atomic
def take_back(*, chat_id: UUID, queued_id: int) -> tuple[str, list[UUID]]:
    """Out of the queue unsent; the text and the files that it had. Raises NotPossible once it no longer waits."""
    chat = lock_chat(chat_id)
    row = _waiting(chat, queued_id)
    file_ids = file_ids_of(row)
    row.delete()
    let_go(file_ids)
    number_change(chat)
    return row.text, file_ids


def next_of(chat: Chat) -> QueuedMessage | None:
    """What may be sent now: nothing while a reply is written, nor by itself after one that didn't end well."""
    newest_run = chat.runs.order_by("-pk").values_list("status", flat=True).first()
    if newest_run == Run.Status.LIVE:
        return None
    first = chat.queued.in_order().first()
    return first if first and (_goes_on(newest_run) or first.at_once) else None


def _goes_on(newest_run: str | None) -> bool:
    """Whether a queue is sent by itself after a run with that status, or in a chat without one."""
    return newest_run in {None, Run.Status.COMPLETE}


def due() -> list[UUID]:
    """Chats with a message whose time has come and that nobody has sent: whoever should have is gone.

    By the rule of next_of, in one query: it is asked every few seconds.
    """
    newest_run = Run.objects.filter(chat=OuterRef("pk")).order_by("-pk").values("status")[:1]
    waiting = QueuedMessage.objects.filter(chat=OuterRef("pk"))
    chats = Chat.objects.filter(Exists(waiting)).annotate(ended=Subquery(newest_run))
    goes_on = Q(ended__isnull=True) | Q(ended=Run.Status.COMPLETE)
    sent_now = ~Q(ended=Run.Status.LIVE) & Exists(waiting.filter(at_once=True))
    return list(chats.filter(goes_on | sent_now).values_list("pk", flat=True))


def _waiting(chat: Chat, queued_id: int) -> QueuedMessage:
    row = chat.queued.filter(pk=queued_id).first()
    if row is None:
        raise NotPossible("not_waiting")
    return row
