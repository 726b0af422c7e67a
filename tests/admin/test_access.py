"""Who reaches the admin, and what isn't in it for anybody."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client

from chatapp.models import Chat, Message
from tests.admin.making import make_compacted_chat, make_endpoint, make_model
from tests.people import make_user, signed_in

PAGES = ["", "chatapp/sitesettings/", "chatapp/endpoint/", "chatapp/endpoint/add/", "chatapp/languagemodel/",
         "chatapp/languagemodel/add/", "chatapp/compaction/", "auth/user/", "auth/user/add/", "chatapp/auditentry/",
         "chatapp/auditentry/export/", "chatapp/"]  # fmt: skip


@pytest.mark.parametrize("page", PAGES)
def test_staff_reaches_every_page(staff: Client, page: str) -> None:
    make_model()

    assert staff.get(f"/admin/{page}").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_owner_of_a_chat_reaches_no_page(page: str) -> None:
    alice = make_user("alice")
    make_compacted_chat(owner=alice, title="t", text="x", summary="s")
    client = signed_in(alice)

    response = client.get(f"/admin/{page}", follow=True)

    assert response.status_code == 403


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_stranger_is_sent_to_the_sign_in_page(client: Client, page: str) -> None:
    response = client.get(f"/admin/{page}", follow=True)

    assert response.redirect_chain[-1][0] == f"/accounts/login/?next=/admin/{page}"


@pytest.mark.django_db
def test_buttons_of_an_endpoint_are_for_staff_only(client: Client) -> None:
    endpoint = make_endpoint(base_url="http://127.0.0.1:9/v1")

    for browser in (client, signed_in(make_user("alice"))):
        for button in ("test", "fetch"):
            assert browser.post(f"/admin/chatapp/endpoint/{endpoint.pk}/{button}/").status_code == 302

    endpoint.refresh_from_db()
    assert endpoint.checked_at is None


def test_button_of_an_endpoint_takes_a_post_with_a_token(sam: User) -> None:
    endpoint = make_endpoint()
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(sam, backend="allauth.account.auth_backends.AuthenticationBackend")

    assert careful.get(f"/admin/chatapp/endpoint/{endpoint.pk}/test/").status_code == 405
    assert careful.post(f"/admin/chatapp/endpoint/{endpoint.pk}/test/").status_code == 403


def test_chats_and_messages_are_not_in_the_admin() -> None:
    assert not admin.site.is_registered(Chat)
    assert not admin.site.is_registered(Message)
    assert [model.__name__ for model in admin.site._registry] == [
        "SiteSettings", "Endpoint", "LanguageModel", "Compaction", "UsageRecord", "Preset", "User", "AuditEntry",
    ]  # fmt: skip


def test_index_lists_the_desks_in_their_order(staff: Client) -> None:
    page = staff.get("/admin/").content.decode()

    names = ["Settings", "Endpoints", "Language models", "Compactions", "Users"]
    places = [page.index(f">{name}</a>") for name in names]
    assert places == sorted(places)
    assert '<a href="/">Open Foldline</a>' in page
