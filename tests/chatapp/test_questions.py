"""What is asked of the database: by an index, of no more rows than are shown, and never for a text that isn't.

On PostgreSQL the questions of the bench (bench/questions.py) are asked of 5,000 messages, and each plan is looked at.
So few would often be read whole; with such reading made dear, a plan shows whether an index answers at all.
"""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from bench import millions
from bench.questions import cases_of
from chatapp import presenting, sign_ins
from chatapp.history import boundary, deleting, locking, paths, turns
from chatapp.models import Chat, SignIn
from chatapp.presenting.fold import notable_compaction
from tests.factories import fold, make_chat, make_user
from tests.plans import explained
from tests.visiting import BACKEND

# Each is what the named question is answered by; without it the question looks at all that a chat or person has.
ANSWERED_BY = {
    "page of a chat: longest": {"message_one_active_path", "message_measured", "message_deleted_in_chat",
                                "compaction_in_force"},
    "page without a chat, ten thousand in the list": {"chat_by_day"},
    "a new chat by one who has ten thousand": {"message_sent_once"},
    "a draft of one who has ten thousand chats": {"chat_owner_touched"},
    "its first messages": {"message_first"},
    "what is to be erased": {"message_deleted", "file_created"},
    "temporary chats whose time is over": {"chat_expires"},
    "looks for dead runs": {"run_status_lease"},
}  # fmt: skip


@pytest.mark.skipif(connection.vendor != "postgresql", reason="its plans")
@pytest.mark.django_db(transaction=True)
def test_no_question_looks_at_more_than_it_gives() -> None:
    millions.make_sentences()
    crowd = millions.fill(5_000, longest=2_000, listed=1_200)
    complaints, missing = [], {}
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off")
    try:
        for case in cases_of(crowd):
            with explained() as asked:
                case.work()
            for each in asked if not case.by_nature else ():
                complaints += [f"{case.name}: {what}: {each}" for what in each.complaints(large=millions.LARGE)]
            used = {name for each in asked for name in each.indexes}
            if lacking := ANSWERED_BY.get(case.name, set()) - used:
                missing[case.name] = lacking
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET enable_seqscan = on")
    assert complaints == []
    assert missing == {}


def texts_asked_for(asked: CaptureQueriesContext) -> list[str]:
    """Columns of messages' texts that were selected, with their statements."""
    long = re.compile(r'SELECT (?:(?! FROM ).)*"(content|reasoning|segments|model_summary|unfinished_summary)"')
    return [each["sql"] for each in asked.captured_queries if long.search(each["sql"])]


@pytest.fixture
def folded() -> Chat:
    chat = make_chat(make_user("alice"), *(f"Text {n}" for n in range(8)))
    fold(chat, through=3)
    return chat


@pytest.mark.django_db
def test_list_lock_and_divider_read_no_text_of_a_message(folded: Chat) -> None:
    with CaptureQueriesContext(connection) as asked:
        presenting.read_sidebar(folded.owner)
        chat = locking.lock_chat(folded.pk)
        notable_compaction(Chat.objects.as_it_stands().get(pk=folded.pk))
        assert chat.compacted_through
        assert chat.compacted_through.position == 3
    assert texts_asked_for(asked) == []


@pytest.mark.django_db
def test_a_send_reads_no_text_of_what_was_said(folded: Chat) -> None:
    with CaptureQueriesContext(connection) as asked:
        turns.begin_turn(chat_id=folded.pk, text="And then?", idempotency_key="", by="test")
    assert texts_asked_for(asked) == []


@pytest.mark.django_db
def test_record_in_force_is_read_without_its_boundarys_text(folded: Chat) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert boundary.compaction_in_force(folded)
    assert not any('"content"' in each["sql"] for each in asked.captured_queries)


@pytest.mark.django_db
def test_another_version_writes_what_leaves_the_path_and_what_comes_onto_it_alone() -> None:
    chat = make_chat(make_user(), *(f"Text {n}" for n in range(20)))
    turns.begin_again(chat_id=chat.pk, reply_id=chat.messages.get(position=19).pk, by="test")
    chat.runs.update(status="complete")
    former = chat.messages.get(position=19, active=False)
    with CaptureQueriesContext(connection) as asked:
        paths.show_version(chat_id=chat.pk, message_id=former.pk)
    changes = [each["sql"] for each in asked.captured_queries if each["sql"].startswith('UPDATE "chatapp_message"')]
    assert len(changes) == 2
    assert all(re.search(r"IN \(\d+\)", sql) for sql in changes)
    assert [row.position for row in chat.messages.on_path()] == list(range(20))
    assert chat.messages.get(position=19, active=True) == former


@pytest.mark.django_db
def test_later_looks_erase_what_became_due_within_a_day() -> None:
    new, old = (make_chat(None, "Hello", "Hi") for _ in range(2))
    for chat, age in ((new, timedelta(hours=2)), (old, timedelta(days=3))):
        chat.messages.filter(position=1).update(deleted_at=timezone.now() - age)

    assert deleting.erase_deleted(due_within=timedelta(days=1)) == [new.pk]
    assert deleting.erase_deleted(due_within=timedelta(days=1)) == []
    assert deleting.erase_deleted() == [old.pk]


@pytest.mark.django_db
def test_a_row_goes_with_its_session(client: object) -> None:
    """Not by “not in”, which PostgreSQL answers by comparing each with each where there are many."""
    alice = make_user("alice")
    client.force_login(alice, backend=BACKEND)  # type: ignore[attr-defined]
    living = client.session.session_key  # type: ignore[attr-defined]
    for key in (living, "gone"):
        SignIn.objects.create(user=alice, session_key=key)
    with CaptureQueriesContext(connection) as asked:
        sign_ins.forget_ended()
    assert [row.session_key for row in SignIn.objects.all()] == [living]
    assert not any("NOT (" in each["sql"] and " IN (SELECT" in each["sql"] for each in asked.captured_queries)
