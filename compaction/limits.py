"""What the admin and the model allow: window, threshold, and where the trigger lies (rules A5, A6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Of so many newest completions the longest tells how much room the next reply wants; or this share of the window.
RECENT_COMPLETIONS, MOST_HEADROOM, HEADROOM_SHARE = 10, 8_192, 8
# Of a window so much stays free behind a summary that is asked for as one more turn (rule E1), for what is misjudged.
MARGIN_PERCENT = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """`window` 0 = unknown; `threshold_percent` 0 = never automatic; `ratio` = recorded tokens to one estimated.

    `headroom` = tokens that the next reply may want (see `headroom_tokens`); 0 moves no trigger. `continuing` = tokens
    of question and answer where a summary can be asked for as one more turn of a cached request; 0 where it can't.
    """

    window: int
    threshold_percent: int
    tail_percent: int
    summary_percent: int
    ratio: float = 1.0
    headroom: int = 0
    continuing: int = 0

    @property
    def trigger(self) -> int:
        return trigger_tokens(self.window, self.threshold_percent, headroom=self.headroom)

    @property
    def idle_trigger(self) -> int:
        """Tokens from which a compaction is due when a reply has ended (rule B1); never above the trigger.

        Where a summary can be asked for as one more turn, that is before the next turn takes the room for it, never
        below half of the window.
        """
        if not self.continuing or not self.trigger:
            return self.trigger
        room = self.window * (100 - MARGIN_PERCENT) // 100 - self.continuing - self.headroom
        return min(self.trigger, max(self.window // 2, room))

    @property
    def is_moved_by_headroom(self) -> bool:
        return self.trigger < trigger_tokens(self.window, self.threshold_percent)


def trigger_tokens(window: int, threshold_percent: int, *, headroom: int = 0) -> int:
    """Tokens at which compaction starts by itself; 0 = never (threshold 0, or the window is unknown).

    Headroom moves it down to where a reply still fits behind it, never below half of the window (rule A6).
    """
    if window <= 0 or threshold_percent <= 0:
        return 0
    return max(1, min(window * threshold_percent // 100, max(window // 2, window - headroom)))


def headroom_tokens(recent_completions: Sequence[int], window: int) -> int:
    """Room for the next reply: 1.2 times the longest of the ten newest completions (newest last), or an eighth of the
    window up to 8,192, whichever is more (rule A6).
    """
    longest = max(recent_completions[-RECENT_COMPLETIONS:], default=0)
    return max(-(-longest * 6 // 5), min(MOST_HEADROOM, window // HEADROOM_SHARE))
