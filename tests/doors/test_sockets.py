"""Sockets: who gets one, what may be said over it, and that it ends with the right to have it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import passes
from chatapp.asgi import application
from chatapp.consumers import LIST_IS_ANOTHER, SIGNED_OUT
from chatapp.database import in_database
from chatapp.passes import Pass
from tests.doors.dumping import difference, dump
from tests.doors.world import Belongings, furnish, ids_of_nobody
from tests.factories import make_user
from tests.people import PASSWORD, signed_in
from tests.scripted import ScriptedEndpoint
from tests.visiting import SECONDS, Socket, Visitor

# All that a page says, and what it never does.
WORDS = ['{"seen": 0}', '{"seen": 0, "frames": 0, "resync": true}', '{"seen": 9, "frames": 9, "resync": true}']
NONSENSE = [
    " ", "{", "null", '{"seen": Infinity}', '{"seen": NaN}', "[" * 100_000, '{"seen": 1e999, "resync": 1}',
    '{"seen": -1, "resync": true}', f'{{"seen": {"9" * 4000}, "resync": true}}', '{"type": "remote.event"}',
]  # fmt: skip


async def opened(client: Client, address: str, *, origin: str = "http://testserver") -> Socket:
    """As a page of that browser opens it; `connected` says whether it was let in."""
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    headers = [(b"cookie", cookie.encode()), (b"origin", origin.encode()), (b"host", b"testserver")]
    communicator = WebsocketCommunicator(application, address, headers)
    connected, _ = await communicator.connect(timeout=SECONDS)
    return Socket(communicator, connected=connected)


@pytest.fixture
async def alice(endpoint: ScriptedEndpoint) -> Belongings:
    return await in_database(furnish, "alice")


async def test_socket_is_let_in_with_the_session_of_a_former_secret_which_stays(alice: Belongings) -> None:
    """A page that comes back after a restart with another secret: nothing it could be told would renew its cookie."""
    client = await in_database(signed_in, alice.person)
    former, address = settings.SECRET_KEY, f"/ws/chats/{alice.ids['chat_id']}/"

    with override_settings(SECRET_KEY="another" * 8, SECRET_KEY_FALLBACKS=[former]):
        assert (await opened(client, address)).connected
    with override_settings(SECRET_KEY="another" * 8, SECRET_KEY_FALLBACKS=[]):
        assert not (await opened(client, address)).connected
    assert await in_database(Session.objects.filter(pk=client.cookies["sessionid"].value).exists)


@pytest.mark.django_db
def test_who_opens_a_socket_is_found_in_two_queries(django_assert_num_queries: Callable[..., Any]) -> None:
    client = signed_in(make_user("alice"))
    with django_assert_num_queries(2):
        assert passes.holder_of(f"sessionid={client.cookies['sessionid'].value}")
    assert passes.holder_of("sessionid=made-up") is None
    assert passes.holder_of("") is None


async def test_socket_of_anothers_chat_is_refused_like_one_to_none(alice: Belongings) -> None:
    """To nobody, a stranger and somebody suspended, who is also refused the one without a chat."""
    charlie, susan = await in_database(make_user, "charlie"), await in_database(make_user, "susan")
    clients = {name: await in_database(signed_in, person) for name, person in (("charlie", charlie), ("susan", susan))}
    await in_database(User.objects.filter(pk=susan.pk).update, is_active=False)
    foreign, random = (f"/ws/chats/{chat}/" for chat in (alice.ids["chat_id"], ids_of_nobody()["chat_id"]))

    for client in (Client(), clients["charlie"], clients["susan"]):
        assert [(await opened(client, address)).connected for address in (foreign, random)] == [False, False]
    assert not (await opened(Client(), "/ws/chats/")).connected
    assert not (await opened(clients["susan"], "/ws/chats/")).connected


async def test_no_word_over_a_socket_reaches_what_is_anothers(alice: Belongings) -> None:
    charlie = await in_database(furnish, "charlie")
    client = await in_database(signed_in, charlie.person)
    await in_database(client.get, "/")  # where one is signed in is noted with the first request
    sockets = [await opened(client, address) for address in ("/ws/chats/", f"/ws/chats/{charlie.ids['chat_id']}/")]
    for socket in sockets[1:]:
        await socket.until(charlie.secret)
    before = await in_database(dump)
    named = {name: str(each) for name, each in alice.ids.items()}
    for socket in sockets:
        for word in [*WORDS, *(json.dumps({**json.loads(word), **named, "chat": named["chat_id"]}) for word in WORDS)]:
            await socket.communicator.send_to(text_data=word)
        for word in NONSENSE:
            await socket.communicator.send_to(text_data=word)
            await socket.communicator.send_to(bytes_data=word.encode())

    await sockets[1].acknowledge(seen=0, resync=True)
    told = await sockets[1].until(charlie.secret)
    await sockets[0].communicator.send_to(text_data=WORDS[1])

    assert alice.secret not in told
    while not await sockets[0].communicator.receive_nothing():
        assert await sockets[0].communicator.receive_from() == LIST_IS_ANOTHER  # charlie's chat was unread
    assert difference(before, await in_database(dump)) == []
    for socket in sockets:
        await socket.communicator.disconnect()


async def test_socket_ends_with_the_right_to_have_it(endpoint: ScriptedEndpoint) -> None:
    """Within five seconds of signing out, a suspension, another password (by hand or by the staff), the end of the
    account, and the session's own end; the one who stays hears on.
    """
    names = ["leaves", "suspended", "renewed", "reset", "deleted", "expired", "stays"]
    visitors = {name: await Visitor.arrive(endpoint, name) for name in names}
    sockets = {name: await opened(visitor.client, "/ws/chats/") for name, visitor in visitors.items()}
    assert all(socket.connected for socket in sockets.values())

    def change_rows() -> None:
        User.objects.filter(username="suspended").update(is_active=False)
        for name in ("renewed", "reset"):
            person = User.objects.get(username=name)
            person.set_password("another lamp on the pier")
            person.save()
        User.objects.get(username="deleted").delete()
        key = visitors["expired"].client.cookies["sessionid"].value
        Session.objects.filter(session_key=key).update(expire_date=timezone.now() - timedelta(seconds=1))

    await visitors["leaves"].post("/accounts/logout/", htmx=False)
    await in_database(change_rows)
    async with asyncio.timeout(5):
        codes = {name: await sockets[name].closed() for name in names[:-1]}

    assert set(codes.values()) == {SIGNED_OUT}
    await visitors["stays"].post("/folders/", name="New")
    assert await sockets["stays"].communicator.receive_from(timeout=SECONDS) == LIST_IS_ANOTHER
    await sockets["stays"].communicator.disconnect()


async def test_person_who_changes_the_password_has_a_socket_again_and_no_other_browser_has(
    endpoint: ScriptedEndpoint,
) -> None:
    here = await Visitor.arrive(endpoint, "alice")
    await in_database(here.user.set_password, PASSWORD)
    await in_database(here.user.save)
    await here.client.aforce_login(here.user, backend="allauth.account.auth_backends.AuthenticationBackend")
    elsewhere = await in_database(signed_in, here.user)
    sockets = [await opened(client, "/ws/chats/") for client in (here.client, elsewhere)]
    fields = {"oldpassword": PASSWORD, "password1": "two lamps on the pier", "password2": "two lamps on the pier"}

    assert (await here.post("/accounts/password/change/", htmx=False, **fields)).status_code == 302

    assert [await socket.closed() for socket in sockets] == [SIGNED_OUT, SIGNED_OUT]
    again = await opened(here.client, "/ws/chats/")
    assert again.connected
    assert not (await opened(elsewhere, "/ws/chats/")).connected
    await again.communicator.disconnect()


@pytest.mark.django_db
def test_a_look_takes_two_queries_whatever_the_number_of_sockets() -> None:
    people = [make_user() for _ in range(20)]
    held = [Pass(signed_in(each).cookies["sessionid"].value, each.pk, each.get_session_auth_hash()) for each in people]

    with CaptureQueriesContext(connection) as asked:
        assert passes.gone(held) == []

    assert len(asked) == 2
