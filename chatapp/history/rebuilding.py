"""A record rebuilt after a deletion, as recorded: begun, and applied with the stale text gone everywhere (rule J2)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from chatapp.history.boundary import compaction_in_force, segments_of
from chatapp.history.compactions import apply_compaction, begin_compaction
from chatapp.history.errors import NotPossible
from chatapp.history.loading import archived_messages
from chatapp.history.locking import lock_chat
from chatapp.history.sizes import outdate_record
from chatapp.history.staleness import stale_compactions, stale_segments
from chatapp.models import Chat, Compaction
from chatapp.models.compactions import CompactionQuerySet
from compaction.segments import Segment
from compaction.transcript import Message


@transaction.atomic
def begin_rebuild(*, chat_id: UUID, by: str, user_id: int) -> Compaction:
    """Raises ChatBusy as `begin_compaction` does, NotPossible where no segment in force is stale."""
    chat = lock_chat(chat_id)
    if not stale_segments(chat, compaction_in_force(chat)):
        raise NotPossible("nothing_stale")
    return begin_compaction(chat_id=chat_id, trigger=Compaction.Trigger.REBUILD, by=by, user_id=user_id)


def covered_by_stale(chat: Chat) -> dict[Segment, tuple[Message, ...]]:
    """The stale segments of the record in force, in order, each with the archived messages that it stands for."""
    return {
        segment: archived_messages(chat, since=segment.from_position, through=segment.through_position)
        for segment in stale_segments(chat, compaction_in_force(chat))
    }


@transaction.atomic
def apply_rebuild(
    *, compaction_id: int, segments: tuple[Segment, ...], planned_record: dict[str, Any], **facts: Any
) -> Compaction:
    """Another record at the same boundary; every earlier compaction that still holds a stale text loses it.

    Those are undone with it, so that no Undo brings the text back. Raises Fenced as `apply_compaction` does.
    """
    rebuilt = apply_compaction(compaction_id=compaction_id, segments=segments, planned_record=planned_record, **facts)
    chat = rebuilt.chat
    others = chat.compactions.exclude(pk=rebuilt.pk)
    before = others.applied().filter(through_id=rebuilt.through_id).order_by("-pk").first()
    if before and segments and segments[-1:] == segments_of(before)[-1:]:  # what a person made of it stays theirs
        chat.compactions.filter(pk=rebuilt.pk).update(model_summary=before.model_summary)
    stale = others.filter(pk__in=stale_compactions(chat))
    _note_replaced(rebuilt, stale.applied())
    stale.applied().update(status=Compaction.Status.UNDONE)
    stale.update(summary="", segments=[], model_summary="", values_left_out=[])
    outdate_record(chat)
    return rebuilt


def _note_replaced(rebuilt: Compaction, stale: CompactionQuerySet) -> None:
    """By which rebuild the folds of its path live on, those included that an earlier rebuild had replaced."""
    replaced = list(stale.filter(through__active=True).values_list("pk", flat=True))
    of_chat = Compaction.objects.filter(chat_id=rebuilt.chat_id)
    of_chat.filter(Q(pk__in=replaced) | Q(rebuilt_by__in=replaced)).update(rebuilt_by=rebuilt)
