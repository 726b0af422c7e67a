"""How often the database is asked: by a turn, and by every page, whatever lies before it; and no text that isn't shown.

Numbers, not times: what is asked once more than said here is seen the day it lands. On SQLite and PostgreSQL alike,
so what begins and ends transactions isn't counted.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import OuterRef, Subquery
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chatapp.auditing import Action
from chatapp.database import in_database
from chatapp.models import AuditEntry, Chat, Message, Preset, UsageRecord
from chatapp.runs import keeping
from tests.factories import fold, make_chat, make_model
from tests.people import known, make_user, signed_in
from tests.scripted import Signal, done, finish, head, hold, reply, text
from tests.visiting import Visitor, settled

TRANSACTION = re.compile(r"BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE")
ON_A_PAGE = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """`by_run`: from the loop, in a thread of the database's; else by the request itself."""

    sql: str
    by_run: bool


_record: ContextVar[list[Asked] | None] = ContextVar("record", default=None)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    """What is asked by whatever this test begins from here on, in all threads; not what the process does by itself.

    A context goes with a request into its thread, and from there with the run that it begins.
    """
    execute: Callable[..., Any] = CursorWrapper.execute

    def recording(self: CursorWrapper, sql: str, *args: Any) -> Any:
        record = _record.get()
        if record is not None and not TRANSACTION.match(sql):
            record.append(Asked(sql, threading.current_thread().name.startswith("database")))
        return execute(self, sql, *args)

    monkeypatch.setattr(CursorWrapper, "execute", recording)
    record: list[Asked] = []
    _record.set(record)
    return record


@contextmanager
def counted() -> Iterator[list[str]]:
    statements: list[str] = []
    with CaptureQueriesContext(connection) as queries:
        yield statements
    statements += [query["sql"] for query in queries if not TRANSACTION.match(query["sql"])]


def talk(owner: User, length: int, **facts: Any) -> Chat:
    """A chat of so many messages, every reply with its usage."""
    chat = make_chat(owner, titled_by_hand=True, **facts)
    Message.objects.bulk_create(
        Message(
            chat=chat,
            position=position,
            role=("user", "assistant")[position % 2],
            content=f"word {position}",
            **({"model_name": "small", "prompt_tokens": 10 * position, "completion_tokens": 5} if position % 2 else {}),
        )
        for position in range(length)
    )
    before = Message.objects.filter(chat=chat, position=OuterRef("position") - 1)
    Message.objects.filter(chat=chat, position__gt=0).update(parent=Subquery(before.values("pk")[:1]))
    return chat


# A turn


async def test_until_the_endpoint_is_asked_a_turn_takes_few_queries(alice: Visitor, asked: list[Asked]) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    before: list[Asked] = []

    def script(_: Any) -> Any:
        before.extend(asked)
        return reply("Yes.")

    asked.clear()
    alice.endpoint.always(script)
    await alice.send(chat, "And now?")
    _record.set(None)
    await settled(chat)

    begun = next(number for number, each in enumerate(before) if 'INTO "chatapp_run"' in each.sql)
    command = [each.sql for each in before[: begun + 1] if not each.by_run]
    run = [each.sql for each in before if each.by_run and each.sql.startswith("SELECT")]
    assert len(command) <= 14, command
    assert len(run) <= 2, run
    assert sum("solo" in sql or "sitesettings" in sql for sql in [*command, *run] if sql.startswith("SELECT")) <= 2
    assert sum('FROM "chatapp_languagemodel"' in sql for sql in [*command, *run]) <= 1


async def test_a_whole_turn_takes_few_queries_in_a_long_chat_as_in_a_short_one(
    alice: Visitor, asked: list[Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SECONDS_BETWEEN_SAVES", 60)  # however slow this machine is
    numbers = []
    for length in (4, 400):
        chat = await in_database(talk, alice.user, length)
        await alice.say(chat, "Hello")
        await alice.page(chat)
        gate = Signal()
        alice.endpoint.will([head(), text("Yes."), hold(gate), finish(usage=(30, 4)), done()])
        asked.clear()
        _record.set(asked)
        await alice.send(chat, "And now?")
        _record.set(None)
        gate.set()
        await settled(chat)
        numbers.append([each.sql for each in asked])

    for number in numbers:
        assert len(number) <= 48, number


# Pages


@pytest.fixture
def owner(db: None) -> User:
    return make_user("alice", is_staff=True)


@pytest.fixture
def client(owner: User) -> Client:
    return known(signed_in(owner))


def asked_by(client: Client, path: str, *, is_fragment: bool = False) -> list[str]:
    """A second look at it: what a process reads once and keeps is there."""
    headers = {"HX-Request": "true"} if is_fragment else {}
    for _ in range(2):
        with counted() as statements:
            answer = client.get(path, headers=headers)
        assert answer.status_code == 200, (path, answer.status_code)
    return statements


# Whole, and what a page fetches of itself.
PAGES = {"": 21, "?m=3": 26, "?here=word": 22}
FRAGMENTS = {"archived/": 6, "earlier/?before={length}": 8, "request/": 18, "settings/": 8, "changes/?seen=0": 20}


def test_a_page_of_2_000_messages_takes_the_queries_of_one_of_100(client: Client, owner: User) -> None:
    model = make_model(window=4_000_000)
    chats = {length: folded(owner, length, model) for length in (100, 2_000)}

    for page, most in (PAGES | FRAGMENTS).items():
        few, many = (
            asked_by(client, f"/chats/{chat.pk}/{page.format(length=length)}", is_fragment=page in FRAGMENTS)
            for length, chat in chats.items()
        )
        assert len(few) == len(many), page
        assert len(many) <= most, (page, many)


def folded(owner: User, length: int, model: Any) -> Chat:
    chat = talk(owner, length, model=model)
    fold(chat, through=length - 60)
    Message.objects.filter(chat=chat).update(request_through_id=chat.compacted_through_id)
    return chat


def test_no_text_is_read_of_messages_that_are_not_shown(
    client: Client, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = folded(owner, 300, make_model(window=4_000_000))
    read: set[int] = set()
    make = Message.from_db.__func__  # type: ignore[attr-defined]

    def recording(kind: Any, using: Any, names: Any, values: Any) -> Message:
        message: Message = make(kind, using, names, values)
        if "content" in names:
            read.add(message.position)
        return message

    monkeypatch.setattr(Message, "from_db", classmethod(recording))
    client.get(f"/chats/{chat.pk}/")
    shown, boundary = set(range(300 - ON_A_PAGE, 300)), {240}

    assert (
        shown <= read <= shown | boundary | {min(shown) - 1}
    )  # one more than is shown: whether there are earlier ones
    read.clear()
    client.get("/")
    client.get("/chats/list/")
    assert not read


LISTS = {"/": 12, "/chats/list/": 6, "/search/?q=word": 7, "/chats/archived/": 3, "/usage/": 8, "/shared/": 4}


@pytest.mark.parametrize("path", LISTS)
def test_a_list_of_1_000_chats_takes_the_queries_of_one_of_10(client: Client, owner: User, path: str) -> None:
    make_model()
    numbers = []
    for number in (10, 990):
        chats = Chat.objects.bulk_create(Chat(owner=owner, title=f"word {each}") for each in range(number))
        Message.objects.bulk_create(Message(chat=chat, position=0, role="user", content="A word") for chat in chats)
        numbers.append(asked_by(client, path))
    few, many = numbers

    assert len(few) == len(many)
    assert len(many) <= LISTS[path], many
    if "search" not in path:
        assert not [sql for sql in many if '"content"' in sql or '"chatapp_chat"."summary"' in sql]


ADMIN = ("endpoint", "languagemodel", "compaction", "usagerecord", "preset", "auditentry")


@pytest.mark.parametrize("path", [*(f"/admin/chatapp/{name}/" for name in ADMIN), "/admin/auth/user/"])
def test_an_admin_list_takes_as_many_queries_whatever_its_length(client: Client, owner: User, path: str) -> None:
    User.objects.filter(pk=owner.pk).update(is_superuser=True)
    numbers = []
    for number in (3, 40):
        for each in range(number):
            add_to_lists(f"{number}-{each}")
        numbers.append(asked_by(client, path))
    few, many = numbers

    assert len(few) == len(many), (few, many)
    assert len(many) <= 11, many
    assert not [sql for sql in many if '"chatapp_message"."content"' in sql]


def add_to_lists(name: str) -> None:
    """One more row in each list of the admin."""
    model = make_model(name, base_url=f"http://{name}.example/v1")
    chat = make_chat(make_user(name), "Hello", "Hi.", model=model)
    fold(chat, through=1)
    UsageRecord.objects.create(chat=chat, kind=UsageRecord.Kind.REPLY, model_name=name, prompt_tokens=5)
    Preset.objects.create(name=name, text="Be kind.")
    AuditEntry.objects.create(action=Action.SIGNED_IN, actor=name)
