"""alice, who has one of everything; charlie, a stranger, who has, too; and ids that nobody's thing has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.utils import timezone

from chatapp.history import sharing
from chatapp.models import (
    Compaction,
    Draft,
    File,
    Folder,
    Import,
    Message,
    Preset,
    QueuedMessage,
    Run,
    Share,
    SignIn,
    Tag,
    UsageRecord,
)
from tests.factories import fold, make_chat, make_model, make_user

NUMBERED = (Compaction, Draft, Folder, Message, Preset, QueuedMessage, Run, Share, SignIn, Tag)
# Of one length with those of what exists, and far from the small numbers that pages are full of anyway.
FIRST_NUMBER, NUMBERS_APART = 7_000_000, 10_000
_of_nobody = count(9_000_001)


@dataclass(frozen=True, slots=True)
class Belongings:
    """A person and the ids of what is theirs, by the names that addresses have for them; `secret` is in every text."""

    person: User
    ids: dict[str, Any]
    secret: str

    def is_told_by(self, line: str) -> bool:
        """Whether this line of a difference is of a row of theirs, or of one that has something of theirs in it now."""
        uuids = [each for each in self.ids.values() if isinstance(each, UUID)]
        numbers = [str(each) for each in self.ids.values() if isinstance(each, int)]
        gone = numbers if line.startswith("-") else []
        return any(mark in line for mark in [self.secret, *map(str, uuids), *(each.hex for each in uuids), *gone])


def furnish(name: str, **facts: Any) -> Belongings:
    """One of everything that has an id in an address, and what hangs on it; the chat is unread."""
    person, secret = make_user(name, **facts), f"{name}s-secret"
    chat = make_chat(person, secret, secret, secret, secret, system_prompt=secret, revision=7)
    chat.title, chat.unread_since = secret, timezone.now()
    chat.save()
    chat.messages.filter(role="assistant").update(reasoning=secret)
    last = chat.messages.get(position=3)
    compaction = fold(chat, through=1, summary=secret)
    chat.tags.add(Tag.objects.create(owner=person, name=secret))
    Draft.objects.create(owner=person, text=secret)
    Draft.objects.create(owner=person, chat=chat, text=secret)
    Run.objects.create(chat=chat, reply=last, status="stopped", owner="gone", lease_until=timezone.now())
    share = sharing.share(chat_id=chat.pk, audience=Share.Audience.PRIVATE, shows_name=True, shows_reasoning=True)
    Share.objects.filter(pk=share.pk).update(token=uuid4().hex)
    ids = {
        "chat_id": chat.pk,
        "message_id": chat.messages.get(position=2).pk,
        "compaction_id": compaction.pk,
        "queued_id": QueuedMessage.objects.create(chat=chat, text=secret).pk,
        "folder_id": Folder.objects.create(owner=person, name=secret).pk,
        "file_id": File.objects.create(owner=person, name=secret, kind="text", text=secret).pk,
        "preset_id": Preset.objects.create(owner=person, name=secret, text=secret).pk,
        "import_id": Import.objects.create(owner=person, name=secret, size=10).pk,
        "share_id": share.pk,
        "sign_in_id": SignIn.objects.create(user=person, session_key=f"{secret}-elsewhere").pk,
        "pk": 7_900_000,  # of a passkey, which only a browser makes
        "provider_id": "issuer",
        "uidb36": "1",
        "key": "x-1",
        "token": Share.objects.get(pk=share.pk).token,
    }
    return Belongings(person, ids, secret)


def ids_of_nobody() -> dict[str, Any]:
    """Of the same looks and lengths."""
    numbers = ["message_id", "compaction_id", "queued_id", "folder_id", "preset_id", "share_id", "sign_in_id", "pk"]
    made_up = {name: uuid4() for name in ("chat_id", "file_id", "import_id")}
    made_up |= {"provider_id": "issuer", "token": uuid4().hex, "uidb36": "2", "key": "x-1"}
    return made_up | {name: next(_of_nobody) for name in numbers}


def ids_in_admin(template: str, rows: dict[str, Any], *, known: bool = True) -> dict[str, Any]:
    """What an address of the admin has ids for: of the model's row, or of none."""
    model = template.split("/")[2:3]
    number = rows.get(*model, 1) if model and known else 9_999_999
    rest = {"content_type_id": rows["content_type"], "app_label": "chatapp", "url": "nothing/"}
    return dict.fromkeys(("object_id", "pk", "id"), number) | rest


def admin_rows(person: User) -> dict[str, Any]:
    """An existing row of each model that the admin shows, by the model's name in its addresses."""
    chat = make_chat(person)
    model = make_model()
    return {
        "sitesettings": 1,
        "endpoint": model.endpoint.pk,
        "languagemodel": model.pk,
        "compaction": Compaction.objects.create(chat=chat, trigger="button", status="failed").pk,
        "usagerecord": UsageRecord.objects.create(chat=chat, kind="reply", model_name="small").pk,
        "preset": Preset.objects.create(owner=None, name="For everybody", text="Hello").pk,
        "user": person.pk,
        "content_type": ContentType.objects.get_for_model(User).pk,
    }


def number_apart() -> None:
    """From here on a new row's number has seven digits; no row of another model has it, nor does a page say it."""
    with connection.cursor() as cursor:
        for first, model in zip(count(FIRST_NUMBER, NUMBERS_APART), NUMBERED, strict=False):
            table = model._meta.db_table
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, first])
            else:
                cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, first])
