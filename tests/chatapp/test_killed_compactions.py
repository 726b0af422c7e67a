"""Dead at every single statement: the database holds the old state or the new one (rule I2), and life goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from chatapp import events
from chatapp.history import (
    chats,
    compactions,
    continuing,
    deleting,
    editing,
    forking,
    loading,
    ongoing,
    paths,
    rebuilding,
    turns,
    wishes,
)
from chatapp.llm import Completion
from chatapp.models import Chat, Compaction, Message, Run
from chatapp.runs import reaper
from compaction.planning import Plan
from compaction.segments import Segment
from tests.chatapp.open_page import OpenPage
from tests.factories import fold, make_chat, make_model
from tests.folding import SUMMARY, WORDS
from tests.inline import Summariser, press_button, work_inline, written

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """No code catches it, as none runs on in a process that was killed."""


class Statements:
    """Lets so many statements through; from then on the process is dead, or that one alone fails."""

    def __init__(self, count: int, ending: type[BaseException]) -> None:
        self.left, self.ending, self.is_over = count, ending, False

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        # What was begun is taken back by the database itself.
        if sql.startswith("ROLLBACK"):
            return execute(sql, *rest)
        self.left -= 1
        if self.left < 0 and not (self.is_over and self.ending is OperationalError):
            self.is_over = True
            raise self.ending
        return execute(sql, *rest)


@contextmanager
def ending_after(count: int, ending: type[BaseException]) -> Iterator[Statements]:
    statements = Statements(count, ending)
    try:
        with connection.execute_wrapper(statements):
            yield statements
    except ending:
        assert statements.is_over


def rows_of(chat: Chat) -> dict[str, Any]:
    """Everything that the database knows of it."""
    return {
        "chat": Chat.objects.filter(pk=chat.pk).values().get(),
        **{
            rows.__name__: list(rows.objects.filter(chat=chat).order_by("pk").values())
            for rows in (Message, Compaction, Run)
        },
    }


@pytest.fixture
def summariser(monkeypatch: pytest.MonkeyPatch) -> Summariser:
    summariser = work_inline(monkeypatch)
    summariser.answer = lambda: written(SUMMARY)
    return summariser


def test_i2_killed_at_every_statement_of_a_compaction_leaves_the_old_state_or_the_new_one(
    summariser: Summariser,
) -> None:
    make_model()
    outcomes: list[str] = []
    states: list[Any] = []
    while "whole" not in outcomes:
        chat = make_chat(None, *[f"{number}: {WORDS}" for number in range(8)], titled_by_hand=True, revision=1)
        before = rows_of(chat)
        with ending_after(len(outcomes), Killed) as statements:
            press_button(chat.pk)
        outcomes.append(check_old_or_new(chat, before) if statements.is_over else "whole")
        if (state := state_of(chat)) not in states:  # most statements change nothing
            states.append(state)
            check_that_life_goes_on(chat, outcomes[-1])
    assert outcomes == sorted(outcomes, key=["old", "new", "whole"].index)
    assert outcomes.count("old") > 20
    assert "new" in outcomes
    assert len(states) > 5


def test_e9_killed_after_two_finished_parts_the_next_try_goes_on_with_the_third(summariser: Summariser) -> None:
    make_model(window=1500)
    chat = make_chat(None, *[f"{number}: {WORDS}" for number in range(32)], titled_by_hand=True)
    with ending_after(10_000, Killed) as statements:

        def third_is_the_last() -> Completion:
            statements.left = 0 if summariser.calls == 3 else statements.left
            return written(SUMMARY)

        summariser.answer = third_is_the_last
        press_button(chat.pk)
    assert chat.compactions.get().status == "running"
    Compaction.objects.live().update(lease_until=timezone.now() - timedelta(seconds=1))
    reaper.reap()
    summariser.answer = lambda: written(SUMMARY)

    second = press_button(chat.pk)

    first = chat.compactions.earliest("pk")
    assert (first.status, first.reason, first.chunks_done) == ("failed", "interrupted", 2)
    assert second.status == "applied"
    assert (second.chunks_done, second.calls) == (second.chunks_total, second.chunks_total - 2)


def state_of(chat: Chat) -> Any:
    """How far its compaction has come."""
    return list(
        chat.compactions.values_list("status", "message_count", "chunks_total", "calls", "chunks_done", "summary")
    )


def check_old_or_new(chat: Chat, before: dict[str, Any]) -> str:
    after = rows_of(chat)
    assert after["Message"] == before["Message"]
    chat.refresh_from_db()
    row = chat.compactions.first()
    if row is None or row.status == "running":
        assert row is None or (row.summary, row.segments, row.ended_at) == ("", [], None)
        changed = {name for name, value in after["chat"].items() if value != before["chat"][name]}
        assert changed <= {"revision"}
        return "old"
    assert row.status == "applied"
    assert chat.record() == {
        "summary": row.summary,
        "compacted_through_id": row.through_id,
        "compacted_at": row.ended_at,
    }
    assert row.summary == row.segments[-1]["text"]
    assert (row.tokens_after > 0, row.calls) == (True, 1)
    return "new"


def check_that_life_goes_on(chat: Chat, outcome: str) -> None:
    page = OpenPage(chat.owner, chat)
    page.catch_up()
    over = timezone.now() - timedelta(seconds=1)
    Compaction.objects.live().update(lease_until=over)
    reaper.reap()
    assert not Compaction.objects.live().exists()
    assert {row.reason for row in chat.compactions.all()} <= ({"interrupted"} if outcome == "old" else {""})
    page.catch_up()
    fresh = OpenPage(chat.owner, chat)
    fresh.catch_up()
    assert page.shown() == fresh.shown()
    for part in ("fold", "compaction", "meter", "run-buttons"):
        assert page.parts.get(part, "") == fresh.parts.get(part, "")
    if outcome == "old":
        assert press_button(chat.pk).status == "applied"
    turn = turns.begin_turn(chat_id=chat.pk, text="Still there?", idempotency_key="", by=events.PROCESS)
    assert turn.run is not None
    turns.finish_turn(run_id=turn.run.pk, attempt=1, status=Message.Status.COMPLETE, content="Yes.", reasoning="")
    assert chat.messages.count() == 10


def begin(chat: Chat, **wishes: Any) -> Compaction:
    return compactions.begin_compaction(chat_id=chat.pk, trigger=Compaction.Trigger.BUTTON, by=events.PROCESS, **wishes)


def begin_planned(chat: Chat, **wishes: Any) -> Compaction:
    compaction = begin(chat, **wishes)
    ongoing.note_plan(compaction_id=compaction.pk, plan=plan_of(chat.messages.on_path()[:2]), model_name="small")
    return compaction


def plan_of(rows: Iterable[Message]) -> Plan:
    archived = tuple(loading.pure_message(row, None) for row in rows)
    return Plan(archived, (), archived[-1], size_before=1000, size_without_summary=100, summary_budget=300)


def apply(chat: Chat, compaction: Compaction) -> None:
    record = Chat.objects.get(pk=chat.pk).record()
    compactions.apply_compaction(
        compaction_id=compaction.pk, segments=(Segment(SUMMARY),), planned_record=record, tokens_after=200
    )


def message(chat: Chat, position: int) -> int:
    return chat.messages.get(active=True, position=position).pk


def send(chat: Chat, _: Any = None) -> turns.Turn:
    return turns.begin_turn(chat_id=chat.pk, text="More", idempotency_key="", by=events.PROCESS)


def finish(chat: Chat, turn: turns.Turn) -> None:
    assert turn.run is not None
    turns.finish_turn(run_id=turn.run.pk, attempt=1, status=Message.Status.COMPLETE, content="Yes.", reasoning="")


def break_off(chat: Chat) -> None:
    chat.messages.filter(position=5).update(status=Message.Status.STOPPED)


def write_again(chat: Chat, _: Any) -> None:
    turns.begin_again(chat_id=chat.pk, reply_id=message(chat, 3), by=events.PROCESS)


def archived_again(chat: Chat) -> None:
    """A path beside the boundary, so that showing the first one brings the record back."""
    fold(chat, through=1)
    turns.begin_again(chat_id=chat.pk, reply_id=message(chat, 1), by=events.PROCESS)
    turns.interrupt_run(Run.objects.get())


def show_folded(chat: Chat, _: Any) -> None:
    paths.show_version(chat_id=chat.pk, message_id=chat.messages.get(active=False, position=1).pk)


def fold_first(chat: Chat) -> Compaction:
    return fold(chat, through=1)


def delete(chat: Chat, _: Any = None) -> None:
    deleting.delete_message(chat_id=chat.pk, message_id=message(chat, 0))


def delete_archived(chat: Chat) -> None:
    fold(chat, through=1)
    delete(chat)


def edit(chat: Chat, _: Any) -> None:
    editing.begin_edited(
        chat_id=chat.pk, message_id=message(chat, 0), text="Better", idempotency_key="", by=events.PROCESS
    )


def begin_rebuild(chat: Chat, _: Any = None) -> Compaction:
    return rebuilding.begin_rebuild(chat_id=chat.pk, by=events.PROCESS, user_id=chat.owner_id)


def planned_rebuild(chat: Chat) -> Compaction:
    delete_archived(chat)
    compaction = begin_rebuild(chat)
    ongoing.note_plan(compaction_id=compaction.pk, plan=plan_of(chat.messages.on_path()[:2]), model_name="small")
    return compaction


def apply_rebuild(chat: Chat, compaction: Compaction) -> None:
    record = Chat.objects.get(pk=chat.pk).record()
    rebuilding.apply_rebuild(compaction_id=compaction.pk, segments=(Segment("Anew."),), planned_record=record)


COMMANDS: dict[str, tuple[Callable[[Chat], Any], Callable[[Chat, Any], Any]]] = {
    "send": (lambda _: None, send),
    "finish": (send, finish),
    "interrupt": (send, lambda _, turn: turns.interrupt_run(turn.run)),
    "write again": (fold_first, write_again),
    "edit": (fold_first, edit),
    "save edit": (
        fold_first,
        lambda chat, _: editing.save_edited(
            chat_id=chat.pk, message_id=message(chat, 2), text="Better", idempotency_key=""
        ),
    ),
    "answer": (
        lambda chat: chat.messages.filter(position__gt=4).delete(),
        lambda chat, _: editing.begin_answer(chat_id=chat.pk, message_id=message(chat, 4), by=events.PROCESS),
    ),
    "go on": (
        break_off,
        lambda chat, _: continuing.begin_continuation(chat_id=chat.pk, reply_id=message(chat, 5), by=events.PROCESS),
    ),
    "show version": (archived_again, show_folded),
    "begin": (lambda _: None, lambda chat, _: begin(chat)),
    "apply": (begin_planned, apply),
    "apply and change model": (lambda chat: begin_planned(chat, to_model=make_model("other")), apply),
    "end": (
        begin_planned,
        lambda _, row: compactions.end_compaction(
            compaction_id=row.pk, ending=compactions.Ending(Compaction.Status.FAILED, "internal")
        ),
    ),
    "undo": (fold_first, lambda chat, row: compactions.undo_compaction(chat_id=chat.pk, compaction_id=row.pk)),
    "edit summary": (
        fold_first,
        lambda chat, row: compactions.edit_summary(chat_id=chat.pk, compaction_id=row.pk, text="By hand."),
    ),
    "begin rebuild": (delete_archived, begin_rebuild),
    "apply rebuild": (planned_rebuild, apply_rebuild),
    "start fresh": (
        lambda _: None,
        lambda chat, _: wishes.start_fresh(chat_id=chat.pk, message_id=message(chat, 4), user_id=chat.owner_id),
    ),
    "pin": (fold_first, lambda chat, _: wishes.pin(chat_id=chat.pk, message_id=message(chat, 0), pinned=True)),
    "policy": (lambda _: None, lambda chat, _: wishes.choose_policy(chat_id=chat.pk, policy=Chat.Policy.WINDOW)),
    "model": (lambda _: make_model("other"), lambda chat, model: chats.choose_model(chat_id=chat.pk, model=model)),
    "delete": (fold_first, delete),
    "restore": (
        delete_archived,
        lambda chat, _: deleting.restore_message(chat_id=chat.pk, message_id=message(chat, 0)),
    ),
    "delete chat": (fold_first, lambda chat, _: chats.delete_chat(chat_id=chat.pk)),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_i1_a_command_that_fails_at_any_statement_changes_nothing(name: str) -> None:
    prepare, command = COMMANDS[name]
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.", "And?", "That.", model=make_model())
    prepared = prepare(chat)
    before = rows_of(chat)
    failures = 0
    while True:
        with ending_after(failures, OperationalError) as statements:
            command(chat, prepared)
        if not statements.is_over:
            break
        failures += 1
        assert rows_of(chat) == before
    assert failures >= 2
    assert not Chat.objects.exists() or rows_of(chat) != before


@pytest.mark.parametrize("position", [0, 1])
def test_j3_a_fork_that_fails_at_any_statement_leaves_no_chat_behind(position: int) -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.")
    fold(chat, through=1)
    failures = 0
    while True:
        with ending_after(failures, OperationalError) as statements:
            forking.fork(chat_id=chat.pk, message_id=message(chat, position))
        if not statements.is_over:
            break
        failures += 1
        assert list(Chat.objects.all()) == [chat]
        assert Message.objects.count() == 4
    assert failures >= 3
    assert Chat.objects.count() == 2
