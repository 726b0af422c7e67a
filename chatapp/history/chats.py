"""What is done to a chat as a whole: its title, its model, its settings, its end."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Q

from chatapp.history.attaching import erase_unattached
from chatapp.history.compactions import refuse_while_busy
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.sizes import outdate_all
from chatapp.history.texts import storable
from chatapp.models import Attachment, Chat, LanguageModel, Message


@transaction.atomic
def rename(*, chat_id: UUID, title: str) -> None:
    number_change(lock_chat(chat_id), title=storable(title), titled_by_hand=True)


def wants_title(chat_id: UUID) -> bool:
    """Whether its first exchange is all there is, whole, and nobody has named it."""
    unnamed = Chat.objects.filter(pk=chat_id, titled_by_hand=False, compacted_through=None)
    more_or_less = Q(position__gt=1) | Q(deleted_at__isnull=False)
    return unnamed.exclude(Exists(Message.objects.filter(more_or_less, chat_id=chat_id, active=True))).exists()


@transaction.atomic
def suggest_title(*, chat_id: UUID, title: str) -> bool:
    """A title from the model; never over one that a person chose, nor of an exchange that was deleted meanwhile."""
    chat = lock_chat(chat_id)
    if chat.titled_by_hand or not title or chat.messages.deleted().filter(position__lte=1).exists():
        return False
    number_change(chat, title=storable(title))
    return True


@transaction.atomic
def choose_model(*, chat_id: UUID, model: LanguageModel) -> None:
    """Raises ChatBusy while a run or a compaction is live."""
    chat = lock_chat(chat_id)
    refuse_while_busy(chat)
    number_change(chat, model_id=model.pk)


@transaction.atomic
def change_settings(
    *, chat_id: UUID, system_prompt: str | None = None, policy: str = "", parameters: dict[str, Any] | None = None
) -> None:
    """What is given; a parameter that is None is taken away, all others stay. Acts from the next request on.

    Of a longer or shorter system prompt no recorded usage tells the size (rule A2).
    """
    chat = lock_chat(chat_id)
    changes: dict[str, Any] = {
        "system_prompt": chat.system_prompt if system_prompt is None else storable(system_prompt),
        "policy": policy or chat.policy,
        "parameters": merged_parameters(chat.parameters, parameters or {}),
    }
    changes = {name: value for name, value in changes.items() if value != getattr(chat, name)}
    if "system_prompt" in changes:
        outdate_all(chat)
    if changes:
        number_change(chat, **changes)


def merged_parameters(present: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`present` with `changes` made; None takes one away."""
    return {name: value for name, value in {**present, **changes}.items() if value is not None or name not in changes}


def mark_read(chat: Chat) -> bool:
    """A page shows it now; whether it was unread until then. No revision: pages of the chat show nothing of it."""
    if chat.unread_since is None:
        return False
    return bool(Chat.objects.filter(pk=chat.pk, unread_since=chat.unread_since).update(unread_since=None))


@transaction.atomic
def delete_chat(*, chat_id: UUID) -> None:
    """The chat with all its messages and files; asked back by the page, not here."""
    erase([lock_chat(chat_id).pk])


@transaction.atomic
def delete_chats(*, owner_id: int, chat_ids: list[UUID]) -> None:
    """The person's own among them."""
    own = Chat.objects.select_for_update().filter(owner_id=owner_id, pk__in=chat_ids).order_by("pk")
    erase(list(own.values_list("pk", flat=True)))


def erase(chat_ids: list[UUID]) -> None:
    """Chats that are locked, and the files that no other chat holds. Inside a transaction."""
    file_ids: set[UUID] = set()
    for holder in ("message", "queued", "draft"):  # asked in one question, all messages of everybody were read
        held = Attachment.objects.filter(**{f"{holder}__chat__in": chat_ids})
        file_ids.update(held.values_list("file_id", flat=True))
    Chat.objects.filter(pk__in=chat_ids).delete()
    erase_unattached(file_ids)
