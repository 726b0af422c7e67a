"""Deleting messages: a tombstone keeps the place; Undo brings the text back for an hour, then it is erased (J2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatapp.history.attaching import erase_forgotten, erase_unattached
from chatapp.history.boundary import record_for_path
from chatapp.history.compactions import refuse_while_busy
from chatapp.history.errors import NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.ongoing import forget_chunks
from chatapp.history.paths import versions_of
from chatapp.history.sizes import outdate_usage
from chatapp.history.texts import first_words
from chatapp.models import Attachment, Chat, Message

GRACE = timedelta(hours=1)
# What was uploaded and never sent; a draft may still want it tomorrow.
UNSENT_GRACE = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Deletion:
    """What would go: the message and, on the active path, what goes with it and what else follows.

    `with_it` counts the replies that go with a user message, `after_it` everything on the path behind those. The
    `other_versions` of the message itself stay.
    """

    message: Message
    with_it: int
    after_it: int
    other_versions: int


def weigh_deletion(chat: Chat, message_id: int) -> Deletion:
    """For the question that is asked first. Raises NotPossible for what isn't there to be deleted."""
    message = _to_delete(chat, message_id)
    behind = list(chat.messages.on_path().filter(position__gt=message.position).values_list("role", flat=True))
    with_it = 0
    if message.role == Message.Role.USER:
        with_it = next((index for index, role in enumerate(behind) if role == Message.Role.USER), len(behind))
    versions = versions_of(chat, [message]).get(message.position, [])
    return Deletion(message, with_it, len(behind) - with_it, max(0, len(versions) - 1))


@transaction.atomic
def delete_message(*, chat_id: UUID, message_id: int, with_following: bool = False) -> None:
    """A user message goes with the replies to it, in all their versions; a reply goes alone.

    `with_following`: everything that follows goes, too, on every path below it. Nothing deleted stays pinned.

    Raises ChatBusy while a run or compaction is live, NotPossible for what isn't there to be deleted.
    """
    chat = lock_chat(chat_id)
    refuse_while_busy(chat)
    message = _to_delete(chat, message_id)
    going = list(_going(chat, message, with_following=with_following))
    last, is_pinned = message.position, False
    for rows in _rows(chat, going):
        on_path = rows.filter(active=True)
        last = max(last, *on_path.values_list("position", flat=True))
        is_pinned = is_pinned or on_path.filter(pinned=True).exists()
    outdate_usage(chat, since=message.position, through=last, was_sent=is_pinned)
    forget_chunks(chat.compactions.filter(through_position__gte=message.position))
    _change(chat, going, since=message.position, deleted_at=timezone.now(), pinned=False)


@transaction.atomic
def restore_message(*, chat_id: UUID, message_id: int) -> None:
    """Everything that was deleted with it comes back; pins don't.

    Raises ChatBusy while a run or compaction is live, NotPossible where nothing was deleted, or once it is erased.
    """
    chat = lock_chat(chat_id)
    refuse_while_busy(chat)
    message = chat.messages.deleted().filter(pk=message_id).first()
    if message is None or message.deleted_at is None:
        raise NotPossible("no_such_message")
    if not is_restorable(message):
        raise NotPossible("erased")
    rows = chat.messages.filter(deleted_at=message.deleted_at)
    position_of = dict(rows.values_list("pk", "position"))
    since = min(position_of.values())
    outdate_usage(chat, since=since, through=max(position_of.values()))
    _change(chat, list(position_of), since=since, deleted_at=None)


def is_restorable(message: Message) -> bool:
    """Whether there is a text to bring back: not once it is erased, nor where it came without it in a file."""
    is_kept = bool(message.content or message.reasoning or message.tool_calls or message.file_count)
    return is_kept and message.deleted_at is not None and message.deleted_at > timezone.now() - GRACE


def erase_deleted(*, due_within: timedelta | None = None) -> list[UUID]:
    """Text and files of what was deleted an hour ago are gone for good; the ids of the chats where that was so.

    With them goes what was uploaded and never sent. `due_within`: of what became due no longer ago, so that whoever
    looks again and again doesn't read each time all that was ever deleted or uploaded.
    """
    now = timezone.now()
    unsent, deleted = now - UNSENT_GRACE, now - GRACE
    erase_forgotten(before=unsent, since=unsent - due_within if due_within else None)
    due = Message.objects.filter(_HAS_TEXT, deleted_at__lte=deleted)
    if due_within:
        due = due.filter(deleted_at__gt=deleted - due_within)
    chats = list(due.values_list("chat_id", flat=True).distinct())
    for chat_id in chats:
        _erase_in(chat_id)
    return chats


_HAS_TEXT = ~Q(content="") | ~Q(reasoning="") | ~Q(failure_detail="") | ~Q(tool_calls=[]) | Q(file_count__gt=0)


@transaction.atomic
def _erase_in(chat_id: UUID) -> None:
    chat = lock_chat(chat_id)
    due = chat.messages.filter(_HAS_TEXT, deleted_at__lte=timezone.now() - GRACE)
    attachments = Attachment.objects.filter(message__in=due)
    file_ids = set(attachments.values_list("file_id", flat=True))
    attachments.delete()
    erase_unattached(file_ids)  # another version may still hold one
    due.update(content="", reasoning="", failure_detail="", tool_calls=[], file_count=0, revision=number_change(chat))


def _to_delete(chat: Chat, message_id: int) -> Message:
    message = chat.messages.on_path().filter(pk=message_id, deleted_at=None).first()
    if message is None or message.is_live:
        raise NotPossible("no_such_message")
    return message


def _going(chat: Chat, message: Message, *, with_following: bool) -> Iterator[int]:
    """Ids of what isn't deleted yet among the message and what goes with it."""
    yield message.pk
    if message.role != Message.Role.USER and not with_following:
        return
    below: dict[int | None, list[tuple[int, bool]]] = {}
    rows = chat.messages.filter(position__gt=message.position)
    for pk, parent, role, deleted_at in rows.values_list("pk", "parent_id", "role", "deleted_at"):
        if with_following or role != Message.Role.USER:
            below.setdefault(parent, []).append((pk, deleted_at is None))
    waiting = [message.pk]
    while waiting:
        for pk, is_left in below.get(waiting.pop(), ()):
            waiting.append(pk)
            if is_left:
                yield pk


def _rows(chat: Chat, ids: list[int]) -> Iterator[Any]:
    for start in range(0, len(ids), 500):
        yield chat.messages.filter(pk__in=ids[start : start + 500])


def _change(chat: Chat, ids: list[int], *, since: int, **changes: Any) -> None:
    """To the messages; to the title that was made of them; and to what the record says of itself (it may be stale)."""
    for rows in _rows(chat, ids):
        rows.update(**changes)
    is_archived = chat.compacted_through is not None and since <= chat.compacted_through.position
    revision = number_change(chat, **_title(chat, since), **(record_for_path(chat) if is_archived else {}))
    for rows in _rows(chat, ids):
        rows.update(revision=revision)


def _title(chat: Chat, since: int) -> dict[str, Any]:
    """A title that was made of the first exchange goes with it; one that a person chose stays."""
    if chat.titled_by_hand or since > 1:
        return {}
    said = chat.messages.on_path().filter(role=Message.Role.USER, deleted_at=None).first()
    return {"title": first_words(said.content) if said else ""}
