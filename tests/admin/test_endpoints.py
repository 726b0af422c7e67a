"""Endpoints: the key goes in and never comes out."""

from __future__ import annotations

import logging

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.messages.storage.fallback import FallbackStorage
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings

from chatapp.admin.endpoints import EndpointAdmin
from chatapp.destinations import Destinations
from chatapp.llm import ModelInfo, Probe, Target
from chatapp.models import AuditEntry, Endpoint, LanguageModel
from tests.admin.making import make_endpoint, make_model

# Nobody listens there, so whatever the real form asks fails at once and on this machine.
NOWHERE = "http://127.0.0.1:9/v1"
KEY = "sk-abcdef0123456789"
FORM = {"name": "Box", "base_url": NOWHERE, "key": "", "enabled": "on"}


def page_of(endpoint: Endpoint) -> str:
    return f"/admin/chatapp/endpoint/{endpoint.pk}/change/"


async def no_ollama() -> str | None:
    return None


async def an_ollama() -> str | None:
    return "http://127.0.0.1:11434/v1"


async def two_models(target: Target) -> Probe:
    return Probe(ok=True, models=(ModelInfo("a", 8192), ModelInfo("b", 4096)), base_url=target.base_url)


def posted(user: User, view: object, *arguments: int) -> tuple[HttpResponse, list[str]]:
    request: HttpRequest = RequestFactory().post("/")
    request.user = user
    request.session = {}  # type: ignore[assignment]
    request._messages = FallbackStorage(request)  # type: ignore[attr-defined]
    response = view(request, *arguments)  # type: ignore[operator]
    return response, [str(message) for message in request._messages]  # type: ignore[attr-defined]


def test_key_is_encrypted_and_in_no_page(staff: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        saved = staff.post("/admin/chatapp/endpoint/add/", FORM | {"key": KEY}, follow=True)
    endpoint = Endpoint.objects.get()

    desk = f"/admin/chatapp/endpoint/{endpoint.pk}/"
    addresses = [page_of(endpoint), "/admin/chatapp/endpoint/", "/admin/", f"{desk}history/", f"{desk}delete/"]
    pages = [staff.get(address, follow=True) for address in addresses]

    assert endpoint.reveal_key() == KEY
    assert KEY not in endpoint.sealed_key
    for response in [saved, *pages]:
        assert response.status_code == 200
        assert KEY not in response.content.decode()
        assert endpoint.sealed_key not in response.content.decode()
    assert KEY not in caplog.text
    assert "A key is stored" in pages[0].content.decode()
    assert AuditEntry.objects.filter(target="endpoint: Box").exists()
    assert not AuditEntry.objects.filter(detail__contains=KEY).exists()


def test_key_is_not_rendered_back_with_a_form_error(staff: Client) -> None:
    response = staff.post("/admin/chatapp/endpoint/add/", FORM | {"key": KEY, "name": ""})

    assert response.context["adminform"].form.errors
    assert KEY not in response.content.decode()


def test_empty_key_keeps_the_stored_one(staff: Client) -> None:
    endpoint = make_endpoint(base_url=NOWHERE, key=KEY)

    staff.post(page_of(endpoint), FORM | {"name": "Renamed"})

    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.reveal_key()) == ("Renamed", KEY)


def test_tick_removes_the_key(staff: Client) -> None:
    endpoint = make_endpoint(base_url=NOWHERE, key=KEY)

    staff.post(page_of(endpoint), FORM | {"remove_key": "on"})

    endpoint.refresh_from_db()
    assert not endpoint.has_key


def test_stored_key_is_not_sent_to_another_address(staff: Client) -> None:
    endpoint = make_endpoint(base_url=NOWHERE, key=KEY)

    response = staff.post(page_of(endpoint), FORM | {"base_url": "http://127.0.0.1:10/v1"})

    assert "Enter the key again" in response.content.decode()
    endpoint.refresh_from_db()
    assert endpoint.base_url == NOWHERE


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", ""),
        ("base_url", "box"),
        ("base_url", "ftp://box.example/v1"),
        ("base_url", "javascript:alert(1)"),
        ("base_url", "http://[::1"),
        ("base_url", "http://alice:pw@box.example/v1"),
        ("key", "two words"),
        ("key", "line\r\nbreak"),
        ("key", "schlüssel"),
        ("name", ""),
    ],
)
def test_value_that_cannot_be_is_a_form_error(staff: Client, field: str, value: str) -> None:
    response = staff.post("/admin/chatapp/endpoint/add/", FORM | {field: value})

    assert field in response.context["adminform"].form.errors
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("http://0xA9FEA9FE/latest", "169.254.169.254, which is never called"),
        ("http://[::ffff:169.254.169.254]/v1", "169.254.169.254, which is never called"),
        ("http://192.168.1.20:8080/v1", "name the host, the address or its network in PRIVATE_ENDPOINTS"),
        ("http://127.0.0.1:9/v1", "127.0.0.1, in a private network that this Foldline may not call"),
    ],
)
@override_settings(ENDPOINT_DESTINATIONS=Destinations(("10.0.0.0/8",)))
def test_address_that_may_not_be_called_is_a_form_error(staff: Client, base_url: str, words: str) -> None:
    response = staff.post("/admin/chatapp/endpoint/add/", FORM | {"base_url": base_url})

    assert words in response.context["adminform"].form.errors["base_url"].as_text()
    assert not Endpoint.objects.exists()


@override_settings(ENDPOINT_DESTINATIONS=Destinations(("10.0.0.0/8",)))
def test_address_stored_before_it_was_forbidden_is_told_when_it_is_asked(staff: Client) -> None:
    endpoint = make_endpoint(base_url=NOWHERE)

    response = staff.post(f"/admin/chatapp/endpoint/{endpoint.pk}/test/", follow=True)

    assert (
        response.content.decode().count("That leads to 127.0.0.1, in a private network") == 2
    )  # as message and answer


def test_saving_asks_at_once_and_says_what_came(staff: Client) -> None:
    response = staff.post("/admin/chatapp/endpoint/add/", FORM, follow=True)

    assert "Nobody answers at that address" in response.content.decode()
    assert Endpoint.objects.get().checked_at


def test_button_fetches_models(sam: User) -> None:
    endpoint = make_endpoint()
    desk = EndpointAdmin(Endpoint, admin.site, ask=two_models, find_ollama=no_ollama)

    _, said = posted(sam, desk.fetch_models, endpoint.pk)

    assert said[0].startswith("Connected: 2 models offered, 2 of them new here.")
    assert LanguageModel.objects.count() == 2


def test_button_tests_without_adding(sam: User) -> None:
    endpoint = make_endpoint()
    desk = EndpointAdmin(Endpoint, admin.site, ask=two_models, find_ollama=no_ollama)

    _, said = posted(sam, desk.test_connection, endpoint.pk)

    assert said[0].startswith("Connected: 2 models offered.")
    assert not LanguageModel.objects.exists()


def test_ollama_is_added_once_by_its_button(sam: User) -> None:
    desk = EndpointAdmin(Endpoint, admin.site, ask=two_models, find_ollama=an_ollama)

    posted(sam, desk.add_ollama)
    _, said = posted(sam, desk.add_ollama)

    ollama = Endpoint.objects.get()
    assert (ollama.name, ollama.base_url, ollama.models.count()) == ("Ollama", "http://127.0.0.1:11434/v1", 2)
    assert "has been added already" in said[0]


@pytest.mark.parametrize("kind", [Endpoint.Kind.DEMO, Endpoint.Kind.ENVIRONMENT])
def test_endpoint_from_outside_can_only_be_switched_off(staff: Client, kind: Endpoint.Kind) -> None:
    endpoint = make_endpoint(kind=kind, base_url=NOWHERE, key=KEY)

    staff.post(page_of(endpoint), {"name": "Mine", "base_url": "http://evil.example/v1", "key": "sk-other"})
    staff.post(f"/admin/chatapp/endpoint/{endpoint.pk}/delete/", {"post": "yes"})

    page = staff.get(page_of(endpoint)).content.decode()
    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.base_url, endpoint.reveal_key()) == ("Box", NOWHERE, KEY)
    assert not endpoint.enabled
    assert "OPENAI_BASE_URL" in page
    assert 'name="key"' not in page


def test_deleting_an_endpoint_keeps_the_chats_that_used_it(staff: Client, sam: User) -> None:
    model = make_model()
    chat = sam.chats.create(title="private words", model=model)

    asked = staff.get(f"/admin/chatapp/endpoint/{model.endpoint.pk}/delete/").content.decode()
    staff.post(f"/admin/chatapp/endpoint/{model.endpoint.pk}/delete/", {"post": "yes"})

    chat.refresh_from_db()
    assert chat.model is None
    assert "private words" not in asked


def test_g5_endpoint_is_marked_as_keeping_its_cache(staff: Client) -> None:
    endpoint = make_endpoint()

    staff.post(f"/admin/chatapp/endpoint/{endpoint.pk}/change/", FORM | {"is_local": "on"})

    endpoint.refresh_from_db()
    assert endpoint.keeps_cache
