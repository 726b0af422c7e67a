"""The audit log: who did what, when and from where, without a word of what people write and without a secret."""

from __future__ import annotations

import csv
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from chatapp import auditing
from chatapp.database import in_database
from chatapp.models import AuditEntry, Endpoint, SiteSettings
from tests.factories import make_chat
from tests.people import PASSWORD, make_user, signed_in

pytestmark = pytest.mark.django_db
LOG = "/admin/chatapp/auditentry/"
SETTINGS = "/admin/chatapp/sitesettings/"


@pytest.fixture
def sam() -> User:
    return make_user("sam", is_staff=True)


@pytest.fixture
def staff(sam: User) -> Client:
    client = signed_in(sam)
    AuditEntry.objects.all().delete()
    return client


def rows() -> list[tuple[str, str, str, str]]:
    return list(AuditEntry.objects.order_by("pk").values_list("actor", "action", "target", "detail"))


def settings_form(client: Client, **changes: object) -> dict[str, object]:
    """What the form of the settings holds now, with `changes` made."""
    form = client.get(SETTINGS).context["adminform"].form
    values = {name: form.initial.get(name) for name in form.fields}
    return {name: value for name, value in (values | changes).items() if value is not None and value is not False}


def test_signing_in_and_out_are_rows_with_address_and_device(client: Client) -> None:
    alice = make_user("alice")
    where = {"REMOTE_ADDR": "203.0.113.7", "HTTP_USER_AGENT": "Firefox"}

    client.post("/accounts/login/", {"login": "alice", "password": PASSWORD}, **where)
    client.post("/accounts/logout/", **where)

    kept = AuditEntry.objects.order_by("pk").values_list("action", "actor", "actor_id", "address", "device")
    assert list(kept) == [
        ("signed_in", "alice", alice.pk, "203.0.113.7", "Firefox"),
        ("signed_out", "alice", alice.pk, "203.0.113.7", "Firefox"),
    ]


def test_failed_sign_in_names_an_account_and_never_what_else_was_typed(client: Client) -> None:
    make_user("alice", email="alice@example.org")

    for typed in ("ALICE@example.org", "my password by mistake"):
        client.post("/accounts/login/", {"login": typed, "password": "wrong"})

    assert rows() == [("alice", "sign_in_failed", "", ""), ("", "sign_in_failed", "", "")]


def test_changed_setting_tells_old_and_new_but_of_a_text_only_that_it_changed(staff: Client) -> None:
    staff.post(SETTINGS, settings_form(staff, threshold_percent=80, system_prompt="be kind to Bob"))

    [(actor, action, target, detail)] = rows()
    assert (actor, action, target) == ("sam", "changed", "sitesettings: Settings")
    assert detail == "threshold_percent: 85 → 80, system_prompt"


def test_saving_without_a_change_leaves_no_row(staff: Client) -> None:
    staff.post(SETTINGS, settings_form(staff))

    assert rows() == []


def test_changed_key_is_a_row_of_its_own_and_the_key_in_none(staff: Client) -> None:
    endpoint = Endpoint.objects.create(name="far", base_url="http://127.0.0.1:9/v1")
    form = {"name": "near", "base_url": "http://127.0.0.1:9/v1", "key": "sk-secret", "enabled": "on"}

    staff.post(f"/admin/chatapp/endpoint/{endpoint.pk}/change/", form)

    assert rows() == [
        ("sam", "key_changed", "endpoint: near", ""),
        ("sam", "changed", "endpoint: near", "name: far → near"),
    ]


def test_what_becomes_of_an_account_is_told_and_what_it_wrote_is_not(staff: Client) -> None:
    form = {"username": "bob", "email": "", "password1": PASSWORD, "password2": PASSWORD}
    staff.post("/admin/auth/user/add/", form)
    bob = User.objects.get(username="bob")
    make_chat(bob, "The vault is in Lyon")
    page = f"/admin/auth/user/{bob.pk}"

    staff.post(f"{page}/password/", {"password1": "the pier has a lamp", "password2": "the pier has a lamp"})
    staff.post(f"{page}/change/", {"username": "bob", "email": "", "is_active": "on", "is_staff": "on"})
    staff.post(f"{page}/delete/", {"post": "yes"})

    made, password, promoted, deleted = [row[1:] for row in rows()]
    assert made[:2] == ("account_made", "user: bob")
    assert password == ("password_changed", "user: bob", "")
    assert promoted == ("changed", "user: bob", "is_staff: False → True")
    assert deleted == ("account_deleted", "user: bob", "chats: 1")
    assert not any(word in str(rows()) for word in ("Lyon", "vault", "lamp"))


def test_deleted_and_exported_chats_are_counted_without_their_titles() -> None:
    alice = make_user("alice")
    client, chat = signed_in(alice), make_chat(alice, "Hello")
    AuditEntry.objects.all().delete()

    client.get("/export/")
    client.post(f"/chats/{chat.pk}/delete/")

    assert rows() == [("alice", "exported", "chats", "1"), ("alice", "chats_deleted", "", "1")]


def test_list_is_searched_and_filtered_and_leads_nowhere_to_change(staff: Client) -> None:
    auditing.record(auditing.Action.CHANGED, name="sam", target="endpoint: far")
    auditing.record(auditing.Action.SIGNED_IN, name="alice")

    found = staff.get(f"{LOG}?q=far").content.decode()
    filtered = staff.get(f"{LOG}?action=signed_in").content.decode()

    assert "endpoint: far" in found
    assert "alice" not in found
    assert "endpoint: far" not in filtered
    entry = AuditEntry.objects.order_by("pk")[0]
    for page in (f"{entry.pk}/change/", f"{entry.pk}/delete/", "add/"):
        assert staff.post(f"{LOG}{page}", {"post": "yes", "actor": "nobody"}).status_code == 403
    assert AuditEntry.objects.filter(target="endpoint: far", actor="sam").exists()


@pytest.mark.django_db(transaction=True)
async def test_export_has_the_rows_of_the_list_and_no_formula_in_a_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatapp.admin.audit.ROWS_AT_ONCE", 2)
    staff = await in_database(lambda: signed_in(make_user("sam", is_staff=True)))
    for number in range(5):
        await in_database(auditing.record, auditing.Action.CHANGED, name="=HYPERLINK(1)", target=f"far {number}")
    await in_database(auditing.record, auditing.Action.SIGNED_IN, name="alice")

    response: Any = await in_database(staff.get, f"{LOG}export/?q=far")
    written = b"".join([piece async for piece in response.streaming_content]).decode()

    lines = list(csv.reader(written.splitlines()))
    assert response.headers["Content-Type"].startswith("text/csv")
    assert lines[0][1:4] == ["action", "actor", "target"]
    assert [line[1:4] for line in lines[1:]] == [["changed", "'=HYPERLINK(1)", f"far {n}"] for n in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize("query", ["nonsense", "actor__nonsense=1", "created_at__gte=x"])
def test_export_by_a_filter_that_there_isn_t_leads_to_the_list(staff: Client, query: str) -> None:
    answer = staff.get(f"{LOG}export/?{query}")

    assert (answer.status_code, answer.headers["Location"]) == (302, LOG)
    assert rows() == []


def test_log_is_for_staff_only() -> None:
    alice = signed_in(make_user("alice"))

    for page in (LOG, f"{LOG}export/"):
        assert alice.get(page).status_code == 302


def test_history_of_a_row_is_its_part_of_the_log(staff: Client) -> None:
    endpoint = Endpoint.objects.create(name="far", base_url="http://127.0.0.1:9/v1")

    response = staff.get(f"/admin/chatapp/endpoint/{endpoint.pk}/history/")

    assert response.headers["Location"] == f"{LOG}?q=endpoint%3A+far"


@pytest.mark.parametrize(("days", "left"), [(30, ["young"]), (0, ["old", "young"])])
def test_rows_are_kept_for_the_days_that_are_set(days: int, left: list[str]) -> None:
    site = SiteSettings.get_solo()
    site.audit_days = days
    site.save()
    auditing.record(auditing.Action.EXPORTED, name="old")
    AuditEntry.objects.update(created_at=timezone.now() - timedelta(days=31))
    auditing.record(auditing.Action.EXPORTED, name="young")

    auditing.prune()

    assert list(AuditEntry.objects.order_by("pk").values_list("actor", flat=True)) == left


def test_rotated_keys_are_a_row() -> None:
    call_command("rotate_keys", stdout=StringIO())

    assert rows() == [("", "keys_rotated", "", "sealed anew: 0, unreadable: 0")]
