"""A chat of a file becomes the importer's, once (rule J3)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import DataError, IntegrityError, transaction

from chatapp.history import ordering
from chatapp.history.copying import Original, store_copy
from chatapp.models import Chat, Import


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chat of a file: to be stored, or left out for a reason (a code).

    `key` is the same for the same chat, `state` for the same messages in it; `dropped`: fields without a place here.
    """

    title: str
    kind: str = ""
    key: str = ""
    state: str = ""
    original: Original | None = None
    problem: str = ""
    dropped: int = 0


@transaction.atomic
def import_chat(original: Original, *, key: str, state: str = "", import_id: UUID | None = None) -> Chat | None:
    """The stored chat; None where the owner has it already. `key` tells the same chat of the same file."""
    owner_id = original.chat.owner_id
    get_user_model().objects.select_for_update().get(pk=owner_id)  # the same file twice at once is one import
    if Chat.objects.filter(owner_id=owner_id, import_key=key).exists():
        return None
    original.chat.import_key, original.chat.import_state = key, state
    original.chat.imported_with_id = import_id
    if original.folder:
        original.chat.folder = ordering.folder_of(owner_id=owner_id, name=original.folder)
    chat = store_copy(original)
    for name in original.tags:
        ordering.tag_chats(owner_id=owner_id, chat_ids=[chat.pk], name=name)
    return chat


def store(candidate: Candidate, row: Import) -> tuple[str, str]:
    """Which count grows, and what is to be said."""
    if candidate.original is None:
        return "left_out", candidate.problem
    try:
        with transaction.atomic():
            stored = import_chat(candidate.original, key=candidate.key, state=candidate.state, import_id=row.pk)
    except (DataError, IntegrityError):  # this database can't hold something in it
        return "left_out", "malformed"
    if stored:
        return "imported", ""
    known = Chat.objects.filter(owner_id=row.owner_id, import_key=candidate.key).values_list("import_state", flat=True)
    return "known", "" if set(known) <= {"", candidate.state} else "grown"
