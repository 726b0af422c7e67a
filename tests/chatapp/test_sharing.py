"""A link to a frozen copy of a chat: who may read it, what is in it, what never is."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chatapp.history import sharing
from chatapp.models import Chat, Message, Share, SiteSettings
from tests.factories import add_messages, fold, make_chat, make_user
from tests.people import known, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return make_user("alice", first_name="Alice", last_name="Liddell")


@pytest.fixture
def chat(alice: User) -> Chat:
    """Folded, with another version, a deleted message, reasoning, usage and a system prompt."""
    chat = make_chat(alice, "Hello", "Hi.", "More", "**Here.**", "Gone", "Too.", system_prompt="Be a spy.")
    fold(chat, through=1, summary="They greeted.")
    chat.messages.filter(position=3).update(reasoning="I think so.", prompt_tokens=4711, failure_detail="sk-secret")
    Message.objects.create(chat=chat, position=3, active=False, role="assistant", content="Another version")
    chat.messages.filter(position=4).update(deleted_at="2026-12-01T00:00:00Z")
    return chat


@pytest.fixture
def charlie() -> Client:
    return signed_in(make_user("charlie"))


def share(chat: Chat, *, audience: str = "signed_in", **shows: bool) -> Share:
    options = {"shows_name": False, "shows_reasoning": False} | shows
    return sharing.share(chat_id=chat.pk, audience=audience, **options)


def words(response: Any) -> str:
    return " ".join(response.content.decode().split())


def likened(response: Any, copy: Share) -> str:
    """Without what differs between any two pages: the address asked for, and a form's token."""
    page = words(response).replace(copy.token, "never-was")
    return re.sub('name="csrfmiddlewaretoken" value="[^"]*"', "", page)


def allow_anyone(*, allowed: bool = True) -> None:
    site = SiteSettings.get_solo()
    site.shares_with_anyone = allowed
    site.save()


def test_reader_sees_the_path_and_nothing_else(chat: Chat, charlie: Client) -> None:
    copy = share(chat)

    page = charlie.get(copy.get_absolute_url()).content.decode()

    for said in ("Hello", "Hi.", "More", "<strong>Here.</strong>", "Too."):
        assert said in page
    hidden = ["Another version", "Gone", "They greeted", "spy", "4711", "sk-secret", "I think so", "alice", "Alice"]
    for secret in [*hidden, str(chat.pk)]:
        assert secret not in page


def test_later_messages_and_a_new_title_do_not_leak(chat: Chat, charlie: Client) -> None:
    copy = share(chat)
    add_messages(chat, "A later secret")
    chat.messages.filter(position=0).update(content="Changed")
    Chat.objects.update(title="A later title")

    page = words(charlie.get(copy.get_absolute_url()))
    sharing.update_share(chat_id=chat.pk, share_id=copy.pk)
    updated = words(charlie.get(copy.get_absolute_url()))

    assert "later" not in page
    assert "Changed" not in page
    assert "A later secret" in updated
    assert "A later title" in updated


def test_name_and_reasoning_are_shown_where_they_were_chosen(chat: Chat, charlie: Client) -> None:
    page = words(charlie.get(share(chat, shows_name=True, shows_reasoning=True).get_absolute_url()))

    assert "shared by <bdi>Alice Liddell</bdi>" in page
    assert "I think so." in page


def test_anyone_is_off_by_default_and_goes_with_the_switch(chat: Chat, charlie: Client) -> None:
    client = signed_in(chat.owner)
    form = client.get(f"/chats/{chat.pk}/share/").content.decode()
    refused = client.post(f"/chats/{chat.pk}/share/", {"audience": "anyone"})
    assert 'value="anyone"' not in form
    assert (refused.status_code, Share.objects.count()) == (422, 0)

    allow_anyone()
    client.post(f"/chats/{chat.pk}/share/", {"audience": "anyone"})
    address = Share.objects.get().get_absolute_url()
    assert Client().get(address).status_code == 200
    allow_anyone(allowed=False)
    assert (Client().get(address).status_code, charlie.get(address).status_code) == (404, 200)


def test_private_copy_is_its_owners_alone_and_may_be_opened_later(chat: Chat, charlie: Client) -> None:
    allow_anyone()
    copy, owner = share(chat, audience="private"), signed_in(chat.owner)
    address = copy.get_absolute_url()

    never = likened(charlie.get("/s/never-was/"), copy)
    alike = likened(charlie.get(address), copy)
    private = [each.get(address).status_code for each in (owner, charlie, Client())]
    owner.post(f"/shared/{copy.pk}/audience/", {"audience": "anyone"})

    assert private == [200, 404, 404]
    assert alike == never
    assert [each.get(address).status_code for each in (owner, charlie, Client())] == [200, 200, 200]


def test_audience_cannot_become_one_that_is_not_allowed(chat: Chat) -> None:
    copy = share(chat)

    signed_in(chat.owner).post(f"/shared/{copy.pk}/audience/", {"audience": "anyone"})

    assert Share.objects.get().audience == "signed_in"


def test_link_for_the_signed_in_is_nothing_to_others_who_are_told_how(chat: Chat) -> None:
    allow_anyone()
    copy = share(chat)

    there, never = Client().get(copy.get_absolute_url()), Client().get("/s/never-was/")

    assert (there.status_code, never.status_code) == (404, 404)
    assert likened(there, copy) == likened(never, copy)
    assert f"next=/s/{copy.token}/" in there.content.decode()


def test_revoked_link_is_like_one_that_never_was(chat: Chat, charlie: Client) -> None:
    copy = share(chat)

    signed_in(chat.owner).post(f"/shared/{copy.pk}/revoke/")

    revoked, never = charlie.get(copy.get_absolute_url()), charlie.get("/s/never-was/")
    assert (revoked.status_code, never.status_code) == (404, 404)
    assert likened(revoked, copy) == likened(never, copy)
    assert not Share.objects.exists()


@pytest.mark.parametrize("leaves", ["chat", "owner", "access"])
def test_link_ends_with_the_chat_its_owner_and_their_access(chat: Chat, charlie: Client, leaves: str) -> None:
    copy = share(chat)
    if leaves == "access":
        User.objects.filter(pk=chat.owner_id).update(is_active=False)
    else:
        (chat if leaves == "chat" else chat.owner).delete()

    assert charlie.get(copy.get_absolute_url()).status_code == 404


def test_page_is_found_by_no_search_engine_and_kept_by_no_cache(chat: Chat, charlie: Client) -> None:
    response = charlie.get(share(chat).get_absolute_url())

    assert response["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert '<meta name="robots" content="noindex' in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    assert "unsafe" not in response["Content-Security-Policy"]


def test_token_of_a_link_is_in_no_line_of_the_log(chat: Chat) -> None:
    copy = share(chat)

    record = logging.LogRecord("django.request", 30, "", 0, "%s: %s", ("Not Found", copy.get_absolute_url()), None)
    [console] = [each for each in logging.getLogger().handlers if each.filters]
    assert console.filter(record)
    line = console.format(record)
    assert "Not Found: /s/…/" in line
    assert copy.token not in line


def test_own_list_says_what_and_who_and_only_ones_own(chat: Chat, charlie: Client) -> None:
    copy = share(chat, shows_name=True)

    page = words(signed_in(chat.owner).get("/shared/"))

    assert f'href="http://testserver/s/{copy.token}/"' in page
    assert "5 messages, as of" in page
    assert "Whoever is signed in here may read it." in page
    assert copy.token not in words(charlie.get("/shared/"))


def test_stranger_and_anonymous_command_nothing(chat: Chat, charlie: Client) -> None:
    copy = share(chat)

    own = [f"/shared/{copy.pk}/{command}/" for command in ("revoke", "update", "audience")]
    for address in (*own, f"/chats/{chat.pk}/share/"):
        assert charlie.post(address, {"audience": "private"}).status_code == 404
        assert Client().post(address).status_code == 302
    assert charlie.get(f"/chats/{chat.pk}/share/").status_code == 404
    assert Client().post(f"/s/{copy.token}/continue/").status_code == 302
    left = Share.objects.get()
    assert (left.taken_at, left.audience) == (copy.taken_at, "signed_in")


def test_reader_continues_in_a_chat_of_their_own(chat: Chat, charlie: Client) -> None:
    copy = share(chat)

    response = charlie.post(f"/s/{copy.token}/continue/")

    own = Chat.objects.get(owner__username="charlie")
    assert response["Location"] == own.get_absolute_url()
    assert list(own.messages.on_path().values_list("content", flat=True)) == [
        "Hello",
        "Hi.",
        "More",
        "**Here.**",
        "Too.",
    ]
    assert (own.title, own.system_prompt, own.is_compacted) == ("A chat", "", False)
    assert charlie.get(own.get_absolute_url()).status_code == 200


def test_reply_that_is_being_written_is_not_in_the_copy(alice: User) -> None:
    chat = make_chat(alice, "Hello", "Hal")
    chat.messages.filter(position=1).update(status="streaming")

    assert [said["content"] for said in share(chat).messages] == ["Hello"]


def test_nothing_said_is_nothing_to_share(alice: User) -> None:
    chat = make_chat(alice)

    response = signed_in(alice).post(f"/chats/{chat.pk}/share/", {"audience": "signed_in"})

    assert (response.status_code, Share.objects.count()) == (422, 0)
    assert "Nothing has been said" in words(response)


def test_number_of_links_to_a_chat_has_an_end(chat: Chat) -> None:
    for _ in range(20):
        share(chat)

    assert "20 links" in words(signed_in(chat.owner).post(f"/chats/{chat.pk}/share/", {"audience": "signed_in"}))


def test_hostile_texts_are_words(alice: User, charlie: Client) -> None:
    script = "<script>alert(1)</script><svg onload=alert(1)><a href='javascript:alert(1)' hx-get='/x'>x</a>"
    chat = make_chat(alice, script, script)
    Chat.objects.update(title=script[:190])
    chat.messages.update(reasoning=script, model_name=script[:190])

    pages = [charlie.get(share(chat, shows_reasoning=True).get_absolute_url()), signed_in(alice).get("/shared/")]

    for page in pages:
        text = page.content.decode()
        assert "<script>alert" not in text
        assert "<svg" not in text
        assert "<a href='javascript" not in text


def test_long_copy_comes_in_pages(alice: User, charlie: Client) -> None:
    chat = make_chat(alice)
    Message.objects.bulk_create(
        Message(chat=chat, position=at, role="assistant" if at % 2 else "user", content=f"Word {at}.")
        for at in range(250)
    )
    address = share(chat).get_absolute_url()

    first, last = charlie.get(address).content.decode(), charlie.get(f"{address}?from=200").content.decode()

    assert ("Word 99." in first, "Word 100." in first, "?from=100" in first) == (True, False, True)
    assert ("Word 249." in last, "?from=100" in last, "Later" in last) == (True, True, False)
    assert charlie.get(f"{address}?from=99999").status_code == 200
    assert charlie.get(f"{address}?from=x").status_code == 200


def test_queries_do_not_grow_with_messages_or_links(
    alice: User, charlie: Client, django_assert_num_queries: Any
) -> None:
    short, long = make_chat(alice, "Hello", "Hi."), make_chat(alice, *["Hello", "Hi."] * 20)
    SiteSettings.get_solo()
    known(charlie)

    for chat in (short, long):
        address = share(chat).get_absolute_url()
        with django_assert_num_queries(4):
            charlie.get(address)
    owner = known(signed_in(alice))
    for _ in range(3):
        share(long)
        with django_assert_num_queries(4):
            owner.get("/shared/")
