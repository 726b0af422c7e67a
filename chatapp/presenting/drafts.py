"""A draft as the box shows it."""

from __future__ import annotations

from typing import Any

from chatapp.models import Attachment, Draft


def view_draft(draft: Draft | None) -> dict[str, Any]:
    """`draft_at` in milliseconds, as a browser's clock counts; 0 where there is none."""
    if draft is None:
        return {"draft": "", "draft_files": [], "draft_at": 0}
    links = Attachment.objects.filter(draft=draft).select_related("file").defer("file__text", "file__data")
    return {
        "draft": draft.text,
        "draft_files": [link.file for link in links.order_by("pk")],
        "draft_at": int(draft.saved_at.timestamp() * 1000),
    }
