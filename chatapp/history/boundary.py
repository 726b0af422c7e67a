"""Which applied compaction speaks for the path that is active now (rule J1)."""

from __future__ import annotations

from typing import Any

from chatapp.models import Chat, Compaction

NO_RECORD: dict[str, Any] = {"summary": "", "compacted_through_id": None, "compacted_at": None}


def compaction_in_force(chat: Chat) -> Compaction | None:
    """The newest applied compaction whose boundary lies on the active path; its ancestors then do, too."""
    return (
        Compaction.objects.applied()
        .filter(chat=chat, through__active=True)
        .select_related("through")
        .order_by("-through_position", "-pk")
        .first()
    )


def record_for_path(chat: Chat) -> dict[str, Any]:
    """Summary, boundary and time for the active path; all three or none."""
    compaction = compaction_in_force(chat)
    if compaction is None:
        return NO_RECORD
    return {
        "summary": compaction.summary,
        "compacted_through_id": compaction.through_id,
        "compacted_at": compaction.ended_at,
    }
