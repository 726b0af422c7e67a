"""The next request as a person may read it: built by the very functions that build it, so it can't differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.safestring import SafeString

from chatapp.history import loading
from chatapp.history.boundary import compaction_in_force
from chatapp.history.loading import PENDING_ID, Situation
from chatapp.history.staleness import stale_compactions
from chatapp.llm.options import make_body
from chatapp.models import Chat, Compaction, Message, Run
from chatapp.presenting import MeterView, view_meter
from chatapp.presenting.fold import folds_next, values_in
from chatapp.presenting.messages import render_kept
from compaction.budget import recorded_reply
from compaction.exact import split_blocks
from compaction.request import Piece, RequestMessage, as_payload, assemble
from compaction.tokens import IMAGE_TOKENS, estimate_message, estimate_text
from compaction.transcript import Image
from compaction.transcript import Message as PureMessage

MOST_LISTED = 50


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the request; the texts of all parts of a message, joined, are what is sent.

    Kinds: system, record, values, pinned, live, pending, image, and mark for words of Foldline's own. `tokens` are
    as the model counted them where `is_measured`. `values`: how many exact values it holds. `calls`: tools called
    beside it.
    """

    kind: str
    role: str
    text: str
    tokens: int
    is_measured: bool = False
    values: int = 0
    calls: str = ""


@dataclass(frozen=True, slots=True)
class ArchivedView:
    """What isn't sent because it was folded, and why. `percent` of the window at that time; 0 where it isn't known."""

    count: int
    pinned_count: int
    compaction: Compaction
    at: datetime | None
    percent: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A live message that isn't sent, or not whole. How: dropped, shortened, or forced (out of the last request)."""

    how: str
    position: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class RequestView:
    """`left_out` lists the newest fifty of `left_out_count`. `folds_first`: the next message folds earlier turns."""

    parts: list[Part]
    meter: MeterView
    model_name: str
    archived: ArchivedView | None
    left_out: list[LeftOut]
    left_out_count: int
    has_pending: bool
    folds_first: bool
    run_live: bool
    raw_json: str


@dataclass(frozen=True, slots=True)
class CompactionView:
    compaction: Compaction
    summary_html: SafeString
    is_in_force: bool
    is_stale: bool

    @property
    def is_stripped(self) -> bool:
        """Whether its summary was erased, as it may have spoken of a deleted message (rule J2)."""
        row = self.compaction
        return row.status == Compaction.Status.UNDONE and row.mode != Compaction.Mode.FRESH and not row.summary


def read_request(chat_id: UUID, *, pending_text: str = "", pending_images: tuple[Image, ...] = ()) -> RequestView:
    """What would be sent if a message were written now, or with what is pending if that were sent."""
    now = loading.load_situation(chat_id, to_send=True)
    typed = pending_text if pending_text.strip() else ""
    situation = now.with_pending(typed, pending_images)
    sent = situation.to_send()
    request = assemble(sent.transcript, no_system_role=situation.no_system_role)
    meter = now.meter(pending_text=typed, pending_images=pending_images)
    left_out = [*_left_out(situation, sent.dropped, "dropped"), *_left_out(situation, sent.shortened, "shortened")]
    known = {*sent.dropped, *sent.shortened}
    left_out += _left_out(situation, [each for each in _forced_out(situation.chat) if each not in known], "forced")
    return RequestView(
        parts=list(_parts(request, situation)),
        meter=view_meter(meter),
        model_name=situation.transcript.model,
        archived=_archived(situation),
        left_out=left_out[:MOST_LISTED],
        left_out_count=len(left_out) + now.unread_count,
        has_pending=bool(typed or pending_images),
        folds_first=folds_next(situation.chat, meter, situation.model),
        run_live=Run.objects.live().filter(chat_id=chat_id).exists(),
        raw_json=_body(situation, request),
    )


def read_compactions(chat: Chat) -> list[CompactionView]:
    """Newest first; only the one whose record is in force now can be undone or edited."""
    force, stale = compaction_in_force(chat), stale_compactions(chat)
    return [
        CompactionView(
            row,
            render_kept(row.summary),
            is_in_force=force is not None and row.pk == force.pk,
            is_stale=row.pk in stale,
        )
        for row in chat.compactions.order_by("-pk")
    ]


def _body(situation: Situation, request: tuple[RequestMessage, ...]) -> str:
    """The body as the client makes it, options that the endpoint was seen to refuse included; images by name."""
    params = situation.chat.parameters
    body = make_body(
        situation.transcript.model,
        as_payload(request, _shown_urls(request)),
        params=params,
        max_tokens=None,
        temperature=None,
        refused=(),
    )
    return json.dumps({**body, "stream": True}, ensure_ascii=False, indent=2)


def _shown_urls(request: tuple[RequestMessage, ...]) -> dict[str, str]:
    """Megabytes of base64 are nothing to read."""
    return {image.id: f"data:… ({image.name})" for message in request for image in message.images}


def _parts(request: tuple[RequestMessage, ...], situation: Situation) -> Iterator[Part]:
    said = {each.id: each for each in (*situation.transcript.pinned, *situation.transcript.messages)}
    for message in request:
        # What a message itself takes, its calls of tools included, is told with the first of its parts.
        images = len(message.images) * IMAGE_TOKENS
        beside = estimate_message(message) - estimate_text(message.content) - images
        calls = ", ".join(f"{call.name}({call.arguments})" for call in message.tool_calls)
        for piece in message.pieces or (Piece("live", ""),):
            row = said.get(piece.message_id) if piece.kind in {"live", "pinned"} else None
            for text, has_values in split_blocks(piece.text) if piece.kind == "record" else ((piece.text, False),):
                estimated = round((beside + estimate_text(text)) * situation.limits.ratio)
                recorded = _recorded(row, text, situation)
                yield Part(
                    kind="values" if has_values else "pending" if row and row.id == PENDING_ID else piece.kind,
                    role=message.role,
                    text=text,
                    calls=calls,
                    tokens=recorded or estimated,
                    is_measured=bool(recorded),
                    values=len(values_in(text)) if has_values else 0,
                )
                beside, calls = 0, ""
        for image in message.images:
            yield Part("image", message.role, image.name, round(IMAGE_TOKENS * situation.limits.ratio))


def _recorded(row: PureMessage | None, text: str, situation: Situation) -> int | None:
    """Of a reply that is sent whole."""
    is_whole = row is not None and text.removesuffix("\n\n") == row.content
    return recorded_reply(row, situation.transcript.model) if row and is_whole else None


def _archived(situation: Situation) -> ArchivedView | None:
    chat, transcript = situation.chat, situation.transcript
    force = compaction_in_force(chat) if chat.is_compacted else None
    if force is None:
        return None
    return ArchivedView(
        count=transcript.archived_count,
        pinned_count=len(transcript.pinned),
        compaction=force,
        at=chat.compacted_at,
        percent=round(100 * force.tokens_before / force.window_tokens) if force.window_tokens else 0,
    )


def _left_out(situation: Situation, ids: Iterable[int], how: str) -> list[LeftOut]:
    """Newest first. Of what has been archived since nothing is told here: it is behind the divider."""
    live = {message.id: message for message in situation.transcript.messages}
    found = [live[each] for each in ids if each in live]
    found.sort(key=lambda message: -message.position)
    return [LeftOut(how, message.position, message.role, message.content) for message in found]


def _forced_out(chat: Chat) -> list[int]:
    """What the last request had to do without, after the endpoint had refused it as too long (rule B7)."""
    last = chat.messages.on_path().filter(role=Message.Role.ASSISTANT).last()
    return list(last.left_out) if last else []
