"""What recorded usage teaches about estimates: one ratio a model, kept at the rim, given back in Limits (rule A4)."""

from __future__ import annotations

LEAST_RATIO, MOST_RATIO = 0.5, 3.0
# How much of the way (in ratios) a turn goes, and how far one goes at most. A ratio of 3 is learned to a tenth in five
# turns; one count that is false moves the ratio by a quarter at most, and the two turns after it undo that.
PULL, LONGEST_STEP = 0.7, 1.25
# In a shorter request what the endpoint itself adds (a default system prompt, its template) outweighs the text.
LEAST_ESTIMATE = 100


def learn_ratio(ratio: float, *, recorded: int, estimated: int) -> float:
    """The ratio after one more call: `recorded` prompt tokens of a request that was `estimated` without any ratio.

    Starts at 1.0. Nothing is learned of short requests, nor of a count under half of the estimate, which is what a
    server that cuts prompts in silence tells (rule A3).
    """
    if estimated < LEAST_ESTIMATE or recorded * 2 < estimated:
        return ratio
    step = (recorded / estimated / ratio) ** PULL
    return _within(ratio * _within(step, 1 / LONGEST_STEP, LONGEST_STEP), LEAST_RATIO, MOST_RATIO)


def _within(value: float, least: float, most: float) -> float:
    return min(max(value, least), most)
