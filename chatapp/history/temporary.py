"""Temporary chats: begun to be deleted after a while, unless their owner keeps them."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chatapp.history.chats import erase
from chatapp.history.locking import lock_chat, number_change
from chatapp.models import Chat, Run, SiteSettings


def end_of_new(site: SiteSettings) -> datetime:
    """When a temporary chat that begins now is deleted."""
    return timezone.now() + timedelta(hours=site.temporary_hours)


@transaction.atomic
def keep_chat(*, chat_id: UUID) -> None:
    """An ordinary chat from now on."""
    number_change(lock_chat(chat_id), expires_at=None)


def delete_expired() -> list[tuple[UUID, int]]:
    """Every temporary chat whose time is over, each in a transaction of its own; their ids and owners.

    One in which a reply is being written waits for its end. Several processes may do this at once: whoever comes
    second finds it gone, and whoever comes after "Keep this chat" finds it kept.
    """
    due = Chat.objects.filter(expires_at__lte=timezone.now())
    return [(chat_id, owner_id) for chat_id, owner_id in due.values_list("pk", "owner_id") if _delete_if_due(chat_id)]


@transaction.atomic
def _delete_if_due(chat_id: UUID) -> bool:
    try:
        chat = lock_chat(chat_id)
    except Chat.DoesNotExist:
        return False
    is_due = chat.expires_at is not None and chat.expires_at <= timezone.now()
    if not is_due or Run.objects.live().filter(chat=chat).exists():
        return False
    erase([chat.pk])
    return True
