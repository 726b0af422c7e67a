"""A text whose session had ended as it was sent: in the session of the sign-in page, and from there into a draft."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest

from chatapp.fields import LONGEST_TEXT, uuid_in
from chatapp.files.limits import MOST_FILES
from chatapp.files.owning import own_files
from chatapp.history.drafts import save_draft
from chatapp.history.texts import as_typed
from chatapp.models import Chat

UNSENT = "unsent"


def put_by(request: HttpRequest, *, person: str, chat_id: UUID | None, text: str, files: Sequence[str]) -> None:
    """`person`: the id of whoever wrote it; `files`: ids of theirs, as the form names them."""
    request.session[UNSENT] = {
        "person": person,
        "chat": str(chat_id or ""),
        "text": text[:LONGEST_TEXT],
        "files": [name[:36] for name in files[:MOST_FILES]],
    }


def take_back(request: HttpRequest, person: User) -> None:
    """As they have signed in; what somebody else had written there is forgotten, as is what a lost chat was told."""
    unsent = request.session.pop(UNSENT, None)
    if not unsent or unsent["person"] != str(person.pk):
        return
    chat_id = uuid_in(unsent["chat"])
    if chat_id and not Chat.objects.for_user(person).filter(pk=chat_id).exists():
        return
    save_draft(
        owner_id=person.pk,
        chat_id=chat_id,
        text=as_typed(unsent["text"]),
        file_ids=[file.pk for file in own_files(person, unsent["files"])],
    )
