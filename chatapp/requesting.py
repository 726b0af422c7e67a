"""The next request as a person may read it: built by the very functions that build it, so it can't differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from django.utils.safestring import SafeString

from chatapp.history import loading
from chatapp.history.boundary import compaction_in_force
from chatapp.models import Chat, Compaction
from chatapp.presenting import MeterView, view_meter
from chatapp.rendering import render
from compaction.budget import measure
from compaction.request import as_payload, assemble, record_text
from compaction.tokens import estimate_message, estimate_text


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the request. Kinds: system, record, pinned, live. `tokens` are estimated."""

    kind: str
    role: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class RequestView:
    """`archived_count`: those that aren't sent; pinned ones are."""

    parts: list[Part]
    meter: MeterView
    model_name: str
    archived_count: int
    left_out_count: int
    raw_json: str


@dataclass(frozen=True, slots=True)
class CompactionView:
    compaction: Compaction
    summary_html: SafeString
    is_in_force: bool


def read_request(chat_id: UUID) -> RequestView:
    """What would be sent if a message were written now."""
    situation = loading.load_situation(chat_id)
    sent = situation.to_send()
    transcript = sent.transcript
    request = assemble(transcript, no_system_role=situation.no_system_role)
    pinned = {message.content for message in transcript.pinned}
    parts: list[Part] = []
    for message in request:
        if message.role == "system":
            record = record_text(transcript.summary)
            if transcript.system_prompt:
                parts.append(_part("system", transcript.system_prompt))
            if record:
                parts.append(_part("record", record))
            continue
        kind = "pinned" if message.content in pinned else "live"
        parts.append(Part(kind, message.role, message.content, round(estimate_message(message))))
    meter = situation.meter()
    if sent.dropped:  # what is left out isn't part of what is sent
        meter = measure(transcript, situation.limits, no_system_role=situation.no_system_role)
    payload = {"model": transcript.model, "messages": as_payload(request), **situation.chat.parameters}
    return RequestView(
        parts=parts,
        meter=view_meter(meter),
        model_name=transcript.model,
        archived_count=transcript.archived_count - len(transcript.pinned),
        left_out_count=len(sent.dropped),
        raw_json=json.dumps(payload, ensure_ascii=False, indent=2),
    )


def read_compactions(chat: Chat) -> list[CompactionView]:
    """Newest first; only the one whose record is in force now can be undone or edited."""
    force = compaction_in_force(chat)
    return [
        CompactionView(row, render(row.summary), is_in_force=force is not None and row.pk == force.pk)
        for row in chat.compactions.order_by("-pk")
    ]


def _part(kind: str, text: str) -> Part:
    return Part(kind, "system", text, estimate_text(text))
