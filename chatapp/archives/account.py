"""What a person has beside their chats, for the file of everything: no password, no key, no link, no secret."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db.models import Manager

from chatapp.archives.exporting import as_json, file_with_content
from chatapp.database import in_database
from chatapp.models import (
    AuditEntry,
    DailyUse,
    Draft,
    File,
    Folder,
    Import,
    Preset,
    QueuedMessage,
    Share,
    SignIn,
    Tag,
)

PERSON = ("username", "email", "is_staff", "date_joined", "last_login")
LISTS: tuple[tuple[str, Manager[Any], str, tuple[str, ...]], ...] = (
    ("folders", Folder.objects, "owner", ("name", "created_at")),
    ("tags", Tag.objects, "owner", ("name",)),
    ("presets", Preset.objects, "owner", ("name", "text", "created_at")),
    ("drafts", Draft.objects, "owner", ("text", "saved_at")),
    ("waiting", QueuedMessage.objects, "chat__owner", ("text",)),
    ("shares", Share.objects, "chat__owner", ("title", "audience", "message_count", "taken_at", "created_at")),
    ("imports", Import.objects, "owner", ("name", "size", "imported", "known", "left_out", "created_at")),
    ("signed_in", SignIn.objects, "user", ("address", "device", "created_at", "last_seen_at")),
    ("second_factors", Authenticator.objects, "user", ("type", "created_at", "last_used_at")),
    ("issuer", SocialAccount.objects, "user", ("uid", "date_joined", "extra_data")),
    ("daily_use", DailyUse.objects, "owner", ("day", "tokens", "cost", "upload_bytes")),
)
ACTS = ("created_at", "action", "target", "detail", "address", "device")


async def account_pieces(user_id: int) -> AsyncIterator[str]:
    """One object, as JSON. Last the files that no sent message holds, as the others come with their chats: one at a
    time is read, and in memory."""
    facts, file_ids = await in_database(_facts_and_files, user_id)
    yield facts.removesuffix("}") + ', "files": ['
    before = ""
    for number, file_id in enumerate(file_ids, start=1):
        if piece := await in_database(_file_json, number, file_id):
            yield before + piece
            before = ",\n"
    yield "]}"


def _facts_and_files(user_id: int) -> tuple[str, list[UUID]]:
    user = User.objects.get(pk=user_id)
    told: dict[str, Any] = {name: getattr(user, name) for name in PERSON}
    for name, rows, owner, columns in LISTS:
        told[name] = list(rows.filter(**{owner: user}).order_by("pk").values(*columns))
    told["log"] = list(AuditEntry.objects.filter(actor_id=user.pk).order_by("pk").values(*ACTS))
    loose = File.objects.for_user(user).exclude(attachments__message__isnull=False).distinct().order_by("created_at")
    return as_json(told), [file.pk for file in loose.only("pk", "created_at")]


def _file_json(number: int, file_id: UUID) -> str:
    """Nothing of one that is gone meanwhile."""
    file = File.objects.filter(pk=file_id).first()
    return as_json(file_with_content(number, file)) if file else ""
