"""Drafts: kept on the server for every device of a person's, cleared by their message, and over a sign-in between."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from chatapp.database import in_database
from chatapp.history.drafts import clear_draft, draft_of, save_draft
from chatapp.models import Attachment, Chat, Draft, File, Message
from tests.factories import make_chat, make_user
from tests.making_files import upload
from tests.people import PASSWORD, signed_in
from tests.people import make_user as make_person
from tests.visiting import Visitor, settled

BOX = re.compile(r"<textarea id=\"text\"[^>]*>\n(.*?)</textarea>", re.DOTALL)
SEAL = re.compile(r'name="person_seal" value="([^"]*)"')


def typed(html: str) -> str:
    found = BOX.search(html)
    assert found
    return unescape(found[1])


def text_of(chat: Chat | None, owner: Any = None) -> str | None:
    draft = draft_of(chat.owner_id if chat else owner.pk, chat.pk if chat else None)
    return draft.text if draft else None


async def test_draft_is_in_the_box_on_another_device_and_gone_once_its_message_is_stored(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi.", titled_by_hand=True))

    saved = await alice.post(f"/chats/{chat.pk}/draft/", text="Half <a>\r\nthought")
    elsewhere = await alice.page(chat)
    await alice.send(chat, "Half <a>\nthought, now whole")
    await settled(chat)

    assert saved.status_code == 204
    assert typed(elsewhere) == "Half <a>\nthought"
    assert typed(await alice.page(chat)) == ""


@pytest.mark.django_db
@pytest.mark.parametrize("part", ["archived/", "earlier/?before=2"])
def test_draft_is_in_the_box_of_every_whole_page(part: str) -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Yes.")
    save_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="Half a thought")

    html = signed_in(chat.owner).get(f"{chat.get_absolute_url()}{part}").content.decode()

    assert typed(html) == "Half a thought"


async def test_draft_of_a_new_chat_is_on_the_home_page_alone(alice: Visitor) -> None:
    other = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))
    await alice.post("/draft/", text="A beginning")

    home = (await alice.client.get("/")).content.decode()
    assert (typed(home), typed(await alice.page(other))) == ("A beginning", "")

    chat = await alice.start("A beginning")
    await settled(chat)
    assert typed((await alice.client.get("/")).content.decode()) == ""


async def test_files_that_are_attached_are_part_of_the_draft(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi.", titled_by_hand=True))
    file = await in_database(lambda: File.objects.create(owner=alice.user, name="a.txt", kind="text", text="A"))

    await alice.post(f"/chats/{chat.pk}/draft/", text="", file=str(file.pk))
    page = await alice.page(chat)
    await alice.send(chat, "", file=str(file.pk))
    await settled(chat)

    assert str(file.pk) in page.partition('id="chips"')[2].partition("</ul>")[0]
    assert not await in_database(Attachment.objects.exclude(draft=None).exists)


async def test_newer_draft_wins_and_an_empty_one_takes_it_away(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))

    for words in ("One", "Two", ""):
        await alice.post(f"/chats/{chat.pk}/draft/", text=words)
        assert typed(await alice.page(chat)) == words
    assert await in_database(Draft.objects.count) == 1


async def test_draft_that_was_typed_earlier_and_comes_in_later_leaves_the_newer_one_alone(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))
    path = f"/chats/{chat.pk}/draft/"

    for age, words, shown in [("600000", "A", "A"), ("300000", "B", "B"), ("600000", "A", "B"), ("x", "C", "C")]:
        await alice.post(path, text=words, age=age)
        assert typed(await alice.page(chat)) == shown


async def test_draft_that_was_typed_earlier_is_kept_where_there_is_no_other(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi.", titled_by_hand=True))
    await alice.post(f"/chats/{chat.pk}/draft/", text="Sent")
    await alice.send(chat, "Sent")
    await settled(chat)

    await alice.post(f"/chats/{chat.pk}/draft/", text="Typed on a train", age="600000")

    assert typed(await alice.page(chat)) == "Typed on a train"


async def test_draft_that_comes_in_after_its_own_message_is_not_kept(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi.", titled_by_hand=True))
    await alice.send(chat, "Said already")

    await alice.post(f"/chats/{chat.pk}/draft/", text="Said already")
    await settled(chat)

    assert typed(await alice.page(chat)) == ""


async def test_refused_text_is_what_stays_in_the_box(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))
    await alice.post(f"/chats/{chat.pk}/draft/", text="Older")

    page = (await alice.post(f"/chats/{chat.pk}/send/", text="Newer", file="gone", htmx=False)).content.decode()

    assert typed(page) == "Newer"
    assert 'data-draft-at="0"' in page


async def test_a_form_without_javascript_keeps_its_draft_and_comes_back(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))

    back = await alice.post(f"/chats/{chat.pk}/draft/", text="Later", back="1", htmx=False)

    assert (back.status_code, back["Location"]) == (302, chat.get_absolute_url())
    assert typed(await alice.page(chat)) == "Later"


async def test_draft_is_out_of_a_stranger_s_reach(alice: Visitor, charlie: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))
    await alice.post(f"/chats/{chat.pk}/draft/", text="Mine")

    assert (await charlie.post(f"/chats/{chat.pk}/draft/", text="Theirs")).status_code == 404
    assert typed((await charlie.client.get("/")).content.decode()) == ""
    assert typed(await alice.page(chat)) == "Mine"


@pytest.mark.django_db
def test_a_draft_of_another_device_is_no_part_of_what_is_sent_here() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    save_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="From the phone")

    clear_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="From the desk")
    kept = text_of(chat)
    clear_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="From the phone, and more")

    assert (kept, text_of(chat)) == ("From the phone", "")


@pytest.mark.django_db
def test_a_draft_of_files_alone_goes_with_its_files_and_not_with_any_words() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    file = File.objects.create(owner=chat.owner, name="a.txt", kind="text", text="A")
    save_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="", file_ids=[file.pk])
    sent = {"owner_id": chat.owner_id, "chat_id": chat.pk, "text": "Hello"}

    clear_draft(**sent)
    kept = Attachment.objects.count()
    clear_draft(**sent, file_ids=[file.pk])

    assert (kept, Attachment.objects.count()) == (1, 0)


@pytest.mark.django_db
@pytest.mark.parametrize("is_new", [True, False], ids=["new chat", "chat"])
def test_a_form_without_javascript_keeps_its_files_and_says_which_it_can_not(*, is_new: bool) -> None:
    person = make_person("alice")
    client = signed_in(person)
    page = "/" if is_new else make_chat(person, "Hello", "Hi.").get_absolute_url()
    both = [upload("good.txt", "Good"), upload("a.zip", b"PK\x03\x04\0\0")]

    kept = client.post(f"{page}draft/", {"text": "Later", "back": "1", "upload": both[0]})
    chips = client.get(page).content.decode().partition('id="chips"')[2].partition("</ul>")[0]
    both[0].seek(0)
    refused = client.post(f"{page}draft/", {"text": "Then <b>", "back": "1", "upload": both})

    assert (kept.status_code, kept["Location"]) == (302, page)
    assert "good.txt" in chips
    html = refused.content.decode()
    assert refused.status_code == 422
    assert "can’t be read as text" in html
    assert typed(html) == "Then <b>"
    assert "good.txt" in html.partition('id="chips"')[2].partition("</ul>")[0]


@pytest.mark.django_db
def test_the_same_words_again_later_are_a_draft() -> None:
    chat = make_chat(None, "Hello", "Hi.")
    Message.objects.filter(chat=chat).update(created_at=timezone.now() - timedelta(minutes=1))

    save_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="Hello")

    assert text_of(chat) == "Hello"


@pytest.mark.django_db
def test_drafts_go_with_their_chat() -> None:
    chat = make_chat(make_user())
    save_draft(owner_id=chat.owner_id, chat_id=chat.pk, text="Half a thought")

    chat.delete()

    assert not Draft.objects.exists()


# A session that ended while somebody wrote, without JavaScript


def page_of(client: Client, path: str) -> tuple[str, str]:
    """What is in its box, and its seal."""
    html = client.get(path).content.decode()
    seal = SEAL.search(html)
    assert seal
    return typed(html), seal[1]


def sign_in(client: Client, name: str, path: str) -> str:
    answer = client.post(f"/accounts/login/?next={path}", {"login": name, "password": PASSWORD})
    assert answer.status_code == 302
    return str(answer["Location"])


@pytest.mark.django_db
@pytest.mark.parametrize("is_new", [True, False], ids=["new chat", "chat"])
def test_text_is_in_the_box_after_signing_in_again(*, is_new: bool) -> None:
    person = make_person("alice")
    client, path = signed_in(person), "/"
    send = "/chats/"
    if not is_new:
        path = make_chat(person, "Hello", "Hi.").get_absolute_url()
        send = f"{path}send/"
    _, seal = page_of(client, path)
    client.cookies.pop("sessionid")

    refused = client.post(send, {"text": "What I wrote", "person_seal": seal})
    landed = sign_in(client, "alice", path)

    assert refused["Location"] == f"/accounts/login/?next={path}"
    assert landed == path
    assert Draft.objects.get().text == "What I wrote"  # by the sign-in: the page that follows only reads
    assert page_of(client, path)[0] == "What I wrote"
    assert page_of(client, path)[0] == "What I wrote"
    assert Message.objects.filter(content="What I wrote").count() == 0


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["send", "draft"])
def test_files_are_there_after_signing_in_again_and_nobody_else_s(command: str) -> None:
    person, other = make_person("alice"), make_person("charlie")
    client, path = signed_in(person), make_chat(person, "Hello", "Hi.").get_absolute_url()
    facts = {"name": "a.txt", "kind": "text", "text": "A"}
    own, foreign = (File.objects.create(owner=owner, **facts) for owner in (person, other))
    _, seal = page_of(client, path)
    client.cookies.pop("sessionid")

    fields = {"text": "Look", "person_seal": seal, "file": [own.pk, foreign.pk, "x" * 5000], "back": "1"}
    client.post(f"{path}{command}/", fields)
    sign_in(client, "alice", path)

    assert page_of(client, path)[0] == "Look"
    assert [each.file for each in Attachment.objects.exclude(draft=None)] == [own]


@pytest.mark.django_db
def test_a_page_that_refused_knows_whose_it_is_as_any_other() -> None:
    client = signed_in(make_person("alice"))
    refused = SEAL.search(client.post("/chats/", {"text": " "}).content.decode())
    client.cookies.pop("sessionid")

    client.post("/chats/", {"text": "What I wrote then", "person_seal": refused[1] if refused else ""})
    sign_in(client, "alice", "/")

    assert page_of(client, "/")[0] == "What I wrote then"


@pytest.mark.django_db
def test_somebody_else_who_signs_in_there_never_sees_it() -> None:
    make_person("charlie")
    client = signed_in(make_person("alice"))
    _, seal = page_of(client, "/")
    client.cookies.pop("sessionid")
    client.post("/chats/", {"text": "Alice's secret", "person_seal": seal})

    sign_in(client, "charlie", "/")
    shown, _ = page_of(client, "/")
    client.post("/accounts/logout/")
    sign_in(client, "alice", "/")

    assert (shown, page_of(client, "/")[0]) == ("", "")


@pytest.mark.django_db
def test_signing_in_succeeds_where_the_chat_of_the_text_is_gone_or_another_s() -> None:
    person = make_person("alice")
    client, others = signed_in(person), make_chat(make_person("charlie"), "Hello", "Hi.")
    _, seal = page_of(client, "/")
    for chat_id in (uuid4(), others.pk):
        client.cookies.pop("sessionid")
        client.post(f"/chats/{chat_id}/send/", {"text": "What I wrote", "person_seal": seal})
        sign_in(client, "alice", "/")

    assert not Draft.objects.exists()
    assert page_of(client, "/")[0] == ""


@pytest.mark.django_db
@pytest.mark.parametrize("seal", ["", "1", "1:forged"])
def test_nothing_is_put_by_for_somebody_who_was_never_signed_in(seal: str) -> None:
    client = Client()

    answer = client.post("/chats/", {"text": "Spam", "person_seal": seal})

    assert answer["Location"] == "/accounts/login/?next=/"
    assert "sessionid" not in client.cookies
