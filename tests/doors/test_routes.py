"""Every address, every method, as nobody, stranger, suspended and demoted: what isn't theirs answers as if it weren't.

Answers are compared whole (status, headers, body) with those to ids that nobody's thing has, and so are the statements
that the database was asked: what is the same work takes the same time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import pytest
from django.db import connection, reset_queries, transaction
from django.http import SimpleCookie
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chatapp.asgi import SOCKETS
from chatapp.models import SiteSettings
from chatapp.runs import host
from tests.doors.dumping import difference, dump
from tests.doors.routes import DOORS, SOCKET_DOORS, WITHOUT_A_ROW, Route, Who, all_routes
from tests.doors.world import Belongings, admin_rows, furnish, ids_in_admin, ids_of_nobody, number_apart
from tests.people import signed_in

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
# Of each also as htmx asks.
ASKED = [*((method, False) for method in METHODS), ("GET", True), ("POST", True)]
ROUTES = [route for route in all_routes() if route.door]
# Ids, tokens of forms, keys and moments: what no two answers have in common.
SINGULAR = (
    re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    re.compile(r"\b([A-Za-z0-9]{64}|[0-9a-f]{32}|[A-Za-z0-9_-]{32}(?=/))\b"),
    re.compile(r"\b[79]\d{6}\b|\b9999999\b|\b\d{16}\b|\b\d{13}\b"),
    re.compile(r"\b\w+-x-1\b"),
    re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+"),
)
# Headers that tell the moment, or the length of what differs.
SAYS_WHEN = {"Content-Length", "Expires", "X-Request-ID"}
# Signing out of the admin leads to its door.
SIGN_IN = re.compile(r"/(accounts|admin)/login/.*|/admin/")
Ids = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class World:
    alice: Belongings
    charlie: Belongings
    nobody: Ids
    in_admin: Ids


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> World:
    """Where a command on something of one's own begins a run, nothing of it is written."""
    caplog.set_level("CRITICAL", "django.request")  # a line a refusal
    monkeypatch.setattr(host, "_on_loop", _let_go)
    SiteSettings.get_solo()
    number_apart()
    alice = furnish("alice")
    return World(alice, furnish("charlie"), ids_of_nobody(), admin_rows(alice.person))


def _let_go(_function: Any, *args: Any) -> None:
    for each in args:
        if hasattr(each, "close"):
            each.close()


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str
    statements: list[str]
    changed: list[str]

    @property
    def asks_for_signing_in(self) -> bool:
        return self.status == HTTPStatus.FOUND and bool(SIGN_IN.fullmatch(self.headers["Location"]))


@dataclass(frozen=True, slots=True)
class Caller:
    """Asks, and takes back what the asking changed."""

    client: Client
    before: dict[str, Any]

    def ask(self, route: Route, method: str, ids: Ids, *, htmx: bool = False) -> Answer:
        """Without what differs between any two answers: the ids that were asked for, tokens of forms, new keys."""
        cookies = SimpleCookie(self.client.cookies)
        headers = {"HX-Request": "true"} if htmx else {}
        reset_queries()  # it keeps 9,000
        with transaction.atomic(), CaptureQueriesContext(connection) as asked:
            if method == "POST":
                response = self.client.post(route.address(ids), route.form(ids), headers=headers)
            else:
                response = self.client.generic(method, route.address(ids), headers=headers)
            writes = any(each["sql"].startswith(("INSERT", "UPDATE", "DELETE")) for each in asked.captured_queries)
            changed = difference(self.before, dump()) if writes else []
            transaction.set_rollback(True)
        self.client.cookies = cookies
        body = "" if response.streaming else response.content.decode()
        told = {name: _likened(value) for name, value in response.headers.items() if name not in SAYS_WHEN}
        statements = [_shape_of(each["sql"]) for each in asked.captured_queries]
        return Answer(response.status_code, told, _likened(body), statements, changed)


def _likened(text: str) -> str:
    for kind in SINGULAR:
        text = kind.sub("·", text)
    return text


def _shape_of(statement: str) -> str:
    return re.sub(r"'[^']*'|\b\d+\b|s\d+_x\d+|\b[0-9a-f]{32}\b", "?", statement)


def pairs(route: Route, world: World, me: Belongings | None) -> Iterator[tuple[Ids, Ids]]:
    """Ids of alice's things, and ids of nobody's; then with a parent of one's own, and with children of one's own."""
    theirs, nobodys = world.alice.ids, world.nobody
    if route.door and route.door.who is Who.STAFF:
        theirs, nobodys = (ids_in_admin(route.template, world.in_admin, known=known) for known in (True, False))
        yield theirs, nobodys
        return
    yield theirs, nobodys
    if me and route.ids and (len(route.ids) > 1 or route.door.fields):
        parent = route.ids[0]
        yield {**theirs, parent: me.ids[parent]}, {**nobodys, parent: me.ids[parent]}
    if me and len(route.ids) > 1:
        yield {**me.ids, parent: theirs[parent]}, {**me.ids, parent: nobodys[parent]}


def assert_closed(client: Client, world: World, *, me: Belongings | None = None) -> None:
    """Every address; `me`: who asks, where somebody is signed in. What is wrong is told in a line each."""
    client.get("/")  # where one is signed in is noted with the first request
    caller, problems = Caller(client, dump()), []
    for route in ROUTES:
        not_there: set[str] = set()
        for pair in pairs(route, world, me):
            for method, htmx in ASKED:
                if method in not_there:
                    continue
                one = caller.ask(route, method, pair[0], htmx=htmx)
                if one.status == HTTPStatus.METHOD_NOT_ALLOWED:
                    not_there.add(method)
                is_turned_away = method in not_there or one.asks_for_signing_in  # whatever the ids are
                other = one if is_turned_away or not route.takes_ids else caller.ask(route, method, pair[1], htmx=htmx)
                if one.statements != other.statements:  # what the first had to work out is kept for the second
                    one = caller.ask(route, method, pair[0], htmx=htmx)
                found = _problems(route, one, other, world, is_in=me is not None)
                problems += [f"{method} {route.address(pair[0])}: {each}" for each in found]
    assert not problems, "\n".join(problems)


def _problems(route: Route, one: Answer, other: Answer, world: World, *, is_in: bool) -> Iterator[str]:
    assert route.door
    for part in ("status", "headers", "body", "statements"):
        told, to_compare = getattr(one, part), getattr(other, part)
        if told != to_compare:
            yield f"tells whether it is there, by its {part}: {_first_difference(told, to_compare)}"
    if world.alice.secret in one.body:
        yield "shows what is alice's"
    if is_in and route.door.who is not Who.STAFF:
        yield from filter(world.alice.is_told_by, one.changed)
    else:
        yield from one.changed
    if not is_in and route.door.who in {Who.PERSON, Who.STAFF} and not one.asks_for_signing_in:
        yield f"doesn't ask for signing in: {one.status}"
    if is_in and route.door.who is Who.STAFF and one.status < HTTPStatus.MULTIPLE_CHOICES:
        yield f"lets in: {one.status}"


def _first_difference(one: Any, other: Any) -> str:
    lines = [each.splitlines() if isinstance(each, str) else list(each) for each in (one, other)]
    return next((f"{a} | {b}" for a, b in zip(*lines, strict=False) if a != b), "one is longer")


def test_every_address_has_a_row() -> None:
    names = [f"“{route.name}” ({route})" for route in all_routes() if route.door is None]

    assert not names, WITHOUT_A_ROW.format(names=", ".join(names))
    assert set(SOCKETS) == SOCKET_DOORS.keys()


def test_no_row_is_left_of_an_address_that_is_gone() -> None:
    assert DOORS.keys() <= {route.name for route in ROUTES}


def test_nobody_learns_and_changes_nothing(world: World) -> None:
    assert_closed(Client(), world)


def test_suspended_person_is_nobody_even_to_themselves(world: World) -> None:
    alice = world.alice.person
    client = signed_in(alice)
    alice.is_active = False
    alice.save()

    assert_closed(client, world)


def test_stranger_learns_and_changes_nothing_of_anothers_nor_of_the_staff_that_they_were(world: World) -> None:
    """charlie was an administrator when signing in, and the row may say superuser still."""
    charlie = world.charlie.person
    charlie.is_staff = charlie.is_superuser = True
    charlie.save()
    client = signed_in(charlie)
    charlie.is_staff = False
    charlie.save()

    assert_closed(client, world, me=world.charlie)
