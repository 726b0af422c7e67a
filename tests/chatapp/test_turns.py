"""A turn in the database: begun once, fenced, finished, taken over, written again beside what was there."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from chatapp import events
from chatapp.history import paths, turns
from chatapp.history.errors import ChatBusy, Fenced, NotPossible
from chatapp.models import Chat, Message, Run
from chatapp.runs import reaper
from tests.factories import fold, make_chat

pytestmark = pytest.mark.django_db


def begin(chat: Chat, text: str = "Hello", key: str = "") -> turns.Turn:
    return turns.begin_turn(chat_id=chat.pk, text=text, idempotency_key=key, by=events.PROCESS)


def finish(run: Run, text: str = "Hi.", status: Message.Status = Message.Status.COMPLETE, **facts: object) -> Message:
    return turns.finish_turn(run_id=run.pk, attempt=run.attempt, status=status, content=text, reasoning="", **facts)


def path_of(chat: Chat) -> list[str]:
    return [message.content for message in chat.messages.on_path()]


def test_begin_turn_stores_message_placeholder_and_run_together() -> None:
    chat = make_chat()

    turn = begin(chat, "Hello")

    assert [(m.role, m.status, m.content) for m in chat.messages.on_path()] == [
        ("user", "complete", "Hello"),
        ("assistant", "streaming", ""),
    ]
    assert turn.run is not None
    assert turn.run.reply.parent == turn.message


def test_begin_turn_with_the_same_key_is_one_message() -> None:
    chat = make_chat()
    first = begin(chat, key="k")

    again = begin(chat, key="k")

    assert again.message == first.message
    assert again.run is None
    assert chat.messages.count() == 2


def test_start_chat_with_the_same_key_is_one_chat() -> None:
    owner = make_chat().owner
    facts = {"owner_id": owner.pk, "text": "Hi", "model": None, "system_prompt": "", "by": events.PROCESS}

    first = turns.start_chat(idempotency_key="k", **facts)
    again = turns.start_chat(idempotency_key="k", **facts)

    assert again.chat == first.chat
    assert again.run is None


def test_begin_turn_while_a_run_is_live_is_refused_and_stores_nothing() -> None:
    chat = make_chat()
    begin(chat, "one")

    with pytest.raises(ChatBusy, match="run_live"):
        begin(chat, "two")

    assert path_of(chat) == ["one", ""]


def test_second_live_run_is_impossible_in_the_database_itself() -> None:
    chat = make_chat()
    run = begin(chat).run
    assert run is not None

    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.create(chat=chat, reply=run.reply, owner="another", lease_until=timezone.now())


def test_two_active_messages_at_one_position_are_impossible_in_the_database_itself() -> None:
    chat = make_chat(None, "Hello", "Hi.")

    with pytest.raises(IntegrityError), transaction.atomic():
        Message.objects.create(chat=chat, position=1, role="assistant", content="Another")


def test_finish_turn_closes_run_and_reply_together() -> None:
    run = begin(make_chat()).run
    assert run is not None

    reply = finish(run, "Hi.", prompt_tokens=7)

    run.refresh_from_db()
    assert (reply.status, reply.content, reply.prompt_tokens, run.status) == ("complete", "Hi.", 7, "complete")


def test_a_late_writer_changes_nothing_once_its_run_was_taken_over() -> None:
    run = begin(make_chat()).run
    assert run is not None
    turns.save_partial(run_id=run.pk, attempt=1, content="So f", reasoning="")
    assert turns.interrupt_run(run)

    with pytest.raises(Fenced):
        turns.save_partial(run_id=run.pk, attempt=1, content="So far", reasoning="")
    with pytest.raises(Fenced):
        finish(run, "So far and to the end.")

    run.reply.refresh_from_db()
    assert (run.reply.content, run.reply.status, run.reply.failure) == ("So f", "interrupted", "interrupted")


def test_save_partial_tells_of_a_stop_asked_for_elsewhere() -> None:
    chat = make_chat()
    run = begin(chat).run
    assert run is not None
    turns.request_stop(chat_id=chat.pk)

    assert turns.save_partial(run_id=run.pk, attempt=1, content="", reasoning="")


def test_reaper_takes_over_a_run_whose_lease_is_over() -> None:
    chat = make_chat()
    run = begin(chat).run
    assert run is not None
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    assert reaper.reap() == [(chat.pk, chat.owner_id)]
    assert begin(chat, "Are you there?").run is not None


def test_reaper_takes_over_at_once_what_a_dead_process_of_this_host_owned() -> None:
    chat = make_chat()
    begin(chat)
    host, _, _ = events.PROCESS.split(":")
    Run.objects.update(owner=f"{host}:999999999:abc")

    assert reaper.reap() == [(chat.pk, chat.owner_id)]


def test_reaper_leaves_a_living_run_alone() -> None:
    begin(make_chat())

    assert reaper.reap() == []


def test_begin_again_adds_a_sibling_and_overwrites_nothing() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    reply = chat.messages.get(position=1)

    turn = turns.begin_again(chat_id=chat.pk, reply_id=reply.pk, by=events.PROCESS)
    assert turn.run is not None
    finish(turn.run, "Good day.")

    assert path_of(chat) == ["Hello", "Good day."]
    assert set(chat.messages.values_list("content", flat=True)) == {"Hello", "Hi.", "Good day."}


@pytest.mark.parametrize("position", [0, 99])
def test_begin_again_at_what_is_no_reply_is_refused(position: int) -> None:
    chat = make_chat(None, "Hello", "Hi.")
    message = chat.messages.filter(position=position).first()

    with pytest.raises(NotPossible):
        turns.begin_again(chat_id=chat.pk, reply_id=message.pk if message else 10**9, by=events.PROCESS)


def test_begin_again_with_a_reply_of_another_chat_is_refused() -> None:
    mine, other = make_chat(None, "Hello", "Hi."), make_chat(None, "Secret", "Yes.")

    with pytest.raises(NotPossible):
        turns.begin_again(chat_id=mine.pk, reply_id=other.messages.get(position=1).pk, by=events.PROCESS)


def test_every_path_from_root_to_leaf_can_be_shown() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    first = chat.messages.get(position=1)
    turn = turns.begin_again(chat_id=chat.pk, reply_id=first.pk, by=events.PROCESS)
    assert turn.run is not None
    finish(turn.run, "Good day.")

    paths.show_version(chat_id=chat.pk, message_id=first.pk)
    assert path_of(chat) == ["Hello", "Hi.", "More", "Here."]

    paths.show_version(chat_id=chat.pk, message_id=turn.run.reply_id)
    assert path_of(chat) == ["Hello", "Good day."]


def test_j1_boundary_counts_on_its_path_only_and_comes_back_with_it() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.", "And?", "That.")
    fold(chat, through=3, summary="They greeted.")
    early = chat.messages.get(position=1)

    turn = turns.begin_again(chat_id=chat.pk, reply_id=early.pk, by=events.PROCESS)
    assert turn.run is not None
    chat.refresh_from_db()
    assert (chat.summary, chat.compacted_through_id, chat.compacted_at) == ("", None, None)

    finish(turn.run, "Good day.")
    paths.show_version(chat_id=chat.pk, message_id=early.pk)
    chat.refresh_from_db()
    assert chat.summary == "They greeted."


def test_j1_regenerating_after_the_boundary_changes_nothing_of_it() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    fold(chat, through=1, summary="They greeted.")

    turns.begin_again(chat_id=chat.pk, reply_id=chat.messages.get(position=3).pk, by=events.PROCESS)

    chat.refresh_from_db()
    assert chat.summary == "They greeted."


def test_summary_without_boundary_is_impossible_in_the_database_itself() -> None:
    chat = make_chat()

    with pytest.raises(IntegrityError), transaction.atomic():
        Chat.objects.filter(pk=chat.pk).update(summary="Words without a boundary")


@pytest.mark.parametrize(
    ("typed", "stored"),
    [("a\0b", "a\ufffdb"), ("\ud83d\ude00", "😀"), ("lone \ud800", "lone \ufffd"), ("שלום عالم", "שלום عالم")],
)
def test_any_text_can_be_stored(typed: str, stored: str) -> None:
    turn = begin(make_chat(), typed)

    turn.message.refresh_from_db()
    assert turn.message.content == stored


def test_deleting_a_folded_chat_or_its_owner_works() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    fold(chat, through=1)

    chat.owner.delete()

    assert not Chat.objects.exists()
    assert not Message.objects.exists()
