"""The one function that says how large a chat is, beside its trigger and window (rules A2, A3, A7)."""

from __future__ import annotations

from dataclasses import dataclass

from compaction.limits import Limits, headroom_tokens, trigger_tokens
from compaction.request import pinned_turns, record_text
from compaction.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, estimate_message, estimate_request, estimate_text
from compaction.transcript import Message, Transcript, Usage

__all__ = ["Limits", "Meter", "Weight", "headroom_tokens", "measure", "recorded_size", "trigger_tokens", "weigh"]

TOO_LARGE, TOO_SMALL = "too_large", "too_small"


@dataclass(frozen=True, slots=True)
class Meter:
    """In tokens; system + summary + pinned + live + pending = used.

    `distrusted`: why the newest recorded usage wasn't used. `headroom_moved`: the trigger lies below the threshold, so
    that the next reply still fits (rule A6). `idle_trigger`: see Limits.
    """

    used: int
    trigger: int
    window: int
    measured: bool
    system: int
    summary: int
    live: int
    pending: int
    distrusted: str = ""
    headroom_moved: bool = False
    pinned: int = 0
    idle_trigger: int = 0

    @property
    def over_trigger(self) -> bool:
        return self.trigger > 0 and self.used >= self.trigger

    @property
    def over_idle_trigger(self) -> bool:
        return self.idle_trigger > 0 and self.used >= self.idle_trigger

    @property
    def near_trigger(self) -> bool:
        return self.trigger > 0 and self.used >= (self.idle_trigger or self.trigger) - self.window // 10

    @property
    def fits(self) -> bool:
        return self.window == 0 or self.used <= self.window


@dataclass(frozen=True, slots=True)
class Weight:
    """The meter, the estimate of the request without pending text, and that of each message (before the ratio)."""

    meter: Meter
    estimate: int
    messages: tuple[int, ...]


def measure(
    transcript: Transcript,
    limits: Limits,
    *,
    pending_text: str = "",
    pending_images: int = 0,
    no_system_role: bool = False,
) -> Meter:
    """The newest usable usage and an estimate of everything newer, or else the estimate of the whole next request."""
    weight = weigh(
        transcript, limits, pending_text=pending_text, pending_images=pending_images, no_system_role=no_system_role
    )
    return weight.meter


def weigh(
    transcript: Transcript,
    limits: Limits,
    *,
    pending_text: str = "",
    pending_images: int = 0,
    no_system_role: bool = False,
    estimated: tuple[int, ...] | None = None,
) -> Weight:
    """What measure() says and what it was made from. Messages that wait count although they aren't sent yet.

    `estimated`: of each message, where they are to lie behind a new boundary: no usage recorded before it counts then.
    """
    messages = estimated
    if messages is None:
        messages = tuple(0 if message.is_empty else estimate_message(message) for message in transcript.messages)
    estimate = _estimate_parts(transcript, sum(messages), limits.ratio, no_system_role=no_system_role)
    is_typing = bool(pending_text or pending_images)
    typed = estimate_text(pending_text) + pending_images * IMAGE_TOKENS
    pending = _scaled(MESSAGE_TOKENS + typed, limits.ratio) if is_typing else 0
    index, distrusted = _newest_usage(transcript, limits.window) if estimated is None else (None, "")
    if index is None:
        size = sum(estimate) + max(0, transcript.measured_offset)
    else:
        newer = sum(messages[index + 1 :])
        size = recorded_size(transcript.messages[index]) + _scaled(newer, limits.ratio)
    system, summary, pinned, live = _shared(estimate, size)
    meter = Meter(
        used=size + pending,
        trigger=limits.trigger,
        window=limits.window,
        measured=index is not None,
        system=system,
        summary=summary,
        live=live,
        pending=pending,
        distrusted=distrusted,
        headroom_moved=limits.is_moved_by_headroom,
        pinned=pinned,
        idle_trigger=limits.idle_trigger,
    )
    return Weight(meter, sum(estimate), messages)


def recorded_size(reply: Message) -> int:
    """Tokens of a reply and of its prompt, less the reasoning that isn't sent again (rule A2)."""
    usage = reply.usage or Usage(0, 0)
    return usage.prompt + (_sent_again(usage) if usage.completion else estimate_message(reply))


def recorded_reply(reply: Message, model: str) -> int | None:
    """Tokens of a reply as the model that wrote it counted them; None where it told none, or another counts now."""
    usage = reply.usage
    if reply.role != "assistant" or reply.model != model or usage is None or not usage.completion:
        return None
    return _sent_again(usage)


def _sent_again(usage: Usage) -> int:
    # Some endpoints count reasoning beside completion, not inside: total, or the plain size of it, gives them away.
    is_beside = usage.reasoning > usage.completion or (usage.total == usage.prompt + usage.completion + usage.reasoning)
    return usage.completion if is_beside else usage.completion - usage.reasoning


def _newest_usage(transcript: Transcript, window: int) -> tuple[int | None, str]:
    """Index of the reply whose usage counts; none where the newest can't be true (rule A3), and why it can't."""
    for index in range(len(transcript.messages) - 1, -1, -1):
        message = transcript.messages[index]
        if message.usage is not None and _is_usable(message, message.usage, transcript.model):
            distrusted = _distrust(message, window)
            return (None, distrusted) if distrusted else (index, "")
    return None, ""


def _is_usable(message: Message, usage: Usage, model: str) -> bool:
    is_ours = message.role == "assistant" and message.model == model and message.made_after_boundary
    return is_ours and not message.is_waiting and usage.prompt > 0


def _distrust(reply: Message, window: int) -> str:
    usage = reply.usage or Usage(0, 0)
    if window and (usage.prompt + usage.completion) * 2 > window * 3:
        return TOO_LARGE
    # Cached tokens are a part of the prompt; more of them than prompt means that the prompt was not told whole.
    if usage.prompt * 2 < reply.estimated_prompt or usage.cached > usage.prompt:
        return TOO_SMALL
    return ""


def _estimate_parts(
    transcript: Transcript, messages: int, ratio: float, *, no_system_role: bool
) -> tuple[int, int, int, int]:
    """System prompt, summary, pinned messages, live messages."""
    preamble = [estimate_text(text) for text in (transcript.system_prompt, record_text(transcript.summary))]
    wrapping = MESSAGE_TOKENS if any(preamble) and not no_system_role else 0
    system = preamble[0] + wrapping if preamble[0] else 0
    summary = preamble[1] if system else preamble[1] + wrapping
    pinned = estimate_request(pinned_turns(transcript.pinned))
    live = messages + (estimate_message(transcript.resent) if transcript.resent else 0)
    return _scaled(system, ratio), _scaled(summary, ratio), _scaled(pinned, ratio), _scaled(live, ratio)


def _shared(estimate: tuple[int, int, int, int], size: int) -> tuple[int, int, int, int]:
    """Splits a size over the parts of a request: the live messages take what the estimate got wrong."""
    *fixed, _ = estimate
    if (known := sum(fixed)) > size:
        fixed = [part * size // known for part in fixed]
        fixed[1] += size - sum(fixed)
    system, summary, pinned = fixed
    return system, summary, pinned, size - sum(fixed)


def _scaled(tokens: int, ratio: float) -> int:
    return round(tokens * ratio)
