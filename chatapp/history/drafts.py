"""Drafts: the newest one of any device is kept, until its message is stored. An empty one tells when that was."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from chatapp.history.attaching import attach, file_ids_of, let_go
from chatapp.history.locking import lock_chat
from chatapp.history.texts import storable
from chatapp.models import Chat, Draft, Message, QueuedMessage

# A draft may be under way that long: while its own message is sent, or a draft that was typed after it is saved.
LATE = timedelta(seconds=30)
# No more of them are sent meanwhile, from however long a queue.
LAST_MESSAGES = 40


@transaction.atomic
def save_draft(
    *,
    owner_id: int,
    chat_id: UUID | None,
    text: str,
    file_ids: Sequence[UUID] = (),
    typed_at: datetime | None = None,
) -> None:
    """In place of the one that was there, unless that was typed later, on a device that wasn't cut off since.

    One of a message that has just been sent is left out. `typed_at`: now, where nobody says.
    """
    typed_at = typed_at or timezone.now()
    if chat_id:
        lock_chat(chat_id)
    else:
        get_user_model().objects.select_for_update().get(pk=owner_id)
    text = storable(text)
    if (text.strip() or file_ids) and _was_just_sent(owner_id, chat_id, text, len(file_ids), since=typed_at - LATE):
        return
    draft = draft_of(owner_id, chat_id) or Draft.objects.create(owner_id=owner_id, chat_id=chat_id)
    held = file_ids_of(draft)
    if draft.saved_at > typed_at + LATE and (draft.text.strip() or held):
        return
    _write(draft, text, typed_at, file_ids, held=held)


def clear_draft(*, owner_id: int, chat_id: UUID | None, text: str, file_ids: Sequence[UUID] = ()) -> None:
    """Its message is being stored. What isn't the beginning of that text, or has other files, is another device's.

    Inside a transaction.
    """
    draft = draft_of(owner_id, chat_id)
    if draft is None or not storable(text).startswith(draft.text.rstrip()):
        return
    held = file_ids_of(draft)
    if set(held) <= set(file_ids):
        _write(draft, "", timezone.now(), held=held)


def draft_of(owner_id: int, chat_id: UUID | None) -> Draft | None:
    own = Draft.objects.filter(owner_id=owner_id)
    return (own.filter(chat_id=chat_id) if chat_id else own.filter(chat=None)).first()


def _write(draft: Draft, text: str, typed_at: datetime, file_ids: Sequence[UUID] = (), *, held: Sequence[UUID]) -> None:
    """`held`: the files that it has until now."""
    Draft.objects.filter(pk=draft.pk).update(text=text, saved_at=typed_at)
    if dropped := set(held).difference(file_ids):
        let_go(dropped)
    if held:
        draft.attachments.all().delete()
    if file_ids:
        attach(draft, file_ids)


def _was_just_sent(owner_id: int, chat_id: UUID | None, text: str, file_count: int, *, since: datetime) -> bool:
    """Asked at every pause in typing, so of what is new alone: chats that were touched since, the end of this one."""
    said = Message.objects.filter(role=Message.Role.USER, file_count=file_count, created_at__gt=since)
    if chat_id is None:
        touched = Chat.objects.filter(owner_id=owner_id, touched_at__gt=since)
        return said.filter(chat__in=touched, position=0, content=text).exists()
    newest = Message.objects.filter(chat_id=chat_id).on_path().reverse()[:LAST_MESSAGES]
    waiting = QueuedMessage.objects.filter(chat_id=chat_id, text=text, created_at__gt=since)
    return said.filter(pk__in=newest.values("pk"), content=text).exists() or waiting.exists()
