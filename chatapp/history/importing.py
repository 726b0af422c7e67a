"""A chat of a file becomes the importer's (rule J3)."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.db import transaction

from chatapp.history.copying import Original, store_copy
from chatapp.models import Chat


@transaction.atomic
def import_chat(original: Original, *, key: str) -> Chat | None:
    """The stored chat; None where the owner has it already. `key` tells the same chat of the same file."""
    owner_id = original.chat.owner_id
    get_user_model().objects.select_for_update().get(pk=owner_id)  # the same file twice at once is one import
    if Chat.objects.filter(owner_id=owner_id, import_key=key).exists():
        return None
    original.chat.import_key = key
    return store_copy(original)
