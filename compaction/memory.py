"""What one refusal or three failures tell the next automatic compaction of a chat (rules D3, D4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compaction.budget import Meter
from compaction.transcript import Transcript

# Growth since a refusal, and share of the window, from which on another try is worth it.
GROWN_PERCENT, URGENT_PERCENT = 110, 90
MOST_FAILURES = 3

REFUSED_BEFORE, RESTING = "refused_before", "resting"


@dataclass(frozen=True, slots=True)
class Memory:
    """Kept beside the chat. `refused_size` in tokens, 0 = no refusal; `head` = id of the last message at that time.

    `failures` in a row, of the model whose name is `model`.
    """

    refused_size: int = 0
    head: int = 0
    model: str = ""
    window: int = 0
    failures: int = 0

    @property
    def is_resting(self) -> bool:
        """Whether automatic compaction rests (rule D4); the page says so."""
        return self.failures >= MOST_FAILURES


def may_try(memory: Memory, meter: Meter, transcript: Transcript, *, is_full: bool = False) -> str:
    """ "" when an automatic compaction may be tried, else why not: refused_before, resting.

    The button never asks. A full window (`is_full`: the endpoint said so, or wrote no reply for want of room)
    isn't held up by a refusal, but by three failures: shrinking is left (B7).
    """
    known = recall(memory, meter, transcript)
    if known.is_resting:
        return RESTING
    is_urgent = is_full or 0 < meter.window * URGENT_PERCENT <= meter.used * 100
    has_grown = meter.used * 100 >= known.refused_size * GROWN_PERCENT
    return "" if is_urgent or has_grown else REFUSED_BEFORE


def recall(memory: Memory, meter: Meter, transcript: Transcript) -> Memory:
    """What still holds. The rim stores it where it differs, so that what is forgotten doesn't come back."""
    if memory.model != transcript.model:
        return Memory()
    is_same_path = any(message.id == memory.head for message in transcript.messages)
    holds = is_same_path and memory.window == meter.window and meter.used >= memory.refused_size
    return memory if holds else replace(memory, refused_size=0, head=0)


def after_refusal(memory: Memory, meter: Meter, transcript: Transcript) -> Memory:
    """A refusal is no failure, and ends no row of them."""
    head = transcript.messages[-1].id if transcript.messages else 0
    known = _of_model(memory, transcript.model)
    return replace(known, refused_size=meter.used, head=head, window=meter.window)


def after_failure(memory: Memory, transcript: Transcript) -> Memory:
    """One more in a row, whoever started it. A cancelled compaction is none."""
    known = _of_model(memory, transcript.model)
    return replace(known, failures=known.failures + 1)


def after_success() -> Memory:
    return Memory()


def _of_model(memory: Memory, model: str) -> Memory:
    return memory if memory.model == model else Memory(model=model)
