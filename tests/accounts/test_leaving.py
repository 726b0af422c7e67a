"""Everything a person has goes into a file, and goes with the account."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client

from chatapp import archives
from chatapp.importing import files
from chatapp.models import (
    AuditEntry,
    Chat,
    Draft,
    File,
    Folder,
    Import,
    Message,
    Preset,
    Share,
    SignIn,
    Tag,
    UsageRecord,
)
from tests.accounts.codes import SECRET, with_app
from tests.factories import make_chat
from tests.people import PASSWORD, make_user

pytestmark = pytest.mark.django_db
PAGE = "/accounts/delete/"


@pytest.fixture
def alice() -> User:
    """With one of everything."""
    user = make_user("alice", email="alice@example.org")
    chat = make_chat(user, "Hello", "Hi.")
    UsageRecord.objects.create(chat=chat, kind="reply", model_name="small", prompt_tokens=7)
    Share.objects.create(chat=chat, title="A copy")
    chat.folder = Folder.objects.create(owner=user, name="Home")
    chat.save()
    Tag.objects.create(owner=user, name="bread")
    Preset.objects.create(owner=user, name="short", text="Be short.")
    draft = Draft.objects.create(owner=user, text="half a thought")
    file = File.objects.create(owner=user, name="notes.txt", kind="text", text="flour")
    draft.attachments.create(file=file)
    return user


def signed_in_as(user: User) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": user.get_username(), "password": PASSWORD})
    return client


def confirmed(user: User) -> Client:
    client = signed_in_as(user)
    client.post("/accounts/confirm/", {"password": PASSWORD})
    return client


def rows_of(user_id: int) -> list[str]:
    """Every model with a row that points at the account, whatever its field is called."""
    fields = [field for model in apps.get_models() for field in model._meta.concrete_fields]
    pointing = [(field.model, field.name) for field in fields if field.related_model is User]
    return [model.__name__ for model, name in pointing if model._default_manager.filter(**{name: user_id}).exists()]


def test_account_goes_with_all_that_points_at_it(alice: User, django_capture_on_commit_callbacks: Any) -> None:
    client, alice_id = confirmed(alice), alice.pk
    row = Import.objects.create(owner=alice, name="old.json", size=3)
    files.add_part(row, [b"[]"], at=0)
    assert {"Chat", "File", "Preset", "SignIn"} <= set(rows_of(alice_id))

    with django_capture_on_commit_callbacks() as committed:
        response = client.post(PAGE, {"name": "alice"}, follow=True)
    assert files.path_of(row.pk).exists()  # until it is certain that the account is gone
    for callback in committed:
        callback()

    assert "all that was in it is deleted" in response.content.decode()
    assert rows_of(alice_id) == []
    assert not files.path_of(row.pk).exists()
    for model in (User, Chat, Message, Share, File, SignIn):
        assert not model.objects.exists(), model


def test_log_and_ledger_stay_and_the_ledger_names_nobody(alice: User) -> None:
    confirmed(alice).post(PAGE, {"name": "alice"})

    entry = AuditEntry.objects.get(action="account_deleted")
    assert (entry.actor, entry.target, entry.detail) == ("alice", "user: alice", "chats: 1")
    assert UsageRecord.objects.get().chat is None


def test_deleting_asks_who_it_is_and_for_the_name(alice: User) -> None:
    client = signed_in_as(alice)

    unconfirmed = client.post(PAGE, {"name": "alice"})
    client.post("/accounts/confirm/", {"password": PASSWORD})
    misspelt = client.post(PAGE, {"name": "alicia"})

    assert unconfirmed.headers["Location"].startswith("/accounts/confirm/")
    assert misspelt.status_code == 422
    assert User.objects.filter(pk=alice.pk).exists()


def test_only_administrator_stays_until_there_is_another_one() -> None:
    sam = make_user("sam", is_staff=True)
    client = confirmed(sam)

    refused = client.post(PAGE, {"name": "sam"})
    assert "You are the only administrator" in refused.content.decode()
    assert User.objects.filter(pk=sam.pk).exists()

    make_user("second", is_staff=True)
    client.post(PAGE, {"name": "sam"})
    assert not User.objects.filter(pk=sam.pk).exists()


def test_administrator_deletes_an_account_as_wholly(alice: User, django_capture_on_commit_callbacks: Any) -> None:
    alice_id = alice.pk
    row = Import.objects.create(owner=alice, name="old.json", size=3)
    files.add_part(row, [b"[]"], at=0)

    client = signed_in_as(make_user("sam", is_staff=True))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/admin/auth/user/{alice_id}/delete/", {"post": "yes"})

    assert rows_of(alice_id) == []
    assert not File.objects.exists()
    assert not files.path_of(row.pk).exists()


async def listed(pieces: AsyncIterator[str]) -> list[str]:
    return [piece async for piece in pieces]


@pytest.mark.django_db(transaction=True)  # read in threads of its own
def test_everything_is_in_the_file_and_no_secret(alice: User) -> None:
    with_app(alice)
    SignIn.objects.create(user=alice, session_key="k" * 32, device="Firefox")
    token = Share.objects.get().token

    File.objects.create(owner=alice, name="more.txt", kind="text", text="yeast")
    pieces = asyncio.run(listed(archives.account_pieces(alice.pk)))
    assert not [piece for piece in pieces if "flour" in piece and "yeast" in piece]  # one file at a time in memory
    account = json.loads("".join(pieces))
    text = json.dumps(account)

    assert (account["username"], account["email"]) == ("alice", "alice@example.org")
    assert [each["name"] for each in account["presets"]] == ["short"]
    assert [each["text"] for each in account["drafts"]] == ["half a thought"]
    assert [(each["name"], each["text"]) for each in account["files"]] == [
        ("notes.txt", "flour"),
        ("more.txt", "yeast"),
    ]
    assert [each["device"] for each in account["signed_in"]] == ["Firefox"]
    assert {each["type"] for each in account["second_factors"]} == {"totp", "recovery_codes"}
    assert {"folders", "tags", "shares", "imports", "waiting", "daily_use", "log"} <= set(account)
    for secret in (alice.password, token, SECRET, "k" * 32, 'data": {'):
        assert secret not in text


def test_file_of_everything_is_one_object_with_the_account_behind_the_chats() -> None:
    async def account() -> AsyncIterator[str]:
        yield '{"username": '
        yield '"alice"}'

    told = json.loads("".join(asyncio.run(listed(archives.stream_json([], beside=account())))))

    assert list(told) == ["format", "version", "chats", "account"]
    assert told["account"] == {"username": "alice"}
