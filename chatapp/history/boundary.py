"""Which applied compaction speaks for the path that is active now, and what its record says (rules E6, J1)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from chatapp.models import Chat, Compaction, Message
from compaction.segments import Segment, joined

NO_RECORD: dict[str, Any] = {"summary": "", "compacted_through_id": None, "compacted_at": None}


def compaction_in_force(chat: Chat) -> Compaction | None:
    """The newest applied compaction whose boundary lies on the active path; its ancestors then do, too."""
    return (
        Compaction.objects.applied()
        .filter(chat=chat, through__active=True)
        .defer("instructions", "unfinished_summary")
        .order_by("-through_position", "-pk")
        .first()
    )


def move_boundary(former: Message, message: Message) -> None:
    """What stands for everything up to `former` does so up to `message`, which has taken its place on the path."""
    Compaction.objects.filter(through=former).update(through=message)
    Message.objects.filter(chat=former.chat_id, request_through_id=former.pk).update(request_through_id=message.pk)


def segments_of(compaction: Compaction | None) -> tuple[Segment, ...]:
    """The whole record as it stands after that compaction; empty before the first."""
    return tuple(Segment(**stored) for stored in compaction.segments) if compaction else ()


def as_stored(segments: tuple[Segment, ...]) -> list[dict[str, Any]]:
    return [asdict(segment) for segment in segments]


def record_for_path(chat: Chat) -> dict[str, Any]:
    """Summary, boundary and time for the active path; all three or none."""
    compaction = compaction_in_force(chat)
    if compaction is None:
        return NO_RECORD
    return {
        "summary": joined(segments_of(compaction)),
        "compacted_through_id": compaction.through_id,
        "compacted_at": compaction.ended_at,
    }
