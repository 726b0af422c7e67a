"""The first statement of every change to a chat: its row is locked and the change gets its number."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from chatapp.history.allowing import limited
from chatapp.models import Chat

# What a list of chats shows of one.
LISTED = {"title", "pinned_at", "archived_at", "folder_id", "unread_since", "expires_at"}


def lock_chat(chat_id: UUID) -> Chat:
    """The chat's row, locked until the transaction ends (on SQLite the IMMEDIATE transaction is the lock)."""
    rows = Chat.objects.select_for_update(of=("self",)).with_boundary()
    return rows.annotate(**limited()).get(pk=chat_id)


def number_change(
    chat: Chat, *, touched: bool = False, path_changed: bool = False, listed: bool = False, **changes: Any
) -> int:
    """Raise the chat's revision by one, store `changes` with it, and return the new revision."""
    chat.revision += 1
    changes["revision"] = chat.revision
    if path_changed:
        changes["path_revision"] = chat.revision
    if "compacted_through_id" in changes:
        changes["fold_revision"] = chat.revision
    if touched or listed or LISTED & changes.keys():
        changes["listed_revision"] = chat.revision
    if touched:
        changes["touched_at"] = timezone.now()
    for name, value in changes.items():
        setattr(chat, name, value)
    Chat.objects.filter(pk=chat.pk).update(**changes)
    return chat.revision
