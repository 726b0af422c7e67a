"""The database is away, or its disk full: 503 and a sentence meanwhile; what was typed or written waits for it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import InterfaceError, OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from chatapp import leases, presenting
from chatapp.database import in_database, patiently
from chatapp.history import chats, turns
from chatapp.models import Chat, Message, Run
from chatapp.runs import reaper
from tests.factories import make_chat, make_model
from tests.people import PASSWORD, make_user, signed_in
from tests.scripted import ScriptedEndpoint
from tests.visiting import Visitor

pytestmark = pytest.mark.django_db(transaction=True)


def gone(*_: Any) -> None:
    raise OperationalError("server closed the connection unexpectedly")


@contextmanager
def away() -> Iterator[None]:
    """No statement of this thread reaches the database."""
    with connection.execute_wrapper(gone):
        yield


@pytest.fixture
def alice() -> User:
    return make_user("alice")


@pytest.fixture
def page(alice: User) -> Client:
    client = signed_in(alice)
    client.raise_request_exception = False
    return client


def test_page_says_so_and_asks_again_by_itself(page: Client, caplog: pytest.LogCaptureFixture) -> None:
    with away():
        answer = page.get("/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "can’t get at its database at the moment" in answer.content.decode()
    assert '<meta http-equiv="refresh" content="5">' in answer.content.decode()
    assert answer["X-Request-ID"]
    assert not [record for record in caplog.records if record.exc_info]


def test_script_is_answered_with_a_sentence(page: Client, alice: User) -> None:
    chat = make_chat(alice)

    with away():
        answer = page.post(f"/chats/{chat.pk}/send/", {"text": "Hello"}, headers={"HX-Request": "true"})

    assert answer.status_code == 503
    assert answer.content.decode() == "Foldline can’t get at its database at the moment. Try again in a few seconds."


def test_text_of_a_plain_form_is_on_the_page_and_is_sent_again_under_its_key(page: Client, alice: User) -> None:
    chat = make_chat(alice, model=make_model())
    sent = {"text": "\nWith <b> & more", "idempotency_key": "key1", "file": []}

    with away():
        html = page.post(f"/chats/{chat.pk}/send/", sent).content.decode()

    assert "\n\nWith &lt;b&gt; &amp; more</textarea>" in html
    assert '<input type="hidden" name="idempotency_key" value="key1">' in html
    assert "http-equiv" not in html


def test_files_of_a_plain_form_are_to_be_chosen_again(page: Client, alice: User) -> None:
    address = f"/chats/{make_chat(alice, model=make_model()).pk}/send/"
    with away():
        without = page.post(address, {"text": "Look"}).content.decode()
        html = page.post(address, {"text": "Look", "upload": SimpleUploadedFile("a.txt", b"A")}).content.decode()

    assert "chosen again" in html
    assert '<form method="post" enctype="multipart/form-data">' in html
    assert 'name="upload" multiple' in html
    assert "chosen again" not in without


def test_no_password_is_on_the_page(page: Client) -> None:
    with away():
        answer = page.post("/accounts/login/", {"login": "alice", "password": PASSWORD})

    assert answer.status_code == 503
    assert PASSWORD not in answer.content.decode()
    assert "Go back and try again." in answer.content.decode()


def test_another_fault_is_one(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presenting, "empty_page", lambda: 1 / 0)

    answer = page.get("/")

    assert answer.status_code == 500
    assert "Something went wrong" in answer.content.decode()


def test_chat_can_be_read_where_nothing_can_be_written(page: Client, alice: User, monkeypatch: Any) -> None:
    chat = make_chat(alice, "Hello", "Hi there.")

    def full(_: Chat) -> bool:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(chats, "mark_read", full)

    assert "Hi there." in page.get(f"/chats/{chat.pk}/").content.decode()


async def test_what_nobody_would_do_again_waits_for_the_database() -> None:
    failures: list[Exception] = [OperationalError("gone"), InterfaceError("connection already closed")]

    def write(text: str) -> str:
        if failures:
            raise failures.pop()
        return text

    assert await patiently(write, "all of it") == "all of it"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's lock ends with its process alone")
async def test_transaction_of_a_process_that_stood_still_is_ended_and_made_anew() -> None:
    """Stopped in the middle of one, it would keep a chat locked for everybody; when it wakes, it does it again."""
    chat_id = (await in_database(make_chat)).pk
    limits = []

    @transaction.atomic
    def write() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW idle_in_transaction_session_timeout")
            limits.append(cursor.fetchone()[0])
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '100ms'")
        title = Chat.objects.select_for_update().get(pk=chat_id).title
        if len(limits) == 1:
            time.sleep(0.5)
        Chat.objects.update(title="Written")
        return title

    assert await patiently(write) != "Written"
    assert limits == ["20s", "20s"]  # a connection of its own, as the first is gone
    assert (await in_database(Chat.objects.get)).title == "Written"


async def test_socket_whose_database_is_gone_is_closed_so_that_its_page_comes_back(monkeypatch: Any) -> None:
    async with ScriptedEndpoint() as endpoint:
        alice = await Visitor.arrive(endpoint, "alice")
        chat = await in_database(make_chat, alice.user, "Hello", "Hi.")
        async with alice.socket(chat) as page:
            monkeypatch.setattr(presenting, "read_changes", gone)
            await page.acknowledge(seen=0, resync=True)

            closed = await page.communicator.receive_output(10)
    assert (closed["type"], closed["code"]) == ("websocket.close", 4503)


async def test_socket_that_opens_meanwhile_is_turned_away_without_a_traceback(monkeypatch: Any) -> None:
    async with ScriptedEndpoint() as endpoint:
        alice = await Visitor.arrive(endpoint, "alice")
        chat = await in_database(make_chat, alice.user)
        monkeypatch.setattr(presenting, "may_see", gone)
        async with alice.socket(chat) as page:
            assert not page.connected


def test_run_that_is_written_here_is_not_taken_over_by_oneself_however_late() -> None:
    run = _late_run(by=leases.PROCESS)

    assert reaper.reap([run.pk]) == []
    assert reaper.reap() == [(run.chat_id, run.chat.owner_id)]


def _late_run(*, by: str) -> Run:
    chat = make_chat(model=make_model())
    run = turns.begin_turn(chat_id=chat.pk, text="Hello", idempotency_key="", by=by).run
    assert run
    Run.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    return run


async def test_lease_that_ended_while_the_database_was_away_is_given_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process could not prolong it, and will now."""
    run = await in_database(lambda: _late_run(by="elsewhere:1:nonce"))
    looks: list[str] = []

    class Enough(Exception):
        pass

    async def next_look(_: float) -> None:
        looks.append("looked")
        if len(looks) == 2:
            raise Enough
        monkeypatch.undo()  # the database is back
        monkeypatch.setattr(reaper.asyncio, "sleep", next_look)

    monkeypatch.setattr(reaper, "reap", gone)
    monkeypatch.setattr(reaper.asyncio, "sleep", next_look)
    with pytest.raises(Enough):
        await reaper.reap_for_ever(next_look, ())

    assert (await in_database(Message.objects.get, pk=run.reply_id)).status == "streaming"


def test_look_that_had_to_wait_for_the_database_takes_nothing_over() -> None:
    run = _late_run(by="elsewhere:1:nonce")

    assert reaper._reap_at_once((), time.monotonic() - 10) == []
    assert reaper._reap_at_once((), time.monotonic()) == [(run.chat_id, run.chat.owner_id)]
