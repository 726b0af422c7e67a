"""OpenID Connect: the whole way to a scripted issuer and back, whose account it is, and who may come in."""

from __future__ import annotations

import copy
import html
import re
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, override_settings

from chatapp.checks import check_issuer
from chatapp.models import AuditEntry
from tests.accounts.codes import code, with_app
from tests.accounts.issuer import BOB, CLIENT, SECRET, Issuer
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
START = "/accounts/issuer/"


@pytest.fixture(scope="module")
def running() -> Iterator[Issuer]:
    with Issuer.running() as issuer:
        yield issuer


@pytest.fixture
def issuer(running: Issuer) -> Iterator[Issuer]:
    """The issuer as it is at first, named in the settings."""
    running.person, running.told, running.is_broken = dict(BOB), {}, False
    running.asked.clear()
    providers = copy.deepcopy(settings.SOCIALACCOUNT_PROVIDERS)
    app = {"client_id": CLIENT, "secret": SECRET, "settings": {"server_url": running.url}}
    providers["openid_connect"]["APPS"][0].update(app)
    with override_settings(OIDC_ISSUER=running.url, OIDC_NAME="Example ID", SOCIALACCOUNT_PROVIDERS=providers):
        yield running


def come_in(client: Client, **fields: str) -> HttpResponse:
    """Press the button, follow the page to the issuer, and come back as a browser does."""
    page = client.post(START, fields).content.decode()
    way = html.unescape(re.search(r'url=([^"]+)"', page)[1])  # type: ignore[index]
    back = urlsplit(_redirected(way))
    return client.get(f"{back.path}?{back.query}")


def _redirected(address: str) -> str:
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    try:
        urllib.request.build_opener(Stay).open(address)
    except HTTPError as answer:
        return answer.headers["Location"]
    raise AssertionError("The issuer led nowhere.")


def person_of(client: Client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


@override_settings(OIDC_SIGN_UP=True)
def test_stranger_gets_an_account_and_the_same_one_again(client: Client, issuer: Issuer) -> None:
    come_in(client)
    issuer.person["email"] = "robert@example.org"
    again = Client()
    come_in(again)

    bob = person_of(client)
    assert bob is not None
    assert (bob.username, bob.email, bob.has_usable_password()) == ("bob", "bob@example.org", False)
    assert person_of(again) == bob
    assert AuditEntry.objects.filter(action="account_made", target="user: bob").exists()


def test_way_there_is_bound_to_this_browser_by_pkce_and_state(client: Client, issuer: Issuer) -> None:
    page = client.post(START).content.decode()
    asked = parse_qs(urlsplit(html.unescape(re.search(r'url=([^"]+)"', page)[1])).query)  # type: ignore[index]

    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == ["http://testserver/accounts/issuer/issuer/callback/"]
    assert SECRET not in page
    forged = client.get(f"/accounts/issuer/issuer/callback/?code=x&state={'a' * 16}")
    assert forged.status_code == 403
    assert "/token" not in [path for path, _ in issuer.asked]


def test_nobody_fills_the_audit_log_by_coming_back_from_nowhere(client: Client, issuer: Issuer) -> None:
    forged = client.get(f"/accounts/issuer/issuer/callback/?code=x&state={'a' * 16}")

    assert forged.status_code == 403
    assert not AuditEntry.objects.exists()


def test_sign_up_is_closed_unless_the_environment_opens_it(client: Client, issuer: Issuer) -> None:
    response = come_in(client)

    assert "Sign-up is closed" in response.content.decode()
    assert not User.objects.exists()


def test_account_is_linked_by_a_verified_email_and_its_password_ends(client: Client, issuer: Issuer) -> None:
    bob = make_user("robert", email="Bob@Example.org")
    elsewhere = signed_in(bob)
    elsewhere.get("/")

    come_in(client)

    assert person_of(client) == bob
    bob.refresh_from_db()
    assert not bob.check_password(PASSWORD)
    assert elsewhere.get("/").status_code == 302
    assert AuditEntry.objects.filter(action="account_linked", target="user: robert").exists()


@pytest.mark.parametrize("claims", [{"email_verified": False}, {"email_verified": None}, {"email": None}])
@override_settings(OIDC_SIGN_UP=True)
def test_unverified_email_links_nothing_and_makes_nothing(
    client: Client, issuer: Issuer, claims: dict[str, Any]
) -> None:
    bob = make_user("bob", email="bob@example.org")
    issuer.person.update(claims)

    response = come_in(client)

    assert response.status_code == 403
    assert person_of(client) is None
    assert not SocialAccount.objects.exists()
    bob.refresh_from_db()
    assert bob.check_password(PASSWORD)


@override_settings(OIDC_SIGN_UP=True)
def test_email_that_is_the_user_name_of_another_makes_no_account(client: Client, issuer: Issuer) -> None:
    make_user("Bob@example.org")

    assert come_in(client).status_code == 403
    assert User.objects.count() == 1


@override_settings(OIDC_SIGN_UP=True)
def test_email_of_two_accounts_links_neither(client: Client, issuer: Issuer) -> None:
    make_user("bob", email="bob@example.org")
    make_user("robert", email="BOB@example.org")

    assert "isn’t clear which" in come_in(client).content.decode()
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize(
    ("limits", "claims"),
    [
        ({"OIDC_DOMAINS": ["example.com"]}, {}),
        ({"OIDC_DOMAINS": ["example.org"]}, {"email_verified": False}),
        ({"OIDC_DOMAINS": ["example.org"]}, {"email": "bob@evil-example.org"}),
        ({"OIDC_GROUPS": ["staff"]}, {"groups": ["guests"]}),
        ({"OIDC_GROUPS": ["staff"]}, {"groups": "staff"}),
    ],
)
def test_who_is_of_no_domain_or_group_that_may_stays_out(
    client: Client, issuer: Issuer, limits: dict[str, Any], claims: dict[str, Any]
) -> None:
    issuer.person.update(claims)

    with override_settings(OIDC_SIGN_UP=True, **limits):
        response = come_in(client)

    assert response.status_code == 403
    assert not User.objects.exists()


@override_settings(OIDC_SIGN_UP=True, OIDC_DOMAINS=["example.org"], OIDC_GROUPS=["a", "b"], OIDC_STAFF_GROUP="b")
def test_group_makes_an_administrator_and_no_longer_one(client: Client, issuer: Issuer) -> None:
    make_user("sam", is_staff=True)
    for groups, is_staff in ((["b"], True), (["a"], False), (["a", "b"], True)):
        issuer.person["groups"] = groups
        come_in(Client())
        bob = User.objects.get(username="bob")
        assert (bob.is_staff, bob.is_superuser) == (is_staff, is_staff)


@override_settings(OIDC_SIGN_UP=True, OIDC_STAFF_GROUP="b")
def test_last_administrator_stays_one_whatever_the_group_says(client: Client, issuer: Issuer) -> None:
    issuer.person["groups"] = ["b"]
    come_in(client)
    issuer.person["groups"] = []
    come_in(Client())

    assert User.objects.get(username="bob").is_staff


@override_settings(OIDC_STAFF_GROUP="b")
def test_second_factor_that_a_stranger_left_is_gone_once_the_account_is_linked(client: Client, issuer: Issuer) -> None:
    make_user("sam", is_staff=True)
    bob = with_app(make_user("bob", email="bob@example.org"))
    mallory = Client()
    mallory.post("/accounts/login/", {"login": "bob", "password": PASSWORD})
    issuer.person["groups"] = ["b"]

    come_in(client)
    mallory.post("/accounts/login/second-factor/", {"code": code()})

    assert person_of(client) == bob
    assert User.objects.get(username="bob").is_staff
    assert person_of(mallory) is None
    assert not Authenticator.objects.exists()
    removed = AuditEntry.objects.get(action="factor_removed")
    assert (removed.target, removed.detail) == ("user: bob", "all: 2")


@override_settings(OIDC_STAFF_GROUP="b")
def test_group_makes_nobody_an_administrator_before_the_sign_in_is_complete(client: Client, issuer: Issuer) -> None:
    make_user("sam", is_staff=True)
    make_user("bob", email="bob@example.org")
    come_in(Client())
    with_app(User.objects.get(username="bob"))
    issuer.person["groups"] = ["b"]

    come_in(client)
    assert not User.objects.get(username="bob").is_staff
    client.post("/accounts/login/second-factor/", {"code": code()})
    assert User.objects.get(username="bob").is_staff


@override_settings(OIDC_STAFF_GROUP="b")
def test_who_is_refused_an_account_is_not_said_to_be_an_administrator(client: Client, issuer: Issuer) -> None:
    issuer.person["groups"] = ["b"]

    come_in(client)

    assert not AuditEntry.objects.filter(action="changed").exists()


def test_second_factor_is_asked_for_here_as_well(client: Client, issuer: Issuer) -> None:
    make_user("bob", email="bob@example.org")
    come_in(Client())
    bob = with_app(User.objects.get())

    response = come_in(client)
    assert response.headers["Location"] == "/accounts/login/second-factor/"
    assert person_of(client) is None
    client.post("/accounts/login/second-factor/", {"code": code()})

    assert person_of(client) == bob


@pytest.mark.parametrize("told", [{"aud": "another"}, {"iss": "http://127.0.0.1:1"}, {"exp": 1}, {"sub": "another"}])
@override_settings(OIDC_SIGN_UP=True)
def test_token_of_another_client_issuer_time_or_person_is_refused(
    client: Client, issuer: Issuer, told: dict[str, Any]
) -> None:
    issuer.told = told

    assert come_in(client).status_code == 403
    assert not User.objects.exists()


def test_cancelled_and_broken_are_sentences(client: Client, issuer: Issuer) -> None:
    page = client.post(START).content.decode()
    state = re.search(r"state=(\w+)", page)[1]  # type: ignore[index]
    cancelled = client.get(f"/accounts/issuer/issuer/callback/?error=access_denied&state={state}")
    issuer.is_broken = True
    page = client.post(START).content.decode()
    state = re.search(r"state=(\w+)", page)[1]  # type: ignore[index]
    broken = client.get(f"/accounts/issuer/issuer/callback/?code=x&state={state}")

    assert "was cancelled there" in cancelled.content.decode()
    assert "could not be reached" in broken.content.decode()
    assert (cancelled.status_code, broken.status_code) == (403, 403)


def test_leads_back_to_the_page_that_was_wanted_and_never_to_another_host(client: Client, issuer: Issuer) -> None:
    make_user("bob", email="bob@example.org")

    assert come_in(client, next="/shared/").headers["Location"] == "/shared/"
    assert come_in(Client(), next="https://evil.example/").headers["Location"] == "/"


def test_button_stands_only_where_an_issuer_is_named(client: Client, issuer: Issuer) -> None:
    assert "Sign in with Example ID" in client.get("/accounts/login/").content.decode()
    assert client.get(START).status_code == 405
    with override_settings(OIDC_ISSUER=""):
        assert "Example ID" not in client.get("/accounts/login/").content.decode()
        assert client.post(START).status_code == 404
        assert client.get("/accounts/issuer/issuer/callback/?code=x").status_code == 404


@pytest.mark.parametrize(
    ("issuer", "client_id", "found"),
    [
        ("", "", []),
        ("https://id.example.org", "x", []),
        ("http://127.0.0.1:9000", "x", []),
        ("http://id.example.org", "x", ["foldline.E007"]),
        ("id.example.org", "x", ["foldline.E007"]),
        ("https://id.example.org", "", ["foldline.E008"]),
    ],
)
def test_issuer_is_checked_when_the_server_starts(issuer: str, client_id: str, found: list[str]) -> None:
    assert [each.id for each in check_issuer(issuer, client_id)] == found
