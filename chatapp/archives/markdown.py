"""One chat as Markdown, to be read: the whole active path, folded messages too."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.db import transaction

from chatapp.history.locking import lock_chat
from chatapp.models import Chat, Message


def chat_markdown(chat_id: UUID) -> list[str]:
    """In pieces. The divider is a rule with the summary quoted under it; nothing for a chat that is gone."""
    try:
        with transaction.atomic():
            chat = lock_chat(chat_id)
            rows = list(chat.messages.on_path())
    except Chat.DoesNotExist:
        return []
    title = " ".join(chat.title.split()) or "New chat"
    return [f"# {title}\n", *_parts(chat, rows)]


def _parts(chat: Chat, rows: list[Message]) -> Iterator[str]:
    boundary = chat.compacted_through
    for row in rows:
        if not row.deleted_at and not row.is_live:
            yield f"\n## {_who(row)}\n\n{row.content.strip()}\n"
        if boundary and row.pk == boundary.pk:
            yield _divider(chat, boundary.position + 1)


def _who(row: Message) -> str:
    if row.role == Message.Role.USER:
        return "You"
    return row.model_name or "Reply"


def _divider(chat: Chat, count: int) -> str:
    if not chat.summary:
        return f"\n---\n\n*No longer sent to the model: the {count} messages above.*\n"
    quoted = "\n".join(f"> {line}".rstrip() for line in chat.summary.splitlines())
    return (
        f"\n---\n\n*Folded: the {count} messages above. The model is given this summary in their place:*\n\n{quoted}\n"
    )
