"""One chat as Markdown, to be read: the whole active path, folded messages too; in the language in force."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext, ngettext

from chatapp.archives.naming import entry_name
from chatapp.database import in_database
from chatapp.history.attaching import files_with_content
from chatapp.history.locking import lock_chat
from chatapp.models import Chat, File, Message


def chat_markdown(chat_id: UUID) -> list[str]:
    """In pieces. The divider is a rule with the summary quoted under it; nothing for a chat that is gone."""
    return _titled(chat_id)[1]


async def stream_markdown_zip(chat_ids: Iterable[UUID], *, language: str | None = None) -> AsyncIterator[bytes]:
    """One ZIP with a file a chat, one of them in memory at a time. One that is deleted meanwhile is left out."""
    in_language = translation.override(language)
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, chat_id in enumerate(chat_ids, start=1):
            title, pieces = await in_database(in_language(_titled), chat_id)
            if pieces:
                name = entry_name(number, title, "md")
                await asyncio.to_thread(archive.writestr, name, "".join(pieces))
                yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """What a ZIP is written to and taken from at once; it can't seek, so sizes follow their entries."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken, self.pieces = b"".join(self.pieces), []
        return taken


def _titled(chat_id: UUID) -> tuple[str, list[str]]:
    try:
        with transaction.atomic():
            chat = lock_chat(chat_id)
            rows = list(chat.messages.on_path())
            files = files_with_content(rows)
    except Chat.DoesNotExist:
        return "", []
    title = " ".join(chat.title.split()) or gettext("New chat")
    return title, [f"# {title}\n", *_parts(chat, rows, files)]


def _parts(chat: Chat, rows: list[Message], files: dict[int, list[File]]) -> Iterator[str]:
    boundary = chat.compacted_through
    for row in rows:
        if not row.deleted_at and not row.is_live:
            yield f"\n## {_who(row)}\n\n{row.content.strip()}\n"
            yield from map(_attached, files.get(row.pk, ()))
        if boundary and row.pk == boundary.pk:
            yield _divider(chat, boundary.position + 1)


def _attached(file: File) -> str:
    """A text in a fence that nothing in it can close; an image by its name."""
    name = "\n*" + gettext("Attached: {name}").format(name=file.name) + "*\n"
    if file.is_image:
        return name
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", file.text)), default=0))
    return f"{name}\n{fence}\n{file.text.rstrip()}\n{fence}\n"


def _who(row: Message) -> str:
    if row.role == Message.Role.USER:
        return gettext("You")
    return row.model_name or gettext("Reply")


def _divider(chat: Chat, count: int) -> str:
    if not chat.summary:
        words = ngettext(
            "No longer sent to the model: the %(number)s message above.",
            "No longer sent to the model: the %(number)s messages above.",
            count,
        )
        return f"\n---\n\n*{words % {'number': count}}*\n"
    quoted = "\n".join(f"> {line}".rstrip() for line in chat.summary.splitlines())
    words = ngettext(
        "Folded: the %(number)s message above. The model is given this summary in its place:",
        "Folded: the %(number)s messages above. The model is given this summary in their place:",
        count,
    )
    return f"\n---\n\n*{words % {'number': count}}*\n\n{quoted}\n"
