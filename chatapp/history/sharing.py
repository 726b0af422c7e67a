"""Frozen copies of a chat's path for others to read: taken, taken anew, taken back, and gone on with."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext

from chatapp.history.attaching import files_of
from chatapp.history.copying import Original, store_copy
from chatapp.history.errors import NotPossible
from chatapp.history.locking import lock_chat
from chatapp.models import Chat, File, Message, Share, SiteSettings

MOST_A_CHAT = 20
_FIELDS = ("role", "status", "content", "reasoning", "finish_reason", "model_name")


@transaction.atomic
def share(*, chat_id: UUID, audience: str, shows_name: bool, shows_reasoning: bool) -> Share:
    """Raises NotPossible: nothing_said, too_many_shares, not_allowed."""
    chat = lock_chat(chat_id)
    if chat.shares.count() >= MOST_A_CHAT:
        raise NotPossible("too_many_shares")
    _check_allowed(audience)
    copy = Share(chat=chat, audience=audience, shows_name=shows_name, shows_reasoning=shows_reasoning)
    _take(copy, chat)
    copy.save()
    return copy


@transaction.atomic
def update_share(*, chat_id: UUID, share_id: int) -> None:
    """As the chat is now, under the same link. Raises NotPossible."""
    chat = lock_chat(chat_id)
    copy = chat.shares.filter(pk=share_id).first()
    if copy is None:
        raise NotPossible("no_such_share")
    _take(copy, chat)
    copy.save(update_fields=["title", "messages", "message_count", "taken_at"])


def change_audience(*, chat_id: UUID, share_id: int, audience: str) -> None:
    """The link stays the same, and so does the copy. Raises NotPossible: not_allowed."""
    _check_allowed(audience)
    Share.objects.filter(chat_id=chat_id, pk=share_id).update(audience=audience)


def _check_allowed(audience: str) -> None:
    if audience == Share.Audience.ANYONE and not SiteSettings.get_solo().shares_with_anyone:
        raise NotPossible("not_allowed")


def revoke(*, chat_id: UUID, share_id: int) -> None:
    """Nothing of it is kept; the link is then like one that never was."""
    Share.objects.filter(chat_id=chat_id, pk=share_id).delete()


@transaction.atomic
def continue_in_own(*, share: Share, owner_id: int) -> Chat:
    """A chat of the reader's own with the same messages; nothing leads back."""
    chat = Chat(owner_id=owner_id, title=share.title, titled_by_hand=bool(share.title))
    messages = {
        number: Message(
            parent_id=number - 1 or None,
            position=number - 1,
            created_at=time_of(said),
            **{name: said[name] for name in _FIELDS},
        )
        for number, said in enumerate(share.messages, start=1)
    }
    return store_copy(Original(chat, messages, {}))


def time_of(said: dict[str, Any]) -> datetime:
    return parse_datetime(said["created_at"]) or timezone.now()


def _take(copy: Share, chat: Chat) -> None:
    """The path without what is deleted or still being written, which would change under the reader's eyes."""
    shown = chat.messages.on_path().filter(deleted_at=None).exclude(status__in=Message.LIVE_STATUSES)
    rows = list(shown.exclude(role=Message.Role.TOOL))
    files = files_of(rows)
    said = [_frozen(row, copy, files.get(row.pk, [])) for row in rows]
    if not said:
        raise NotPossible("nothing_said")
    copy.title, copy.messages, copy.message_count, copy.taken_at = chat.title, said, len(said), timezone.now()


def _frozen(row: Message, copy: Share, files: list[File]) -> dict[str, Any]:
    """Files are told by name alone: they stay where only their owner reaches them."""
    told = {name: getattr(row, name) for name in _FIELDS} | {"created_at": row.created_at.isoformat()}
    names = [gettext("Attached: {name}").format(name=file.name) for file in files]
    told["content"] = "\n\n".join(part for part in (row.content, "\n".join(names)) if part)
    return told if copy.shows_reasoning else told | {"reasoning": ""}
