"""Chats as JSON, complete: every branch, the record with its segments, usage, pins. Written piece by piece."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction

from chatapp.archives.layout import CHAT, COMPACTION, FILE, FORMAT, KEPT, MESSAGE, VERSION
from chatapp.database import in_database
from chatapp.history.attaching import files_with_content
from chatapp.history.boundary import as_stored, segments_of
from chatapp.history.locking import lock_chat
from chatapp.models import Chat, Compaction, File, Message, Tag

Numbers = Mapping[int | None, int]


async def stream_json(chat_ids: Iterable[UUID], *, beside: AsyncIterator[str] | None = None) -> AsyncIterator[str]:
    """One file with these chats, one of them in memory at a time. One that is deleted meanwhile is left out.

    `beside` gives the pieces of an object, as JSON, that stands under “account” behind the chats; an import
    passes over it.
    """
    yield f'{{"format": {as_json(FORMAT)}, "version": {VERSION}, "chats": ['
    before = "\n"
    for chat_id in chat_ids:
        if pieces := await in_database(chat_json, chat_id):
            yield before + "".join(pieces)
            before = ",\n"
    yield "\n]"
    if beside:
        yield ', "account": '
        async for piece in beside:
            yield piece
    yield "}\n"


def chat_json(chat_id: UUID) -> list[str]:
    """One chat as it is at one moment, in pieces; nothing for one that is gone."""
    try:
        with transaction.atomic():
            chat = lock_chat(chat_id)
            rows = list(chat.messages.order_by("pk"))
            folds = list(chat.compactions.exclude(status=Compaction.Status.RUNNING).order_by("pk"))
            attached = files_with_content(rows)
    except Chat.DoesNotExist:
        return []
    numbers: Numbers = {row.pk: number for number, row in enumerate(rows, start=1)}
    files = {file.pk: file for row in rows for file in attached.get(row.pk, ())}
    held = {pk: [list(files).index(file.pk) + 1 for file in each] for pk, each in attached.items()}
    head = _columns(chat, (*CHAT, *KEPT)) | {
        "folder": chat.folder.name if chat.folder else "",
        "tags": [tag.name for tag in Tag.objects.filter(chats=chat).by_name()],
        "model": chat.model.name if chat.model else "",
        "boundary": numbers.get(chat.compacted_through_id),
    }
    if files:
        head["files"] = [file_with_content(number, file) for number, file in enumerate(files.values(), start=1)]
    return [
        as_json(head)[:-1] + ', "messages": [',
        *_listed(_message(row, numbers, held.get(row.pk)) for row in rows),
        '\n], "compactions": [',
        *_listed(_compactions(folds, numbers)),
        "\n]}",
    ]


def file_with_content(number: int, file: File) -> dict[str, Any]:
    return {"id": number, **_columns(file, FILE), "data": base64.b64encode(file.data).decode()}


def _message(row: Message, numbers: Numbers, files: list[int] | None) -> dict[str, Any]:
    told = _columns(row, MESSAGE)
    if row.deleted_at:  # its place is told, what it said is not
        told |= {"content": "", "reasoning": "", "tool_calls": []}
    if row.is_live:
        told |= {"status": Message.Status.INTERRUPTED, "failure": "interrupted"}
    return {
        "id": numbers[row.pk],
        "parent": numbers.get(row.parent_id),
        **told,
        "request_through": numbers.get(row.request_through_id),
        "left_out": [numbers[pk] for pk in row.left_out if pk in numbers],
        **({"files": files} if files else {}),
    }


def _compactions(rows: list[Compaction], numbers: Numbers) -> Iterator[dict[str, Any]]:
    own = {row.pk: number for number, row in enumerate(rows, start=1)}
    for row in rows:
        segments = [replace(each, compaction_id=own.get(each.compaction_id, 0)) for each in segments_of(row)]
        yield {
            "id": own[row.pk],
            "through": numbers.get(row.through_id),
            **_columns(row, COMPACTION),
            "segments": as_stored(tuple(segments)),
        }


def _columns(row: Chat | Message | Compaction | File, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _listed(values: Iterable[dict[str, Any]]) -> Iterator[str]:
    before = "\n"
    for value in values:
        yield before + as_json(value)
        before = ",\n"


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_as_text)


def _as_text(value: object) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(type(value))
