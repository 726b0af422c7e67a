"""Compactions as recorded: one at a time, all or nothing, taken back to the byte (rules I1, I2, I4, J1)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from chatapp import events
from chatapp.history import compactions, loading, metering, ongoing, turns
from chatapp.history.errors import ChatBusy, Fenced, NotPossible
from chatapp.models import Chat, Compaction
from chatapp.runs import reaper
from compaction.planning import Plan
from compaction.request import as_payload, assemble
from compaction.segments import Segment
from tests.factories import add_messages, fold, make_chat

pytestmark = pytest.mark.django_db
BUTTON = Compaction.Trigger.BUTTON


def begin(chat: Chat) -> Compaction:
    return compactions.begin_compaction(chat_id=chat.pk, trigger=BUTTON, by=events.PROCESS)


def note_plan(chat: Chat, compaction: Compaction, *, through: int) -> None:
    transcript = loading.load_situation(chat.pk).transcript
    archived = tuple(message for message in transcript.messages if message.position <= through)
    plan = Plan(
        archived=archived,
        kept=transcript.messages[len(archived) :],
        through=archived[-1],
        size_before=1000,
        size_without_summary=100,
        summary_budget=300,
    )
    ongoing.note_plan(compaction_id=compaction.pk, plan=plan, model_name="small", tokens_before=1000)


def apply(chat: Chat, compaction: Compaction, summary: str = "They greeted.") -> Compaction:
    record = Chat.objects.get(pk=chat.pk).record()
    return compactions.apply_compaction(
        compaction_id=compaction.pk, segments=(Segment(summary),), planned_record=record, tokens_after=200
    )


def request_of(chat: Chat) -> list[dict]:
    return as_payload(assemble(loading.load_situation(chat.pk).transcript))


def test_i1_summary_boundary_and_time_come_with_the_row_that_explains_them() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    compaction = begin(chat)
    note_plan(chat, compaction, through=1)

    applied = apply(chat, compaction)

    chat.refresh_from_db()
    assert (chat.summary, chat.compacted_through, chat.compacted_at) == (
        "They greeted.",
        chat.messages.get(position=1),
        applied.ended_at,
    )
    assert (applied.status, applied.message_count, applied.saved_percent) == ("applied", 2, 80)


def test_i1_nothing_is_applied_when_the_boundary_moved_meanwhile() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    compaction = begin(chat)
    note_plan(chat, compaction, through=1)
    planned = chat.record()
    fold(chat, through=1, summary="Someone else's.")

    with pytest.raises(Fenced):
        compactions.apply_compaction(
            compaction_id=compaction.pk, segments=(Segment("Mine."),), planned_record=planned, tokens_after=1
        )

    chat.refresh_from_db()
    assert chat.summary == "Someone else's."


def test_i1_nothing_is_applied_when_the_path_was_changed_meanwhile() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    compaction = begin(chat)
    note_plan(chat, compaction, through=1)
    turns.begin_again(chat_id=chat.pk, reply_id=chat.messages.get(position=1).pk, by=events.PROCESS)

    with pytest.raises(Fenced):
        apply(chat, compaction)

    chat.refresh_from_db()
    assert chat.summary == ""


def test_i1_nothing_is_applied_once_it_was_cancelled() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    compaction = begin(chat)
    note_plan(chat, compaction, through=1)
    compactions.request_cancel(chat_id=chat.pk, compaction_id=compaction.pk)

    with pytest.raises(Fenced):
        apply(chat, compaction)


def test_i2_second_live_compaction_is_refused() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    begin(chat)

    with pytest.raises(ChatBusy, match="already_running"):
        begin(chat)


def test_i2_second_live_compaction_is_impossible_in_the_database_itself() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    begin(chat)

    with pytest.raises(IntegrityError), transaction.atomic():
        Compaction.objects.create(chat=chat, trigger=BUTTON)


@pytest.mark.django_db(transaction=True)
def test_i2_thirty_at_once_are_exactly_one() -> None:
    chat = make_chat(None, "Hello", "Hi.")

    def press(_: int) -> str:
        try:
            return begin(chat).status
        except ChatBusy as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(30) as people:
        answers = list(people.map(press, range(30)))

    assert sorted(answers) == ["already_running"] * 29 + ["running"]


@pytest.mark.django_db(transaction=True)
def test_thirty_sends_at_once_are_exactly_one_turn() -> None:
    chat = make_chat()

    def send(number: int) -> str:
        try:
            turns.begin_turn(chat_id=chat.pk, text=f"number {number}", idempotency_key="", by=events.PROCESS)
        except ChatBusy as refused:
            return refused.code
        finally:
            connection.close()
        return "taken"

    with ThreadPoolExecutor(30) as people:
        answers = list(people.map(send, range(30)))

    assert sorted(answers) == ["run_live"] * 29 + ["taken"]
    assert chat.messages.count() == 2


@pytest.mark.django_db(transaction=True)
def test_i2_i3_thirty_presses_and_sends_at_once_are_one_turn_and_at_most_one_compaction() -> None:
    chat = make_chat(None, "Hello", "Hi.")

    def do(number: int) -> str:
        try:
            if number % 2:
                begin(chat)
                return "compacting"
            turns.begin_turn(chat_id=chat.pk, text=f"number {number}", idempotency_key="", by=events.PROCESS)
        except ChatBusy as refused:
            return refused.code
        finally:
            connection.close()
        return "taken"

    with ThreadPoolExecutor(30) as people:
        answers = list(people.map(do, range(30)))

    # Whichever was first: a message waits behind a compaction, a compaction is refused while a reply is written.
    compacting = answers.count("compacting")
    assert (answers.count("taken"), compacting) in {(1, 1), (1, 0)}
    assert set(answers) <= {"taken", "compacting", "run_live", "already_running"}
    assert chat.messages.count() == 4
    assert chat.runs.count() == 1
    assert chat.compactions.count() == compacting
    assert chat.messages.get(position=3).status == ("queued" if compacting else "streaming")


def test_i3_a_message_sent_meanwhile_is_stored_and_queued() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    compaction = begin(chat)
    note_plan(chat, compaction, through=1)

    turn = turns.begin_turn(chat_id=chat.pk, text="Meanwhile", idempotency_key="", by=events.PROCESS)
    apply(chat, compaction)

    assert turn.run is not None
    assert turn.run.reply.status == "queued"
    assert request_of(chat)[-1] == {"role": "user", "content": "Meanwhile"}


def test_button_is_refused_while_a_run_is_live() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    turns.begin_turn(chat_id=chat.pk, text="More", idempotency_key="", by=events.PROCESS)

    with pytest.raises(ChatBusy, match="run_live"):
        begin(chat)


def test_i4_undo_restores_the_next_request_to_the_byte() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.", system_prompt="Be kind.")
    before = request_of(chat)
    compaction = fold(chat, through=1)
    assert request_of(chat) != before

    compactions.undo_compaction(chat_id=chat.pk, compaction_id=compaction.pk)

    assert request_of(chat) == before


def test_i4_undo_of_the_second_brings_back_the_first() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    fold(chat, through=1, summary="First.")
    before = request_of(chat)
    second = fold(chat, through=3, summary="Second.")

    compactions.undo_compaction(chat_id=chat.pk, compaction_id=second.pk)

    chat.refresh_from_db()
    assert chat.summary == "First."
    assert request_of(chat) == before


def test_i4_only_the_compaction_in_force_can_be_undone() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    first = fold(chat, through=1, summary="First.")
    fold(chat, through=3, summary="Second.")

    with pytest.raises(NotPossible):
        compactions.undo_compaction(chat_id=chat.pk, compaction_id=first.pk)


def test_undo_of_another_chats_compaction_is_refused() -> None:
    mine = make_chat(None, "Hello", "Hi.", "More", "Here.")
    other = fold(make_chat(None, "Secret", "Yes.", "More", "Here."), through=1)

    with pytest.raises(NotPossible):
        compactions.undo_compaction(chat_id=mine.pk, compaction_id=other.pk)


def test_promise_1_a_compaction_changes_no_message_row() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    before = list(chat.messages.values())
    compaction = begin(chat)
    note_plan(chat, compaction, through=1)
    applied = apply(chat, compaction)

    compactions.undo_compaction(chat_id=chat.pk, compaction_id=applied.pk)

    assert list(chat.messages.values()) == before


def test_g4_no_archived_message_is_in_the_request() -> None:
    chat = make_chat(None, "archived one", "archived two", "live", "here")
    fold(chat, through=1, summary="A record.")

    sent = str(request_of(chat))

    assert "archived" not in sent
    assert "A record." in sent


def test_reaper_fails_a_compaction_whose_owner_is_dead() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    compaction = begin(chat)
    Compaction.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    assert reaper.reap() == [(chat.pk, chat.owner_id)]

    compaction.refresh_from_db()
    assert (compaction.status, compaction.reason) == ("failed", "interrupted")
    assert begin(chat).status == "running"


def test_a2_usage_from_before_the_boundary_is_not_the_chats_size() -> None:
    chat = make_chat()
    add_messages(chat, "Hello", "Hi.", "More", "Here.", prompt_tokens=900, completion_tokens=9, model_name="")
    assert loading.load_situation(chat.pk).meter().used == 909

    fold(chat, through=1)

    meter = loading.load_situation(chat.pk).meter()
    assert meter.used < 200
    assert not meter.measured


def test_a7_meter_read_from_the_newest_usage_is_the_same_figure() -> None:
    chat = make_chat(None, "Some words to begin with", "An answer.")
    add_messages(chat, "More", "Here.", prompt_tokens=70, completion_tokens=5, model_name="")
    add_messages(chat, "And a last word")
    situation = loading.load_situation(chat.pk)

    for pending in ("", "typing"):
        whole = situation.meter(pending_text=pending)
        quick = metering.load_meter(situation.chat, situation.site, None, pending_text=pending)
        assert (quick.used, quick.trigger, quick.measured) == (whole.used, whole.trigger, whole.measured)
