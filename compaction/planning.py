"""What a compaction would archive, whether it is worth a call, and whether its summary is (rules C, D1, D2, D5, E4)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compaction.budget import Limits, measure, weigh
from compaction.cutting import choose_cut, safe_cuts, step_cuts, tail_sizes
from compaction.request import pinned_turns
from compaction.tokens import estimate_message, estimate_request, estimate_text
from compaction.transcript import Message, Transcript, first_unanswered, last_complete_turn

# With an unknown window a summary is as long as for this one.
ASSUMED_WINDOW = 8_192
SHORTEST_SUMMARY, LONGEST_SUMMARY = 300, 2_000
# A request has to fall to this share of its size, or a compaction isn't worth it (rules D1, D2).
WORTH_PERCENT = 80
# Where no trigger bounds the tail, this share of a known window does.
CEILING_PERCENT = 85
# What fence and notice of the record add to the summary, and a little more.
RECORD_TOKENS = 60

NOTHING_NEW, ONE_TURN, UNKNOWN_MESSAGE = "nothing_new", "one_turn", "unknown_message"
HOPELESS, NOT_SMALLER, OVER_TRIGGER = "hopeless", "not_smaller", "over_trigger"


@dataclass(frozen=True, slots=True)
class Plan:
    """`archived` + `kept` are the live messages in order; `through` is the last archived one.

    Sizes in tokens, as the meter shows them. `ratio` is what to multiply estimates by: the limits' own, or more where
    the recorded size says so. `resent`: see Transcript.
    """

    archived: tuple[Message, ...]
    kept: tuple[Message, ...]
    through: Message
    size_before: int
    size_without_summary: int
    summary_budget: int
    ratio: float = 1.0
    measured_offset: int = 0
    resent: Message | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """`measured_offset` is stored with the compaction, for the meter until the next usage is recorded (rule K4)."""

    tokens_after: int
    measured_offset: int = 0


def plan(
    transcript: Transcript,
    limits: Limits,
    *,
    up_to: int | None = None,
    within_turn: bool = False,
    keeps_summary: bool = False,
) -> Plan | Refusal:
    """The same plan each time for the same values.

    `up_to` is the id of the last message that may be archived; else the tail decides. `within_turn` allows a cut
    inside the tool loop of the last turn where no cut before it is possible. `keeps_summary`: the summary stays and
    only grows by a segment (rule E6), so a request without it can't be had.
    """
    messages = transcript.messages
    if not messages or _is_nothing_new(transcript):
        return Refusal(NOTHING_NEW)
    sizes = _weigh(transcript, limits)
    stays = transcript.summary if keeps_summary else ""
    cut = _cut_by_tail(transcript, limits, sizes, stays) if up_to is None else _cut_up_to(messages, up_to)
    if cut is None and within_turn:
        cut = _cut_in_loop(messages, sizes.tails, limits.tail_percent)
    if isinstance(cut, Refusal):
        return cut
    if cut is None:
        return Refusal(ONE_TURN)
    return _worth_it(_planned(transcript, limits, cut, sizes, stays), limits.trigger)


def accept(plan: Plan, transcript: Transcript, summary: str, limits: Limits) -> Accepted | Refusal:
    """Only a request of at most 80 % of its size, and under the trigger where there is one (rule D2)."""
    after = measure(folded(plan, transcript, summary), limits).used
    if after * 100 > plan.size_before * WORTH_PERCENT:
        return Refusal(NOT_SMALLER, f"{plan.size_before} → {after}")
    if 0 < limits.trigger <= after:
        return Refusal(OVER_TRIGGER, f"{after} ≥ {limits.trigger}")
    return Accepted(after, plan.measured_offset)


def plan_anew(transcript: Transcript, limits: Limits, archived: tuple[Message, ...], through: Message) -> Plan:
    """What has been archived before is summarised once more, without what was deleted of it (rule J2).

    The boundary stays, and it is done for privacy, not for room: nothing has to be worth it.
    """
    sizes = _weigh(transcript, limits)
    ratio = _ratio(limits, sizes)
    replaced = sum(estimate_message(message) for message in archived if not message.is_empty) * ratio
    return Plan(
        archived=archived,
        kept=transcript.messages,
        through=through,
        size_before=sizes.used,
        size_without_summary=0,
        summary_budget=summary_budget(limits.window, limits.summary_percent, int(replaced)),
        ratio=ratio,
        measured_offset=sizes.offset,
    )


def size_anew(plan: Plan, transcript: Transcript, summary: str, limits: Limits) -> Accepted:
    """The chat with another record before the same live messages, in whose requests the old one was counted."""
    kept = tuple(replace(message, made_after_boundary=False) for message in plan.kept)
    anew = replace(transcript, summary=summary, messages=kept, measured_offset=plan.measured_offset)
    return Accepted(measure(anew, limits).used, plan.measured_offset)


def folded(plan: Plan, transcript: Transcript, summary: str) -> Transcript:
    """The chat as it reads once the summary is applied: what history loads from then on."""
    kept = tuple(replace(message, made_after_boundary=False) for message in plan.kept)
    return replace(_behind(plan, transcript, summary), messages=kept)


def _behind(plan: Plan, transcript: Transcript, summary: str) -> Transcript:
    """As folded(), but for the marks of the messages themselves."""
    return replace(
        transcript,
        summary=summary,
        messages=plan.kept,
        archived_count=transcript.archived_count + len(plan.archived),
        measured_offset=plan.measured_offset,
        resent=plan.resent,
        pinned=(*transcript.pinned, *(message for message in plan.archived if message.is_pinned)),
    )


def summary_budget(window: int, summary_percent: int, replaced_tokens: int) -> int:
    """Tokens: the percentage of the window within 300 and 2,000, at most a quarter of what it replaces (rule E4)."""
    wanted = (window or ASSUMED_WINDOW) * summary_percent // 100
    bounded = min(max(wanted, SHORTEST_SUMMARY), LONGEST_SUMMARY)
    return max(1, min(bounded, replaced_tokens // 4))


def _is_nothing_new(transcript: Transcript) -> bool:
    """Whether everything live was there when the last compaction was applied (rule D5)."""
    if not transcript.archived_count and not transcript.summary:
        return False
    messages = transcript.messages
    is_answered = first_unanswered(messages) == len(messages)
    replies = [message for message in messages if message.role == "assistant" and not message.is_empty]
    return is_answered and not any(reply.made_after_boundary for reply in replies)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Of the whole request before: as the meter shows it, as estimated, their difference; of each message and tail."""

    used: int
    estimate: int
    offset: int
    messages: tuple[int, ...]
    tails: tuple[int, ...]


def _weigh(transcript: Transcript, limits: Limits) -> _Sizes:
    weight = weigh(transcript, limits)
    used = weight.meter.used
    offset = used - weight.estimate if weight.meter.measured else transcript.measured_offset
    return _Sizes(used, weight.estimate, offset, weight.messages, tail_sizes(weight.messages))


def _cut_by_tail(transcript: Transcript, limits: Limits, sizes: _Sizes, stays: str) -> int | None:
    """The tail's percentage of the live tokens, or less where request and summary would not come under the trigger."""
    live = sizes.tails[0] * limits.ratio
    tail = live * limits.tail_percent / 100
    if ceiling := limits.trigger or limits.window * CEILING_PERCENT // 100:
        pinned = estimate_request(pinned_turns(transcript.pinned))
        fixed = (estimate_text(transcript.system_prompt) + estimate_text(stays) + pinned) * limits.ratio
        summary = summary_budget(limits.window, limits.summary_percent, int(live))
        tail = min(tail, ceiling - 1 - fixed - summary - RECORD_TOKENS - max(0, sizes.offset))
    return choose_cut(transcript.messages, sizes.tails, tail_tokens=tail / limits.ratio)


def _cut_up_to(messages: tuple[Message, ...], up_to: int) -> int | Refusal | None:
    index = next((index for index, message in enumerate(messages) if message.id == up_to), None)
    if index is None:
        return Refusal(UNKNOWN_MESSAGE)
    latest = last_complete_turn(messages)
    cuts = [cut for cut in safe_cuts(messages) if latest is not None and cut <= min(latest, index + 1)]
    return cuts[-1] if cuts else None


def _cut_in_loop(messages: tuple[Message, ...], tails: tuple[int, ...], tail_percent: int) -> int | None:
    cuts = step_cuts(messages)
    return next((cut for cut in cuts if tails[cut] * 100 <= tails[0] * tail_percent), cuts[-1] if cuts else None)


def _ratio(limits: Limits, sizes: _Sizes) -> float:
    return limits.ratio * max(1.0, min(3.0, sizes.used / max(1, sizes.estimate)))


def _planned(transcript: Transcript, limits: Limits, cut: int, sizes: _Sizes, stays: str) -> Plan:
    archived, kept = transcript.messages[:cut], transcript.messages[cut:]
    is_in_loop = bool(kept) and kept[0].role != "user"
    request = next((message for message in reversed(archived) if message.role == "user"), transcript.resent)
    ratio = _ratio(limits, sizes)
    kept_tokens = sizes.tails[cut] if kept else 0
    replaced = (sizes.tails[0] - kept_tokens + (0 if stays else estimate_text(transcript.summary))) * ratio
    bare = Plan(
        archived=archived,
        kept=kept,
        through=archived[-1],
        size_before=sizes.used,
        size_without_summary=0,
        summary_budget=summary_budget(limits.window, limits.summary_percent, int(replaced)),
        ratio=ratio,
        measured_offset=sizes.offset,
        resent=request if is_in_loop else None,
    )
    after = weigh(_behind(bare, transcript, stays), limits, estimated=sizes.messages[cut:])
    return replace(bare, size_without_summary=after.meter.used)


def _worth_it(plan: Plan, trigger: int) -> Plan | Refusal:
    """No call where even an empty summary would be refused (rule D1)."""
    if plan.size_without_summary * 100 > plan.size_before * WORTH_PERCENT:
        return Refusal(HOPELESS, f"{plan.size_before} → {plan.size_without_summary}")
    if 0 < trigger <= plan.size_without_summary:
        return Refusal(OVER_TRIGGER, f"{plan.size_without_summary} ≥ {trigger}")
    return plan
