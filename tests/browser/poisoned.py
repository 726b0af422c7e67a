"""Rows that hold a hostile text in every column that a page may show: a person's, and those of the admin."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from chatapp.models import (
    Attachment,
    AuditEntry,
    Chat,
    Compaction,
    Endpoint,
    File,
    Folder,
    Import,
    ImportedFile,
    LanguageModel,
    Message,
    Preset,
    QueuedMessage,
    Share,
    SignIn,
    Tag,
    UsageRecord,
)
from tests.factories import fold, make_chat
from tests.hostile import PAYLOADS

ALL = "\n\n".join(PAYLOADS)
LIVE = 40  # as many as a page shows


def cut(model: type[Model], column: str, text: str) -> str:
    """As much of it as fits, without what PostgreSQL doesn't store."""
    longest = model._meta.get_field(column).max_length
    return text.replace("\x00", "")[:longest]


def rows_with(model: type[Model], *columns: str, **facts: Any) -> list[Any]:
    """A row for each text, which is in all of these columns; where a name is taken already the row is left out."""
    made = [model(**{name: cut(model, name, text) for name in columns}, **facts) for text in PAYLOADS]
    return model._default_manager.bulk_create(made, ignore_conflicts=True)


@transaction.atomic
def poison_person(person: User) -> dict[str, Any]:
    """All that a person has; the ids of what has an address, by the names that addresses have for them."""
    rows_with(Chat, "title", owner=person)
    rows_with(Chat, "title", owner=person, archived_at=timezone.now())
    rows_with(Folder, "name", owner=person)
    rows_with(Preset, "name", "text", owner=person)
    rows_with(SignIn, "device", "session_key", user=person)
    rows_with(Tag, "name", owner=person)
    text = ALL.replace("\x00", "")
    chat = make_chat(person, revision=1, system_prompt=text, model=LanguageModel.objects.get(name="scripted"))
    words = [word.replace("\x00", "") for word in PAYLOADS for _ in (1, 2)]
    messages = Message.objects.bulk_create(
        Message(
            chat=chat,
            position=position,
            role="assistant" if position % 2 else "user",
            content=word,
            reasoning=word if position % 2 else "",
            model_name=word[:200] if position % 2 else "",
        )
        for position, word in enumerate(words)
    )
    for former, later in pairwise(messages):
        later.parent = former
    Message.objects.bulk_update(messages, ["parent"])
    Message.objects.filter(chat=chat, position=len(words) - 1).update(
        status="failed", failure="refused", failure_detail=text[:500]
    )
    compaction = fold(chat, through=len(words) - LIVE - 1, summary=text)
    Compaction.objects.filter(pk=compaction.pk).update(
        instructions=text, model_summary=text, model_name=words[0], values_left_out=words[::2]
    )
    Compaction.objects.create(
        chat=chat, trigger="button", status="failed", reason="failed", reason_detail=text[:500], ended_at=timezone.now()
    )
    Chat.objects.filter(pk=chat.pk).update(title=words[0])
    chat.tags.set(Tag.objects.filter(owner=person)[:LIVE])
    QueuedMessage.objects.bulk_create(QueuedMessage(chat=chat, text=word) for word in words[:60:2])
    files = rows_with(File, "name", "text", owner=person, kind="text")
    last = Message.objects.filter(chat=chat, role="user").latest("position")
    Attachment.objects.bulk_create(Attachment(message=last, file=file) for file in files[:LIVE])
    Message.objects.filter(pk=last.pk).update(file_count=LIVE)
    imported = Import.objects.create(owner=person, name=words[0], size=1, status="done", problem="unreadable")
    ImportedFile.objects.bulk_create(
        ImportedFile(
            of=imported, number=number, name=word[:200], kind=word[:20], problems=[{"title": word, "code": word}]
        )
        for number, word in enumerate(words[::2])
    )
    frozen = [
        {"role": role, "status": "complete", "content": word, "reasoning": word, "finish_reason": "stop",
         "model_name": word, "created_at": timezone.now().isoformat()}
        for word in words[::2]
        for role in ("user", "assistant")
    ]  # fmt: skip
    share = Share.objects.create(
        chat=chat, title=words[0], messages=frozen, message_count=len(frozen), shows_name=True, shows_reasoning=True
    )
    return {
        "chat_id": chat.pk,
        "message_id": last.pk,
        "compaction_id": compaction.pk,
        "folder_id": Folder.objects.filter(owner=person).latest("pk").pk,
        "file_id": File.objects.filter(owner=person)[0].pk,
        "preset_id": Preset.objects.filter(owner=person).latest("pk").pk,
        "import_id": imported.pk,
        "token": share.token,
    }


ADMINISTERED: tuple[type[Model], ...] = (LanguageModel, Endpoint, User, AuditEntry, UsageRecord, Preset)


@transaction.atomic
def poison_admin() -> tuple[dict[type[Model], int], dict[str, int]]:
    """All that the admin's lists and forms show; the newest rows of before, for `clean_admin`, and those of now."""
    before = {model: _newest(model) for model in ADMINISTERED}
    address = "http://127.0.0.1:9/v1"
    rows_with(Endpoint, "name", "check_outcome", base_url=address, checked_at=timezone.now())
    rows_with(LanguageModel, "name", endpoint=Endpoint.objects.latest("pk"))
    rows_with(User, "username", "first_name", "email")
    rows_with(AuditEntry, "actor", "target", "detail", "device", action="changed")
    rows_with(UsageRecord, "model_name", kind="reply")
    rows_with(Preset, "name", "text", owner=None)
    return before, {model._meta.model_name or "": _newest(model) for model in (*ADMINISTERED, Compaction)}


@transaction.atomic
def clean_admin(before: dict[type[Model], int]) -> None:
    """Other tests share the server."""
    for model, newest in before.items():
        model._default_manager.filter(pk__gt=newest).delete()


def _newest(model: type[Model]) -> int:
    newest: int = model._default_manager.order_by("-pk").values_list("pk", flat=True).first() or 0
    return newest
