"""Another wording of a user message, with a new reply or under the later turns; and the first reply to one without."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from chatapp.history.attaching import file_ids_of
from chatapp.history.boundary import move_boundary, record_for_path
from chatapp.history.compactions import refuse_while_busy
from chatapp.history.errors import NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.paths import branch_at
from chatapp.history.sizes import outdate_usage
from chatapp.history.texts import storable
from chatapp.history.turns import Turn, already_sent, open_reply, refuse_while_writing, store_said
from chatapp.models import Chat, Message


@transaction.atomic
def begin_answer(*, chat_id: UUID, message_id: int, by: str) -> Turn:
    """The first reply to the user message that ends the path, as after a fork there.

    Raises ChatBusy while a run is live, NotPossible for any other message.
    """
    chat = lock_chat(chat_id)
    refuse_while_writing(chat)
    message = _editable(chat, message_id)
    if chat.messages.filter(active=True, position__gt=message.position).exists():
        raise NotPossible("no_such_message")
    number_change(chat, touched=True)
    return Turn(chat, message, open_reply(chat, message, by=by))


@transaction.atomic
def begin_edited(
    *,
    chat_id: UUID,
    message_id: int,
    text: str,
    idempotency_key: str,
    by: str,
    keeps_files: Sequence[UUID] | None = None,
) -> Turn:
    """Another wording of a user message, with a reply and run of its own; the old turn is a version beside it.

    An edit at or before the boundary makes a path without that summary (rule J1). The same key twice is one edit.
    `keeps_files`: those of its files that go with the new wording; None for all.

    Raises ChatBusy while a run is live, NotPossible for what isn't a user message on the active path.
    """
    chat = lock_chat(chat_id)
    if sent := already_sent(chat, idempotency_key):
        return Turn(chat, sent, None)
    refuse_while_writing(chat)
    former = _editable(chat, message_id)
    branch_at(chat, former.position)
    file_ids = _kept(former, keeps_files)
    message = store_said(chat, text, parent=former.parent, idempotency_key=idempotency_key, file_ids=file_ids)
    return Turn(chat, message, open_reply(chat, message, by=by))


@transaction.atomic
def save_edited(
    *, chat_id: UUID, message_id: int, text: str, idempotency_key: str, keeps_files: Sequence[UUID] | None = None
) -> Message:
    """Another wording of a user message under which the later turns stay; the former text is a version that ends there.

    The same text with the same files is no edit, the same key twice is one.

    Raises ChatBusy while a run or a compaction is live, NotPossible for what isn't a user message on the active path.
    """
    chat = lock_chat(chat_id)
    if sent := already_sent(chat, idempotency_key):
        return sent
    refuse_while_busy(chat)
    former = _editable(chat, message_id)
    file_ids = _kept(former, keeps_files)
    if former.content == storable(text) and len(file_ids) == former.file_count:
        return former
    number_change(chat, touched=True)
    Message.objects.filter(pk=former.pk).update(active=False, pinned=False)
    message = store_said(
        chat,
        text,
        parent=former.parent,
        idempotency_key=idempotency_key,
        file_ids=file_ids,
        shown_revision=former.shown_revision,
        pinned=former.pinned,
    )
    former.children.update(parent=message)
    move_boundary(former, message)
    if chat.compacted_through_id == former.pk:
        number_change(chat, **record_for_path(chat))
    outdate_usage(chat, since=former.position, through=former.position, was_sent=former.pinned)
    return message


def _kept(former: Message, wanted: Sequence[UUID] | None) -> list[UUID]:
    return [pk for pk in file_ids_of(former) if wanted is None or pk in wanted] if former.file_count else []


def _editable(chat: Chat, message_id: int) -> Message:
    """A user message on the active path. Raises NotPossible, "changed_elsewhere" where another tab was faster."""
    shown = chat.messages.filter(active=True, role=Message.Role.USER, deleted_at=None).select_related("parent")
    message = shown.filter(pk=message_id).first()
    if message is None:
        is_known = chat.messages.filter(pk=message_id, role=Message.Role.USER).exists()
        raise NotPossible("changed_elsewhere" if is_known else "no_such_message")
    return message
