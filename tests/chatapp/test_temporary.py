"""Temporary chats: begun by a choice, told of, kept, or deleted when their time is over, whichever process is first."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest
from django.utils import timezone

from chatapp.database import in_database
from chatapp.history import forking, temporary
from chatapp.models import Chat, Message, Run, SiteSettings
from chatapp.runs import reaper
from chatapp.searching import find_chats, search
from tests.factories import add_messages, make_chat, make_user
from tests.people import signed_in
from tests.visiting import Visitor, settled

pytestmark = pytest.mark.django_db


def over(owner=None, *texts, **facts) -> Chat:
    return make_chat(owner, *texts, expires_at=timezone.now() - timedelta(seconds=1), **facts)


async def test_new_chat_is_temporary_by_a_choice_for_as_long_as_the_admin_set(alice: Visitor) -> None:
    await in_database(SiteSettings.objects.update_or_create, defaults={"temporary_hours": 2})

    chat = await alice.start("Between us", temporary="1")
    ordinary = await alice.start("For ever")
    for each in (chat, ordinary):
        await settled(each)

    left = chat.expires_at - timezone.now()
    assert timedelta(hours=1, minutes=59) < left <= timedelta(hours=2)
    assert ordinary.expires_at is None
    page = await alice.page(chat)
    assert "Temporary chat, deleted" in page
    assert "Keep this chat" in page
    assert "Temporary chat, deleted after 2 hours" in (await alice.client.get("/")).content.decode()


def test_kept_chat_is_an_ordinary_one() -> None:
    alice = make_user()
    chat = over(alice)

    signed_in(alice).post(f"/chats/{chat.pk}/keep/")

    assert temporary.delete_expired() == []
    assert Chat.objects.get(pk=chat.pk).expires_at is None


def test_only_what_is_over_is_deleted_and_only_once() -> None:
    chat = over(None, "Hello", "Hi.")
    for expires_at in (None, timezone.now() + timedelta(minutes=1)):
        make_chat(expires_at=expires_at)

    assert temporary.delete_expired() == [(chat.pk, chat.owner_id)]
    assert temporary.delete_expired() == []
    assert Chat.objects.count() == 2
    assert not Message.objects.exists()


def test_chat_kept_between_the_look_and_the_deletion_stays() -> None:
    chat = over()
    temporary.keep_chat(chat_id=chat.pk)

    assert temporary._delete_if_due(chat.pk) is False


def test_second_process_finds_it_gone() -> None:
    chat = over()

    assert [temporary._delete_if_due(chat.pk) for _ in range(2)] == [True, False]


def test_reply_that_is_being_written_is_waited_for() -> None:
    chat = over(None, "Hello")
    [reply] = add_messages(chat, "Well", status="streaming")
    run = Run.objects.create(chat=chat, reply=reply, owner="here", lease_until=timezone.now())
    assert temporary.delete_expired() == []

    Run.objects.filter(pk=run.pk).update(status="complete")

    assert temporary.delete_expired() == [(chat.pk, chat.owner_id)]


async def test_open_page_is_told_that_it_is_gone(alice: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper, "SECONDS_BETWEEN", 0.05)
    chat = await alice.start("Between us", temporary="1")
    await settled(chat)
    async with alice.socket(chat) as socket:
        await in_database(Chat.objects.filter(pk=chat.pk).update, expires_at=timezone.now())
        while (said := await socket.communicator.receive_output(timeout=10))["type"] != "websocket.close":
            pass

    assert said["code"] == 4404


def test_fork_of_a_temporary_chat_is_deleted_with_it() -> None:
    chat = over(None, "Hello", "Hi.")
    forking.fork(chat_id=chat.pk, message_id=chat.messages.first().pk)

    assert len(temporary.delete_expired()) == 2


def test_temporary_chat_is_in_no_search_but_in_the_list() -> None:
    alice = make_user()
    chat = make_chat(alice, "a secret", expires_at=timezone.now() + timedelta(hours=1))
    Chat.objects.filter(pk=chat.pk).update(title="Secret plans")

    assert search(alice, "secret") == find_chats(alice, "secret") == []
    assert "Secret plans" in signed_in(alice).get("/").content.decode()


@pytest.mark.parametrize("address", ["/export/", "/export/markdown/"])
async def test_temporary_chat_is_in_no_file_of_all_chats(alice: Visitor, address: str) -> None:
    for text, expires_at in (("for ever", None), ("a secret", timezone.now() + timedelta(hours=1))):
        chat = await in_database(make_chat, alice.user, text, expires_at=expires_at)
        await in_database(Chat.objects.filter(pk=chat.pk).update, title=text)

    response = await alice.client.get(address)
    whole = b"".join([piece async for piece in response.streaming_content])

    told = "".join(zipfile.ZipFile(io.BytesIO(whole)).namelist()) if whole.startswith(b"PK") else whole.decode()
    assert "ever" in told
    assert "secret" not in told


def test_stranger_keeps_nothing_of_alices() -> None:
    chat = over()

    assert signed_in(make_user()).post(f"/chats/{chat.pk}/keep/").status_code == 404
    assert Chat.objects.get(pk=chat.pk).expires_at
