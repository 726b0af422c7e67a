"""Which segments of a record may still speak of a message that was deleted after they were written (rule J2).

Derived, never stored: Undo of the deletion makes a segment sound again by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from chatapp.history.boundary import compaction_in_force, segments_of
from chatapp.history.paths import ancestors
from chatapp.models import Chat, Compaction
from compaction.segments import Segment

Deleted = Iterable[tuple[int, datetime | None]]


def stale_segments(chat: Chat, compaction: Compaction | None) -> tuple[Segment, ...]:
    """Those of the record that `compaction`, whose boundary is on the active path, left behind."""
    segments = segments_of(compaction)
    if not segments:
        return ()
    deleted = chat.messages.on_path().deleted().values_list("position", "deleted_at")
    return _stale(segments, list(deleted), _begun(chat)) if deleted else ()


def sound_segments(chat: Chat) -> tuple[Segment, ...]:
    """The others of the record in force: what a summariser may be shown, and a request be remembered by."""
    force = compaction_in_force(chat)
    stale = stale_segments(chat, force)
    return tuple(segment for segment in segments_of(force) if segment not in stale)


def stale_compactions(chat: Chat) -> set[int]:
    """Ids of all compactions of the chat, on whatever path, that hold a stale segment."""
    deleted = {
        pk: (position, deleted_at)
        for pk, position, deleted_at in chat.messages.deleted().values_list("pk", "position", "deleted_at")
    }
    if not deleted:
        return set()
    parents, begun = dict(chat.messages.values_list("pk", "parent_id")), _begun(chat)
    stale = set()
    for row in chat.compactions.exclude(segments=[]).exclude(through=None):
        on_its_path = [deleted[pk] for pk in ancestors(parents, row.through_id or 0) if pk in deleted]
        if _stale(segments_of(row), on_its_path, begun):
            stale.add(row.pk)
    return stale


def _begun(chat: Chat) -> dict[int, datetime]:
    return dict(chat.compactions.values_list("pk", "started_at"))


def _stale(segments: tuple[Segment, ...], deleted: Deleted, begun: dict[int, datetime]) -> tuple[Segment, ...]:
    """A segment whose compaction isn't known is as old as can be."""

    def is_stale(segment: Segment) -> bool:
        began = begun.get(segment.compaction_id)
        since = [at for position, at in deleted if at and segment.covers(position)]
        return any(began is None or at > began for at in since)

    return tuple(segment for segment in segments if is_stale(segment))
