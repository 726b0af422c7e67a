"""What another site makes a browser ask for is refused: posts of persons and of the staff alike, sockets, and reads."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory

from chatapp.database import in_database
from chatapp.gates import own_site
from tests.doors.dumping import difference, dump
from tests.doors.routes import all_routes
from tests.doors.test_sockets import opened
from tests.doors.world import admin_rows, furnish, ids_in_admin
from tests.factories import make_user
from tests.people import signed_in
from tests.scripted import ScriptedEndpoint

OWN = "http://testserver"
FOREIGN = {
    "another port": "http://testserver:8001",
    "another scheme": "https://testserver",
    "another host": "http://evil.example",
    "a subdomain": "http://evil.testserver",
    "a longer name": "http://testserver.evil.example",
    "null": "null",
    "none": "",
    "capitals": "http://TESTSERVER",
    "a dot at the end": "http://testserver.",
}


# The others are asked from two of them: what refuses is one middleware before all.
FROM_ALL = {"send", "delete", "account_logout", "admin:chatapp_endpoint_change", "admin:chatapp_endpoint_test"}


def careful(user: User) -> tuple[Client, str]:
    """A browser of theirs, and a token that another site has come by; it is of use to no site but ours."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    request = RequestFactory().get("/")
    token = get_token(request)
    client.cookies["csrftoken"] = request.META["CSRF_COOKIE"]
    return client, token


@pytest.mark.django_db
def test_post_from_another_site_does_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "django")
    alice = furnish("alice", is_staff=True, is_superuser=True)
    rows = admin_rows(alice.person)
    client, token = careful(alice.person)
    client.get("/")  # where one is signed in is noted with the first request
    before, taken = dump(), []
    for route in all_routes():
        ids = alice.ids | ids_in_admin(route.template, rows)
        for name in FOREIGN if route.name in FROM_ALL else ("another host", "none"):
            origin = FOREIGN[name]
            sent = route.form(ids) | ({"csrfmiddlewaretoken": token} if origin else {})
            response = client.post(route.address(ids), sent, headers={"Origin": origin} if origin else {})
            if response.status_code != 403:
                taken.append(f"{route} from {name}: {response.status_code}")
    assert not taken
    assert difference(before, dump()) == []
    mine = client.post("/folders/", {"name": "Mine", "csrfmiddlewaretoken": token}, headers={"Origin": OWN})
    assert mine.status_code == 302


async def test_socket_from_another_site_is_refused(endpoint: ScriptedEndpoint) -> None:
    client = await in_database(signed_in, await in_database(make_user, "alice"))

    for origin in FOREIGN.values():
        assert not (await opened(client, "/ws/chats/", origin=origin)).connected
    own = await opened(client, "/ws/chats/", origin=OWN)
    assert own.connected
    await own.communicator.disconnect()


LINK = {"mode": "navigate", "dest": "document"}


@pytest.mark.parametrize(
    ("method", "told", "status"),
    [
        ("GET", {}, 200),
        ("POST", {}, 200),
        ("POST", {"site": "same-origin", "mode": "cors", "dest": "empty"}, 200),
        ("GET", {"site": "none", **LINK}, 200),
        ("GET", {"site": "cross-site", **LINK}, 200),
        ("POST", {"site": "cross-site", **LINK}, 403),
        ("POST", {"site": "same-site", **LINK}, 403),
        ("GET", {"site": "cross-site", "mode": "navigate", "dest": "iframe"}, 403),
        ("GET", {"site": "cross-site", "mode": "no-cors", "dest": "image"}, 403),
        ("GET", {"site": "same-site", "mode": "cors", "dest": "empty"}, 403),
    ],
    ids=str,
)
async def test_another_site_may_lead_here_and_nothing_else(method: str, told: dict[str, str], status: int) -> None:
    async def answer(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    headers = [(f"sec-fetch-{name}".encode(), value.encode()) for name, value in told.items()]
    scope = {"type": "http", "method": method, "path": "/search/", "query_string": b"", "headers": headers}
    asked = ApplicationCommunicator(own_site(answer), scope)
    await asked.send_input({"type": "http.request"})

    assert (await asked.receive_output(timeout=10))["status"] == status
