"""`manage.py resetpassword`: a way back in for whoever is locked out, the only administrator too."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from chatapp.logs import close_doors
from chatapp.management.commands import resetpassword
from chatapp.models import AuditEntry
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
NEW = "the pier has a lamp"
BOTH = {"password1": NEW, "password2": NEW}


def reset(*arguments: str) -> str:
    said = StringIO()
    call_command("resetpassword", *arguments, stdout=said)
    return said.getvalue()


def link_for(name: str) -> str:
    """The path of the link that is printed for that account."""
    said = reset(name)
    return "/" + said.split("http://", 1)[1].split("/", 1)[1].strip()


def test_link_is_good_once(client: Client) -> None:
    sam = make_user("sam", is_staff=True)
    elsewhere = signed_in(sam)
    elsewhere.get("/")
    link = link_for("sam")

    form = client.get(link, follow=True)
    client.post(form.redirect_chain[-1][0], BOTH)

    sam.refresh_from_db()
    assert sam.check_password(NEW)
    assert elsewhere.get("/").status_code == 302
    assert "has been used" in Client().get(link, follow=True).content.decode()
    actions = AuditEntry.objects.exclude(action="signed_in").order_by("pk").values_list("action", "target")
    assert list(actions) == [("reset_link_made", "user: sam"), ("password_changed", "user: sam")]


def test_weak_password_is_refused_and_the_link_holds(client: Client) -> None:
    sam = make_user("sam")
    page = client.get(link_for("SAM"), follow=True).redirect_chain[-1][0]

    refused = client.post(page, {"password1": "sam", "password2": "sam"})
    client.post(page, BOTH)

    sam.refresh_from_db()
    assert refused.status_code == 200
    assert sam.check_password(NEW)


def test_locked_out_administrator_gets_in_again(client: Client) -> None:
    make_user("sam", is_staff=True)
    for _ in range(10):
        client.post("/accounts/login/", {"login": "sam", "password": "wrong"})
    assert client.post("/accounts/login/", {"login": "sam", "password": PASSWORD}).status_code == 429

    page = client.get(link_for("sam"), follow=True).redirect_chain[-1][0]
    client.post(page, BOTH)

    assert client.post("/accounts/login/", {"login": "sam", "password": NEW}).status_code == 302
    assert client.get("/admin/").status_code == 200


def test_password_asked_for_is_set_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sam = make_user("sam")
    monkeypatch.setattr(resetpassword, "getpass", lambda _: NEW)

    said = reset("sam", "--ask")

    sam.refresh_from_db()
    assert sam.check_password(NEW)
    assert NEW not in said


@pytest.mark.parametrize("typed", [["a", "b"], ["short", "short"]])
def test_password_asked_for_that_is_no_good_changes_nothing(monkeypatch: pytest.MonkeyPatch, typed: list[str]) -> None:
    sam = make_user("sam")
    monkeypatch.setattr(resetpassword, "getpass", lambda _: typed.pop(0))

    with pytest.raises(CommandError):
        reset("sam", "--ask")

    sam.refresh_from_db()
    assert sam.check_password(PASSWORD)


def test_unknown_account_is_an_error() -> None:
    with pytest.raises(CommandError, match="There is no account “nobody”"):
        reset("nobody")


def test_link_is_told_in_no_log() -> None:
    make_user("sam")
    link = link_for("sam")
    event = close_doors(None, "info", {"event": f"Not Found: {link}"})

    assert event["event"] == "Not Found: /accounts/password/reset/key/…/"
