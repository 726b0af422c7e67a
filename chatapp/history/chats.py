"""What is done to a chat as a whole: its title, its model, its end."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from chatapp.history.compactions import refuse_while_busy
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.texts import storable
from chatapp.models import Chat, LanguageModel, Message


@transaction.atomic
def rename(*, chat_id: UUID, title: str) -> None:
    number_change(lock_chat(chat_id), title=storable(title), titled_by_hand=True)


def wants_title(chat_id: UUID) -> bool:
    """Whether its first exchange is all there is, whole, and nobody has named it."""
    unnamed = Chat.objects.filter(pk=chat_id, titled_by_hand=False, compacted_through=None)
    more_or_less = Q(position__gt=1) | Q(deleted_at__isnull=False)
    return unnamed.exists() and not Message.objects.filter(more_or_less, chat_id=chat_id, active=True).exists()


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
def delete_chat(*, chat_id: UUID) -> None:
    """The chat with all its messages; asked back by the page, not here."""
    lock_chat(chat_id).delete()
