"""The divider, what a compaction is doing or why it did not, and the meter."""

from __future__ import annotations

from functools import lru_cache

from chatapp.history import boundary, loading
from chatapp.history.staleness import stale_segments
from chatapp.models import Chat, Compaction, LanguageModel, Message
from chatapp.models.usage import percent
from chatapp.presenting.messages import render_kept
from chatapp.presenting.values import DividerView, MeterView
from compaction.budget import Meter
from compaction.exact import find_values
from compaction.memory import Memory, may_try
from compaction.transcript import Message as PureMessage
from compaction.transcript import Transcript


def view_divider(chat: Chat) -> DividerView | None:
    if not chat.is_compacted:
        return None
    force = boundary.compaction_in_force(chat)
    if force is None or force.through_position is None or chat.compacted_at is None:
        return None
    is_fresh_start = force.mode == Compaction.Mode.FRESH
    return DividerView(
        compaction_id=force.pk,
        count=force.through_position + 1 - (_still_sent(chat) if is_fresh_start else 0),
        last_count=force.message_count,
        folded_at=chat.compacted_at,
        tokens_before=force.tokens_before,
        tokens_after=force.tokens_after,
        saved_percent=force.saved_percent,
        before_is_measured=force.before_is_measured,
        mode=force.get_mode_display(),
        trigger_label=force.get_trigger_display(),
        seconds=force.seconds,
        calls=force.calls,
        prompt_tokens=force.prompt_tokens,
        completion_tokens=force.completion_tokens,
        cached_tokens=force.cached_tokens,
        cached_percent=percent(force.cached_tokens, force.prompt_tokens),
        model_name=force.model_name,
        summary_html=render_kept(chat.summary),
        summary_text=chat.summary,
        can_undo=True,
        is_fresh_start=is_fresh_start,
        is_edited=bool(force.model_summary),
        is_stale=bool(stale_segments(chat, force)),
        is_copy=force.is_copy,
        is_rebuilt=force.trigger == Compaction.Trigger.REBUILD,
        values_found=force.values_found,
        values_kept=force.values_kept,
        values_added=force.values_added,
        values_left_out=force.values_left_out,
        values=values_in(chat.summary),
        cost=force.cost,
    )


def _still_sent(chat: Chat) -> int:
    """How many archived messages are pinned, and so go with every request."""
    return chat.messages.on_path().up_to_boundary(chat.compacted_through).filter(pinned=True).count()


@lru_cache(maxsize=256)
def values_in(summary: str) -> tuple[str, ...]:
    """The exact values that a record says, each once, in its order."""
    record = PureMessage(id=0, position=0, role="assistant", content=summary)
    return tuple(value.text for value in find_values((record,)))


def notable_compaction(chat: Chat) -> Compaction | None:
    """The running compaction, or the last one if it isn't in force and nothing was said since (rules I6, K2, K3).

    Of a chat as it stands.
    """
    if chat.last_compaction in {None, Compaction.Status.APPLIED}:
        return None
    last = chat.compactions.without_texts().select_related("to_model").order_by("-pk").first()
    if last is None or last.status == Compaction.Status.APPLIED:
        return None
    if last.status == Compaction.Status.RUNNING or last.ended_at is None:
        return last
    said = chat.messages.filter(role=Message.Role.USER)
    if last.status == Compaction.Status.UNDONE:  # what appeared since has changed since: of that there is an index
        changed = said.filter(revision__gt=chat.fold_revision)
        return None if changed.filter(shown_revision__gt=chat.fold_revision).exists() else last
    newest = said.on_path().reverse().values_list("created_at", flat=True).first()
    return None if newest and newest > last.ended_at else last


def is_resting(chat: Chat, model: LanguageModel | None) -> bool:
    """Whether folding by itself rests (rule D4): three failures of this very model."""
    memory = Memory(**chat.compaction_memory)
    return memory.is_resting and memory.model == (model.name if model else "")


def folds_next(chat: Chat, meter: Meter, model: LanguageModel | None, *, when_idle: bool = False) -> bool:
    """Whether the next message folds earlier turns by itself, or the end of a reply (rule I6, "upcoming").

    Decided as when it comes to it, and read cheaply.
    """
    has_reached = meter.over_idle_trigger if when_idle else meter.over_trigger
    if chat.policy != Chat.Policy.COMPACT or not has_reached or model is None:
        return False
    memory = Memory(**chat.compaction_memory)
    head = chat.messages.on_path().after_boundary(chat.compacted_through).filter(pk=memory.head)
    known = Transcript("", "", tuple(loading.pure_message(row, None) for row in head), model.name)
    return not may_try(memory, meter, known)


def view_meter(meter: Meter) -> MeterView:
    def share(tokens: int) -> int:
        return min(100, round(100 * tokens / meter.window)) if meter.window else 0

    return MeterView(
        used=meter.used,
        trigger=meter.trigger,
        window=meter.window,
        source="measured" if meter.measured else "estimated",
        percent=share(meter.used) if meter.window else None,
        trigger_percent=share(meter.idle_trigger) if meter.window and meter.idle_trigger else None,
        summary_percent_of_window=share(meter.summary),
        state="over" if meter.over_trigger else "near" if meter.near_trigger else "calm",
        has_moved=meter.headroom_moved,
        idle_trigger=meter.idle_trigger,
        system=meter.system,
        summary=meter.summary,
        pinned=meter.pinned,
        live=meter.live,
        pending=meter.pending,
        note=meter.distrusted,
    )
