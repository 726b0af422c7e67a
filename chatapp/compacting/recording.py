"""From a written segment to the record: exact values under it, older segments merged when all grow too long (E6, H)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chatapp.compacting.calling import Rejected, Summariser
from chatapp.database import patiently
from chatapp.history import loading
from chatapp.history.loading import Situation
from chatapp.llm import errors
from chatapp.models import Run
from compaction import segments as frozen
from compaction.exact import ExactBlock, exact_block, exact_cap, find_values
from compaction.planning import Plan
from compaction.segments import Segment

# Of the window; a record of so much is merged even while a message waits.
URGENT_PERCENT = 2 * frozen.MOST_PERCENT


@dataclass(frozen=True, slots=True)
class Record:
    """The whole record as it would be, and what became of the exact values of what this compaction archives."""

    segments: tuple[Segment, ...]
    values: ExactBlock


async def make_record(
    summariser: Summariser, situation: Situation, plan: Plan, text: str, *, sound: tuple[Segment, ...]
) -> Record:
    """`sound`: the earlier segments that don't speak of what was deleted since; no other one is merged (rule J2).

    Raises Fenced. A merge that fails or that somebody would wait for leaves the segments as they are, for another time.
    """
    stale = set(situation.segments) - set(sound)
    values = await asyncio.to_thread(values_under, situation, plan, text, beside=sound)
    segment = Segment(
        text=text + values.text,
        compaction_id=summariser.compaction_id,
        from_position=plan.archived[0].position,
        through_position=plan.through.position,
    )
    segments = (*situation.segments, segment)
    window, ratio = situation.limits.window, plan.ratio
    while frozen.over_limit(segments, window, ratio=ratio) and (bounds := frozen.which_to_merge(segments)):
        if stale.intersection(segments[slice(*bounds)]):
            break
        is_urgent = frozen.over_limit(segments, window, percent=URGENT_PERCENT, ratio=ratio)
        if not is_urgent and await patiently(_somebody_waits, summariser.chat.pk):
            break
        merged = await _merge(summariser, situation, segments, bounds, ratio=ratio)
        if not merged:
            break
        segments = frozen.merged(segments, bounds, merged, compaction_id=summariser.compaction_id)
    return Record(segments, values)


def _somebody_waits(chat_id: UUID) -> bool:
    return Run.objects.live().filter(chat_id=chat_id).exists()


def values_under(situation: Situation, plan: Plan, text: str, *, beside: tuple[Segment, ...]) -> ExactBlock:
    """Of the values in what the plan archives, those that neither `text` says nor the segments beside it."""
    said = frozen.joined((*beside, Segment(text)))
    cap = exact_cap(situation.limits.window, percent=situation.site.exact_percent)
    return exact_block(find_values(plan.archived), said, cap_tokens=cap)


async def _merge(
    summariser: Summariser,
    situation: Situation,
    segments: tuple[Segment, ...],
    bounds: tuple[int, int],
    *,
    ratio: float,
) -> str:
    """Several segments as one, with the exact values of all messages that they cover; "" where that failed.

    Each had a block of its own, so theirs may take what the record's share of the window leaves beside the text.
    """
    window, site, parts = situation.limits.window, situation.site, segments[slice(*bounds)]
    budget = frozen.merge_budget(parts, window, site.summary_percent, ratio=ratio)
    request = frozen.merge_request(
        parts, budget=budget, template=site.summary_prompt, no_system_role=summariser.model.no_system_role
    )
    try:
        text = await summariser.summarise(request, budget=budget, source=frozen.joined(parts))
    except (Rejected, errors.EndpointError):
        return ""
    covered = await patiently(
        loading.archived_messages,
        situation.chat,
        since=parts[0].from_position,
        through=parts[-1].through_position,
    )
    bare = frozen.merged(segments, bounds, text, compaction_id=summariser.compaction_id)
    cap = exact_cap(window, percent=site.exact_percent)
    cap = cap and max(cap, frozen.room_left(bare, window, ratio=ratio))
    values = await asyncio.to_thread(find_values, covered)
    return text + exact_block(values, text, cap_tokens=cap).text


def facts_of(blocks: Sequence[ExactBlock]) -> dict[str, Any]:
    """What became of the exact values, as a compaction's row keeps it (rule H3)."""
    return {
        "values_found": sum(block.total for block in blocks),
        "values_kept": sum(block.kept for block in blocks),
        "values_added": sum(len(block.added) for block in blocks),
        "values_left_out": [
            {"value": value.text, "clause": value.clause} for block in blocks for value in block.left_out
        ],
    }
