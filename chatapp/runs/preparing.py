"""What a reply is written from: the chat as it is, its size, and the request; read in one hop to a worker thread."""

from __future__ import annotations

from dataclasses import dataclass, replace

from chatapp import compacting
from chatapp.database import patiently
from chatapp.history import loading
from chatapp.models import Compaction, Message
from chatapp.runs.live import LiveRun
from compaction.budget import Meter
from compaction.request import RequestMessage, assemble
from compaction.resuming import asking_to_go_on, with_partial
from compaction.tokens import estimate_request


@dataclass(frozen=True, slots=True)
class Prepared:
    """A chat as it is, its size, and the request that would go out now; `left_out`: ids of what isn't in it whole."""

    situation: loading.Situation
    meter: Meter
    request: tuple[RequestMessage, ...]
    estimated_tokens: int
    left_out: tuple[int, ...]


async def prepare(live: LiveRun) -> Prepared:
    """Once no compaction of the chat is live: what is sent is read after it."""
    while (prepared := await patiently(_read_prepared, live)) is None:
        await compacting.wait_for_end(live.chat_id)
    return prepared


def _read_prepared(live: LiveRun) -> Prepared | None:
    """In one hop to a worker thread: counting a long chat takes time, and the loop writes other replies."""
    situation = _read_already(live)
    if situation is None and Compaction.objects.live().filter(chat_id=live.chat_id).exists():
        return None
    situation = situation or loading.load_situation(live.chat_id, before_reply=live.reply_id, to_send=True)
    if live.continued:
        partial = loading.pure_message(live.continued, situation.chat.compacted_through)
        situation = replace(situation, transcript=with_partial(situation.transcript, partial))
    return prepared_of(situation, loading.unread_ids(situation))


def _read_already(live: LiveRun) -> loading.Situation | None:
    """From what the run's own command has read, once; None where all has to be read anew.

    A reply that needn't wait was begun while no compaction was live, behind the chat's lock, and none but the run's own
    begins until it ends (rules I2, I3).
    """
    turn, read, live.begun, live.read = live.begun, live.read, None, None
    if not (turn and turn.run and read) or turn.run.reply.status != Message.Status.STREAMING:
        return None
    return loading.situation_of(turn.chat, read.site, read.model, before=turn.run.reply.position, to_send=True)


def prepared_of(situation: loading.Situation, left_out: tuple[int, ...] = ()) -> Prepared:
    sent = situation.to_send()
    request = asking_to_go_on(assemble(sent.transcript, no_system_role=situation.no_system_role))
    all_left_out = (*left_out, *sent.dropped, *sent.shortened)
    return Prepared(situation, situation.meter(), request, estimate_request(request), all_left_out)
