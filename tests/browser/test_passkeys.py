"""Passkeys in a real browser with a made-up authenticator: made, signed in with, asked for by the settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from playwright.sync_api import Page, expect

from chatapp import settings as real_settings
from chatapp.models import SiteSettings
from tests.browser.acting import Visit, button
from tests.browser.pictures import take_pictures
from tests.live import LiveServer
from tests.people import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.server]


@pytest.fixture
def named(server: LiveServer) -> str:
    """The server under a name: an address of digits can't hold a passkey."""
    return server.url.replace("127.0.0.1", "localhost")


def give_authenticator(page: Page) -> None:
    """The browser has a device that keeps passkeys and whose owner always puts the finger on it."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("User name or e-mail").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    button(page, "Sign in").click()
    page.wait_for_url(lambda url: "/accounts/login/?" not in url and not url.endswith("/accounts/login/"))


def test_passkey_is_made_signs_in_alone_and_opens_the_settings(visit: Callable[..., Visit], named: str) -> None:
    sam = visit(name="sam", is_staff=True)

    def asked(is_asked: bool) -> None:
        sam.rows(lambda: SiteSettings.objects.update_or_create(defaults={"second_factor_for_staff": is_asked}))

    def give_password() -> None:
        user = User.objects.get(username="sam")
        with override_settings(PASSWORD_HASHERS=real_settings.PASSWORD_HASHERS):  # the server's
            user.set_password(PASSWORD)
        user.save()

    sam.rows(give_password)
    asked(True)
    try:
        page = sam.open(f"{named}/accounts/login/")
        give_authenticator(page)
        sign_in(page, "sam")
        page.goto(f"{named}/admin/")
        expect(page.get_by_role("alert")).to_contain_text("Administrators need a second factor")
        take_pictures(page, "second-factor")
        page.get_by_role("link", name="Add a passkey").click()
        page.get_by_label("Password").fill(PASSWORD)
        button(page, "Go on").click()
        page.get_by_label("Name").fill("This laptop")
        button(page, "Make it").click()
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        take_pictures(page, "recovery-codes")
        page.get_by_role("link", name="I have them").click()
        expect(page.locator("main")).to_contain_text("This laptop")
        page.goto(f"{named}/admin/")
        button(page, "Use a passkey").click()
        expect(page.get_by_role("link", name="Open Foldline")).to_be_visible()
        button(page, "Sign out").click()

        button(page, "Sign in with a passkey").click()
        page.wait_for_url(f"{named}/")
        page.goto(f"{named}/admin/")
        expect(page.get_by_role("link", name="Open Foldline")).to_be_visible()
        button(page, "Sign out").click()
        sign_in(page, "sam")
        button(page, "Use a passkey").click()
        page.wait_for_url(f"{named}/")
    finally:
        asked(False)


def test_address_without_a_name_says_why_there_are_no_passkeys(alice: Visit) -> None:
    page = alice.open("/accounts/second-factor/")

    expect(page.get_by_text("Passkeys can’t be used here")).to_be_visible()
    page.goto("/accounts/second-factor/passkeys/add/")
    expect(page.locator("form[data-passkey]")).to_be_hidden()
