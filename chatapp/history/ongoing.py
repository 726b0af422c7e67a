"""A compaction while it runs: what it plans, has done and costs so far, and that its process still lives (E9, I2)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from chatapp.history.errors import Fenced
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.texts import storable
from chatapp.models import Compaction
from compaction.planning import Plan
from compaction.transcript import Usage

LEASE = timedelta(seconds=12)


@transaction.atomic
def note_plan(*, compaction_id: int, plan: Plan, model_name: str, **sizes: Any) -> None:
    """What is about to be done, for the page. Raises Fenced."""
    _change_live(
        compaction_id,
        through_id=plan.through.id,
        from_position=plan.archived[0].position,
        through_position=plan.through.position,
        message_count=len(plan.archived),
        model_name=model_name,
        **sizes,
    )


@transaction.atomic
def note_chunks(*, compaction_id: int, keys: tuple[str, ...]) -> tuple[int, str]:
    """In how many calls the archived part is summarised; how many a try before has finished, and what it had then (E9).

    `keys`: of each chunk, as `chained_keys` makes them. Raises Fenced.
    """
    tries = Compaction.objects.filter(chat_id=live_compaction(compaction_id).chat_id, unfinished_key__in=keys)
    left = {keys.index(key) + 1: text for key, text in tries.values_list("unfinished_key", "unfinished_summary")}
    done = max(left, default=0)
    _change_live(compaction_id, chunks_total=len(keys), chunks_done=done)
    return done, left.get(done, "")


@transaction.atomic
def note_call(*, compaction_id: int, usage: Usage | None) -> None:
    """One summary call has ended. Raises Fenced."""
    used = usage or Usage(prompt=0, completion=0)
    _change_live(
        compaction_id,
        calls=F("calls") + 1,
        prompt_tokens=F("prompt_tokens") + used.prompt,
        completion_tokens=F("completion_tokens") + used.completion,
        cached_tokens=F("cached_tokens") + used.cached,
    )


@transaction.atomic
def note_chunk_done(*, compaction_id: int, key: str, summary: str) -> None:
    """`summary`: of all chunks up to the one with that key, for the next try should this one end. Raises Fenced."""
    _change_live(
        compaction_id,
        chunks_done=F("chunks_done") + 1,
        unfinished_key=key,
        unfinished_summary=storable(summary),
    )


def forget_chunks(compactions: QuerySet[Compaction]) -> None:
    """What tries had finished is of no more use, or may speak of what was deleted (rules E9, J2)."""
    compactions.exclude(unfinished_key="").update(unfinished_key="", unfinished_summary="")


def note_cost(*, compaction_id: int, cost: Decimal) -> None:
    """One call more was paid for."""
    Compaction.objects.filter(pk=compaction_id).update(cost=Coalesce(F("cost"), Decimal(0)) + cost)


def keep_alive(compaction_id: int) -> bool:
    """Prolong the lease; True when the person asked for it to be cancelled. Raises Fenced."""
    live = Compaction.objects.live().filter(pk=compaction_id)
    if not live.update(lease_until=timezone.now() + LEASE):
        raise Fenced
    return Compaction.objects.values_list("cancel_requested", flat=True).get(pk=compaction_id)


def live_compaction(compaction_id: int) -> Compaction:
    """Raises Fenced once it has ended or was taken over."""
    compaction = Compaction.objects.live().filter(pk=compaction_id).first()
    if compaction is None:
        raise Fenced
    return compaction


def _change_live(compaction_id: int, **changes: Any) -> None:
    chat = lock_chat(live_compaction(compaction_id).chat_id)
    if not Compaction.objects.live().filter(pk=compaction_id).update(**changes):
        raise Fenced
    number_change(chat)
