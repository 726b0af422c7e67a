"""The record written anew without what was deleted: its stale segments alone, the others byte for byte (rule J2)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from chatapp.compacting.calling import Summariser, announce, summariser_for
from chatapp.compacting.recording import facts_of, values_under
from chatapp.compacting.writing import write_from_transcript
from chatapp.database import patiently
from chatapp.history import loading, rebuilding
from chatapp.history.loading import Situation
from chatapp.models import Compaction
from compaction import planning
from compaction.exact import ExactBlock
from compaction.planning import Refusal
from compaction.segments import Segment, joined
from compaction.transcript import Message


@dataclass(slots=True)
class _Draft:
    """The record as far as it is written, and what became of the exact values in what was read for it."""

    segments: list[Segment] = field(default_factory=list)
    blocks: list[ExactBlock] = field(default_factory=list)


async def rebuild(compaction_id: int, situation: Situation) -> Refusal | None:
    """Raises Rejected, EndpointError, Fenced. Where all that a segment covers was deleted, it goes without a call."""
    covered = await patiently(rebuilding.covered_by_stale, situation.chat)
    boundary = situation.chat.compacted_through
    if boundary is None or not covered:
        return Refusal("nothing_stale")
    through = loading.pure_message(boundary, boundary)
    archived = tuple(message for messages in covered.values() for message in messages)
    plan = planning.plan_anew(situation.transcript, situation.limits, archived, through)
    has_words = any(not message.is_empty for message in plan.archived)
    summariser = await summariser_for(compaction_id, situation) if has_words else None
    await announce(compaction_id, situation, plan, model_name=summariser.model.name if summariser else "")
    draft = await _write(summariser, situation, covered, through)
    segments = tuple(draft.segments)
    size = planning.size_anew(plan, situation.transcript, joined(segments), situation.limits)
    await patiently(
        rebuilding.apply_rebuild,
        compaction_id=compaction_id,
        segments=segments,
        planned_record=situation.chat.record(),
        mode=Compaction.Mode.TRANSCRIPT if segments else Compaction.Mode.FRESH,
        tokens_after=size.tokens_after,
        measured_offset=size.measured_offset,
        measured_model=situation.transcript.model,
        **facts_of(draft.blocks),
    )
    return None


async def _write(
    summariser: Summariser | None,
    situation: Situation,
    covered: Mapping[Segment, tuple[Message, ...]],
    through: Message,
) -> _Draft:
    draft = _Draft()
    for index, segment in enumerate(situation.segments):
        if segment not in covered:
            draft.segments.append(segment)
            continue
        archived = covered[segment]
        if summariser is None or all(message.is_empty for message in archived):
            continue
        plan = planning.plan_anew(situation.transcript, situation.limits, archived, through)
        earlier = tuple(draft.segments)
        text = await write_from_transcript(summariser, situation, plan, earlier=earlier)
        later = tuple(each for each in situation.segments[index + 1 :] if each not in covered)
        block = await asyncio.to_thread(values_under, situation, plan, text, beside=(*earlier, *later))
        draft.segments.append(replace(segment, text=text + block.text, compaction_id=summariser.compaction_id))
        draft.blocks.append(block)
    return draft
