"""Messages as a page shows them: rendered, with what is in memory where this process is writing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from django.db.models import Count, Min
from django.utils.safestring import SafeString

from chatapp import runs
from chatapp.history import deleting, paths
from chatapp.history.attaching import files_of
from chatapp.history.continuing import ENDED_EARLY, can_continue
from chatapp.models import Chat, File, Message
from chatapp.presenting.values import MessageView, Tombstone
from chatapp.presenting.words import in_words
from chatapp.rendering import Frame, render, render_plain, split

# Markdown of a reply costs milliseconds and never changes; a page shows the same forty again and again.
_render_once = lru_cache(maxsize=1024)(render)


def render_kept(text: str) -> SafeString:
    """Canonical HTML in the language of whoever reads it."""
    return in_words(_render_once(text))


def _split(text: str) -> Frame:
    frame = split(text)
    return Frame(frame.done_from, tuple(map(in_words, frame.blocks)), in_words(frame.tail))


def view_messages(chat: Chat, rows: list[Message], *, last_id: int | None = None) -> list[MessageView]:
    """`last_id`: the message that ends the chat, the only one that can be written again with a click."""
    versions = paths.versions_of(chat, rows) if rows else {}
    tombstones = _tombstones(chat, rows)
    files = files_of(rows)
    return [
        view_message(
            row,
            versions.get(row.position, []),
            is_last=row.pk == last_id,
            tombstone=tombstones.get(row.pk),
            files=files.get(row.pk, []),
        )
        for row in rows
    ]


def _tombstones(chat: Chat, rows: list[Message]) -> dict[int, Tombstone]:
    """One line for all that was deleted together: on the first of them on the path."""
    times = {row.deleted_at for row in rows if row.deleted_at}
    if not times:
        return {}
    together = chat.messages.on_path().filter(deleted_at__in=times).values("deleted_at").order_by()
    groups = {each["deleted_at"]: each for each in together.annotate(first=Min("position"), count=Count("pk"))}
    return {
        row.pk: Tombstone(
            count=groups[row.deleted_at]["count"] if row.position == groups[row.deleted_at]["first"] else 0,
            can_restore=deleting.is_restorable(row),
        )
        for row in rows
        if row.deleted_at
    }


def view_message(
    row: Message,
    versions: Sequence[int] = (),
    *,
    is_last: bool = False,
    tombstone: Tombstone | None = None,
    files: Sequence[File] = (),
) -> MessageView:
    content, reasoning = _text_so_far(row)
    is_reply = row.role == Message.Role.ASSISTANT
    at = versions.index(row.pk) if row.pk in versions else 0
    return MessageView(
        id=row.pk,
        position=row.position,
        role=row.role,
        status="deleted" if tombstone else row.status,
        html=SafeString("") if row.is_live else render_kept(content) if is_reply else render_plain(content),
        frame=_split(content) if row.is_live else None,
        reasoning_html=render_kept(reasoning) if reasoning and not row.is_live else SafeString(""),
        reasoning_frame=_split(reasoning) if reasoning and row.is_live else None,
        thought_seconds=_thought_seconds(row),
        failure=row.failure,
        failure_detail="" if tombstone else row.failure_detail,
        retry_at=row.retry_at,
        finish_reason=row.finish_reason,
        model_name=row.model_name,
        created_at=row.created_at,
        copy_text=content,
        can_regenerate=is_reply and is_last and row.status == Message.Status.COMPLETE and not tombstone,
        can_retry=is_reply and is_last and row.status in ENDED_EARLY and not tombstone,
        can_continue=is_last and can_continue(row),
        can_edit=row.role == Message.Role.USER and not tombstone,
        can_answer=row.role == Message.Role.USER and is_last and not tombstone,
        is_pinned=row.pinned,
        left_out_count=len(row.left_out),
        version=at + 1,
        versions=max(1, len(versions)),
        previous_id=versions[at - 1] if at > 0 else None,
        next_id=versions[at + 1] if at + 1 < len(versions) else None,
        tombstone=tombstone,
        files=list(files),
    )


def _thought_seconds(row: Message) -> int | None:
    thought = row.reasoning_milliseconds
    return None if thought is None or row.is_live else thought // 1000


def _text_so_far(row: Message) -> tuple[str, str]:
    """What is stored, or the newer text in memory where this very process is writing it; nothing once deleted."""
    if row.is_deleted:
        return "", ""
    if row.is_live and (live := runs.live_text(row.pk)):
        return live
    return row.content, row.reasoning
