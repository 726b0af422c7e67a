"""The record as frozen segments, one a compaction, merged by rank once they take too much room (rule E6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from compaction.planning import ASSUMED_WINDOW, summary_budget
from compaction.prompts import DEFAULT_TEMPLATE, instructions_text, words_for
from compaction.quoting import fenced
from compaction.request import RequestMessage
from compaction.scripts import language_hint
from compaction.tokens import estimate_text

# Share of the window that all segments together may take.
MOST_PERCENT = 10
# Between two segments: no number, so that nothing before it changes when one is added or merged behind it.
SEAM = "\n\n[Later]\n"
TASK = (
    "Now write one record from the parts above, the newest last. Keep what still holds, and every exact value; where a "
    "later part corrects an earlier one, keep only what is right now. At most {words} words. {hint} "
    "Write only the record."
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of the record. `rank` = how many merges made it; `compaction_id` = the compaction that wrote it.

    It stands for the messages from `from_position` through `through_position`.
    """

    text: str
    rank: int = 0
    compaction_id: int = 0
    from_position: int = 0
    through_position: int = 0

    def covers(self, position: int) -> bool:
        return self.from_position <= position <= self.through_position


def joined(segments: Sequence[Segment]) -> str:
    """The summary that is sent. One more segment only adds to its end."""
    return SEAM.join(segment.text for segment in segments)


def over_limit(segments: Sequence[Segment], window: int, *, percent: int = MOST_PERCENT, ratio: float = 1.0) -> bool:
    """Whether all together exceed their share of the window; an unknown one counts as 8,192."""
    return estimate_text(joined(segments)) * ratio * 100 > (window or ASSUMED_WINDOW) * percent


def room_left(segments: Sequence[Segment], window: int, *, ratio: float = 1.0) -> int:
    """Estimated tokens that may still be added before all together exceed their share."""
    share = (window or ASSUMED_WINDOW) * MOST_PERCENT / 100
    return max(0, int(share / ratio) - estimate_text(joined(segments)) - 1)


def which_to_merge(segments: Sequence[Segment]) -> tuple[int, int] | None:
    """Start and end of the neighbours to merge: those of the lowest rank that has at least two, else the last two.

    None when only one is left. Ask again after each merge, until the rest is under the limit.
    """
    if len(segments) < 2:
        return None
    runs, start = [], 0
    for rank, run in groupby(segments, key=lambda segment: segment.rank):
        end = start + len(list(run))
        if end - start > 1:
            runs.append((rank, start, end))
        start = end
    if not runs:
        return len(segments) - 2, len(segments)
    _, start, end = min(runs)
    return start, end


def merged(
    segments: Sequence[Segment], bounds: tuple[int, int], text: str, *, compaction_id: int
) -> tuple[Segment, ...]:
    """All segments, with one of the next rank for those within the bounds."""
    start, end = bounds
    parts = segments[start:end]
    one = Segment(
        text=text,
        rank=max(part.rank for part in parts) + 1,
        compaction_id=compaction_id,
        from_position=min(part.from_position for part in parts),
        through_position=max(part.through_position for part in parts),
    )
    return (*segments[:start], one, *segments[end:])


def merge_budget(parts: Sequence[Segment], window: int, summary_percent: int, *, ratio: float = 1.0) -> int:
    """Tokens: as long as any summary, at most half of what it replaces, which is dense already."""
    replaced = estimate_text(joined(parts)) * ratio
    return summary_budget(window, summary_percent, int(replaced * 2))


def merge_request(
    parts: Sequence[Segment], *, budget: int, template: str = "", no_system_role: bool = False
) -> tuple[RequestMessage, ...]:
    """Instructions as for any summary, then the parts, each quoted, and what to make of them."""
    hint, words = language_hint(joined(parts)), str(words_for(budget))
    told = instructions_text(template or DEFAULT_TEMPLATE, hint, words, "")
    data = [fenced(part.text, of=f"part {number} of {len(parts)}") for number, part in enumerate(parts, start=1)]
    asked = "\n\n".join([*data, TASK.format(words=words, hint=hint)])
    if no_system_role:
        return (RequestMessage("user", f"{told}\n\n{asked}"),)
    return (RequestMessage("system", told), RequestMessage("user", asked))
