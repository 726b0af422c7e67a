"""Chats in order: pinned, archived, in folders, under tags, unread; the list, what is done to many, and who may."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chatapp import presenting
from chatapp.history import chats, forking, ordering, turns
from chatapp.history.errors import NotPossible
from chatapp.models import Chat, Folder, Run, Tag
from chatapp.presenting.sidebar import MOST_IN_FOLDER, MOST_PINNED, PAGE
from tests.factories import add_messages, make_chat, make_user
from tests.people import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice) -> Client:
    return signed_in(alice)


def titled(owner, title, *, days=0, **facts) -> Chat:
    chat = make_chat(owner, touched_at=timezone.now() - timedelta(days=days), **facts)
    Chat.objects.filter(pk=chat.pk).update(title=title)
    return Chat.objects.get(pk=chat.pk)


def shown(user, **place):
    """The list as {heading: titles}."""
    sidebar = presenting.read_sidebar(user, presenting.ListPlace(**place))
    found = {"Pinned": [chat.title for chat in sidebar.pinned]} if sidebar.pinned else {}
    found |= {f"in {each.folder.name}": [chat.title for chat in each.chats] for each in sidebar.folders}
    return found | {group.label: [chat.title for chat in group.chats] for group in sidebar.groups}


def fresh(chat: Chat) -> Chat:
    return Chat.objects.get(pk=chat.pk)


def test_list_goes_by_day_as_people_know_it(alice):
    for days in (0, 1, 2, 7, 400):
        titled(alice, f"{days} days", days=days)

    *labels, oldest = shown(alice)

    assert labels == ["Today", "Yesterday", "Previous 7 days"]
    assert shown(alice)["Previous 7 days"] == ["2 days", "7 days"]
    assert re.fullmatch(r"[A-Z][a-z]+ 20\d\d", oldest)


def test_pinned_chat_is_on_top_and_nowhere_else(client, alice):
    old = titled(alice, "Old", days=90)
    titled(alice, "New")

    client.post(f"/chats/{old.pk}/pin/", {"pinned": "1"})
    assert shown(alice) == {"Pinned": ["Old"], "Today": ["New"]}
    client.post(f"/chats/{old.pk}/pin/", {"pinned": "0"})

    assert "Pinned" not in shown(alice)


def test_archived_chat_is_out_of_the_list_and_on_a_page_of_its_own(client, alice):
    chat = titled(alice, "Put away")
    titled(alice, "Here")
    client.post(f"/chats/{chat.pk}/archive/", {"archived": "1"})

    assert shown(alice) == {"Today": ["Here"]}
    page = client.get("/chats/archived/").content.decode()
    assert "Put away" in page
    assert "Here" not in page
    assert "This chat is archived" in client.get(f"/chats/{chat.pk}/").content.decode()
    back = client.post(f"/chats/{chat.pk}/archive/", {"archived": "0", "next": "/chats/archived/"})
    assert back["Location"] == "/chats/archived/"
    assert set(shown(alice)["Today"]) == {"Here", "Put away"}


def test_who_writes_in_an_archived_chat_has_it_back(alice):
    chat = make_chat(alice, archived_at=timezone.now())

    turns.begin_turn(chat_id=chat.pk, text="Again", idempotency_key="", by="here")

    assert fresh(chat).archived_at is None


def test_folder_holds_its_chats_open_and_closed(client, alice):
    chat = titled(alice, "Dough")
    client.post("/folders/", {"name": " Bread  and more "})
    folder = Folder.objects.get()
    client.post(f"/chats/{chat.pk}/move/", {"folder": folder.pk})
    assert shown(alice) == {"in Bread and more": ["Dough"]}

    client.post(f"/folders/{folder.pk}/open/", {"open": "0"})
    assert shown(alice) == {"in Bread and more": []}
    client.post(f"/folders/{folder.pk}/open/", {"open": "1"})
    client.post(f"/chats/{chat.pk}/move/", {"folder": ""})

    assert shown(alice) == {"in Bread and more": [], "Today": ["Dough"]}


def test_folder_is_renamed_and_deleted_and_its_chats_stay(client, alice):
    folder = ordering.make_folder(owner_id=alice.pk, name="Bread")
    chat = titled(alice, "Dough", folder=folder)

    client.post(f"/folders/{folder.pk}/", {"name": "Cake"})
    assert shown(alice) == {"in Cake": ["Dough"]}
    client.post(f"/folders/{folder.pk}/delete/")

    assert shown(alice) == {"Today": ["Dough"]}
    assert fresh(chat).listed_revision == fresh(chat).revision > chat.revision


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "needs a name"),
        (" \u2003", "needs a name"),
        ("x" * 81, "at most 80"),
        ("bread", "of that name already"),
        ('"\0"', None),
    ],
)
def test_name_of_a_folder_is_checked(client, alice, name, words):
    ordering.make_folder(owner_id=alice.pk, name="Bread")

    response = client.post("/folders/", {"name": name}, headers={"HX-Request": "true"})

    assert response.status_code == (422 if words else 204)
    assert words is None or words in response.content.decode()


def test_two_people_may_have_a_folder_of_one_name(alice):
    ordering.make_folder(owner_id=alice.pk, name="Bread")
    ordering.make_folder(owner_id=make_user().pk, name="Bread")

    with pytest.raises(IntegrityError), transaction.atomic():
        Folder.objects.create(owner=alice, name="BREAD")


def test_tags_are_typed_freely_and_narrow_the_list_down(client, alice):
    chat, filed = titled(alice, "Dough"), titled(alice, "Oven", pinned_at=timezone.now())
    titled(alice, "Stones")
    for each in (chat, filed):
        client.post(f"/chats/{each.pk}/tag/", {"tag": " winter, bread "})
    client.post(f"/chats/{chat.pk}/tag/", {"tag": "WINTER bread"})

    assert [tag.name for tag in Tag.objects.all()] == ["winter bread"]
    assert set(shown(alice, tag="Winter Bread")["Today"]) == {"Dough", "Oven"}
    page = client.get("/?tag=winter%20bread").content.decode()
    assert "Stones" not in page
    for each in (chat, filed):
        assert Tag.objects.exists()
        client.post(f"/chats/{each.pk}/tag/", {"untag": "winter bread"})
    assert not Tag.objects.exists()


@pytest.mark.parametrize(("tag", "words"), [("", "Type a tag"), (",", "Type a tag"), ("x" * 41, "at most 40")])
def test_bad_tag_is_refused_with_a_sentence(client, alice, tag, words):
    chat = make_chat(alice)

    response = client.post(f"/chats/{chat.pk}/tag/", {"tag": tag}, headers={"HX-Request": "true"})

    assert words in response.content.decode()
    assert not Tag.objects.exists()


def test_a_chat_has_at_most_twenty_tags(alice):
    chat = make_chat(alice)
    for number in range(ordering.MOST_TAGS):
        ordering.tag_chats(owner_id=alice.pk, chat_ids=[chat.pk], name=f"tag {number}")

    with pytest.raises(NotPossible):
        ordering.tag_chats(owner_id=alice.pk, chat_ids=[chat.pk], name="one more")
    ordering.tag_chats(owner_id=alice.pk, chat_ids=[chat.pk], name="tag 1")


def test_menu_of_a_chat_offers_folders_and_known_tags(client, alice):
    chat, other = titled(alice, "Dough"), titled(alice, "Oven")
    ordering.make_folder(owner_id=alice.pk, name="Bread")
    ordering.tag_chats(owner_id=alice.pk, chat_ids=[other.pk], name="winter")

    menu = client.get(f"/chats/{chat.pk}/order/", headers={"HX-Request": "true"}).content.decode()
    page = client.get(f"/chats/{chat.pk}/order/").content.decode()

    assert "<html" not in menu
    for html in (menu, page):
        assert re.search(r'<button name="folder" value="\d+"[^>]*>Bread</button>', html)
        assert '<option value="winter">' in html


def test_hostile_names_are_text(client, alice):
    chat = titled(alice, "Dough")
    bad = "<script>alert(1)</script>"
    folder = ordering.make_folder(owner_id=alice.pk, name=bad)
    ordering.tag_chats(owner_id=alice.pk, chat_ids=[chat.pk], name="<img src=x hx-get=/>")

    for path in ("/", "/?select=1", "/?tag=%3Cscript%3E", f"/chats/{chat.pk}/order/", f"/folders/{folder.pk}/"):
        html = client.get(path).content.decode()
        assert bad not in html
        assert "<img src=x" not in html


# Many at once


def many(client, how, *chosen, **more):
    return client.post("/chats/many/", {"how": how, "chat": [chat.pk for chat in chosen], **more})


def test_many_are_archived_moved_and_tagged_at_once(client, alice):
    one, two, other = titled(alice, "One"), titled(alice, "Two"), titled(alice, "Other")
    folder = ordering.make_folder(owner_id=alice.pk, name="Bread")

    many(client, "move", one, two, folder=folder.pk)
    many(client, "tag", one, two, tag="winter")
    assert set(shown(alice)["in Bread"]) == {"One", "Two"}
    assert set(shown(alice, tag="winter")["Today"]) == {"One", "Two"}
    many(client, "archive", one, two)

    assert shown(alice) == {"in Bread": [], "Today": ["Other"]}
    assert fresh(other).revision == other.revision


def test_thousands_are_archived_at_once(client, alice):
    chosen = Chat.objects.bulk_create(Chat(owner=alice, title="x") for _ in range(3_000))

    many(client, "archive", *chosen)

    assert Chat.objects.unarchived().count() == 0


def test_many_are_deleted_after_their_number_was_told(client, alice):
    one, two, other = titled(alice, "One"), titled(alice, "Two"), titled(alice, "Other")

    asked = many(client, "delete", one, two).content.decode()
    assert "Delete 2 chats?" in asked
    assert Chat.objects.count() == 3
    many(client, "delete", one, two, sure="1")

    assert Chat.objects.get() == other


def test_many_are_exported_in_one_file(client, alice):
    one, two = titled(alice, "One"), titled(alice, "Two")
    titled(alice, "Other")

    response = many(client, "export", one, two)

    assert "attachment" in response["Content-Disposition"]


@pytest.mark.parametrize("chosen", [[], ["nonsense"], [str(uuid4())]])
def test_nothing_selected_is_said(client, chosen):
    response = client.post("/chats/many/", {"how": "archive", "chat": chosen}, headers={"HX-Request": "true"})

    assert "Select a chat first." in response.content.decode()


def test_selecting_shows_real_checkboxes(client, alice):
    chat = titled(alice, "Dough")

    html = client.get("/?select=1").content.decode()

    assert re.search(rf'<input type="checkbox" name="chat" value="{chat.pk}" form="many">', html)


def test_many_take_as_many_queries_whatever_their_number(alice):
    counts = []
    for number in (2, 30):
        chosen = [make_chat(alice).pk for _ in range(number)]
        with CaptureQueriesContext(connection) as queries:
            ordering.archive_chats(owner_id=alice.pk, chat_ids=chosen, archived=True)
            ordering.tag_chats(owner_id=alice.pk, chat_ids=chosen, name=f"tag {number}")
            chats.delete_chats(owner_id=alice.pk, chat_ids=chosen)
        counts.append(len(queries))

    assert counts[0] == counts[1]


# A long list


def test_long_list_comes_in_pages_and_each_chat_once(client, alice):
    for number in range(PAGE + 5):
        titled(alice, f"chat {number}", days=number)
    names: list[str] = []
    older = "/chats/list/"
    while older:
        html = client.get(older, headers={"HX-Request": "true"}).content.decode()
        names += re.findall(r"data-chat-link=\"[^\"]*\"[^>]*>([^<]*)</a>", html)
        found = re.search(r'hx-get="([^"]*older=[^"]*)"', html)
        older = found[1].replace("&amp;", "&") if found else ""

    assert names == [f"chat {number}" for number in range(PAGE + 5)]


def test_older_chats_are_behind_a_link_without_javascript(client, alice):
    for number in range(PAGE + 5):
        titled(alice, f"chat {number}.", days=number)

    html = client.get("/").content.decode()
    assert "chat 64." not in html
    [older] = re.findall(r'href="(\?older=[^"]*)"', html)

    assert "chat 64." in client.get(f"/{older}").content.decode()


@pytest.mark.parametrize(
    "cursor", ["x", "_", "0001-01-01T00:00:00+14:00_" + "0" * 32, "2026-01-01T00:00:00_" + "f" * 32]
)
def test_cursor_that_cannot_be_right_shows_a_list_all_the_same(client, alice, cursor):
    assert client.get("/", {"older": cursor}).status_code == 200


def test_a_page_fetches_as_much_as_it_shows(client, alice):
    for number in range(PAGE + 5):
        titled(alice, f"chat {number}.", days=number)

    assert "chat 64." in client.get("/chats/list/?most=65").content.decode()
    assert "chat 64." not in client.get("/chats/list/?most=x").content.decode()


def test_continued_month_has_no_second_heading(client, alice):
    titled(alice, "Dough")

    assert "<h2>Today</h2>" not in client.get("/chats/list/?under=Today").content.decode()


@pytest.mark.parametrize(
    "older", ["x", "_", "2026-01-01_x", f"2026-01-01_{UUID(int=0)}", f"0001-01-01T00:00:00+14:00_{UUID(int=0)}", "\0"]
)
def test_bad_cursor_is_the_beginning(client, alice, older):
    titled(alice, "Dough")

    assert "Dough" in client.get("/chats/list/", {"older": older}).content.decode()


def test_list_takes_as_many_queries_whatever_there_is(alice):
    def fill(number):
        for _ in range(number):
            folder = Folder.objects.create(owner=alice, name=uuid4().hex)
            for facts in ({}, {"pinned_at": timezone.now()}, {"folder": folder}, {"folder": folder}):
                ordering.tag_chats(owner_id=alice.pk, chat_ids=[make_chat(alice, **facts).pk], name=uuid4().hex)

    counts = []
    for number in (1, 12):
        fill(number)
        with CaptureQueriesContext(connection) as queries:
            presenting.read_sidebar(alice, presenting.ListPlace(is_selecting=True))
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 6
    assert not any("content" in query["sql"] or "summary" in query["sql"] for query in queries)


def test_much_in_a_folder_or_pinned_is_shown_in_part(client, alice):
    folder = ordering.make_folder(owner_id=alice.pk, name="Bread & more")
    Chat.objects.bulk_create(Chat(owner=alice, title="x", folder=folder) for _ in range(MOST_IN_FOLDER + 1))
    Chat.objects.bulk_create(Chat(owner=alice, title="y", pinned_at=timezone.now()) for _ in range(MOST_PINNED + 1))

    assert {name: len(found) for name, found in shown(alice).items()} == {"Pinned": 100, "in Bread & more": 30}
    html = client.get("/").content.decode()
    assert "q=pinned:yes" in html
    assert "q=folder:%22Bread%20%26%20more%22" in html


# Unread, and where a reply is being written


def written(chat: Chat) -> None:
    """A turn from begin to end, with no page of the person's open."""
    turn = turns.begin_turn(chat_id=chat.pk, text="Hello", idempotency_key="", by="here")
    run = turn.run
    turns.finish_turn(run_id=run.pk, attempt=run.attempt, status="complete", content="Hi.", reasoning="")


def test_reply_that_nobody_saw_is_unread_until_its_page_says_that_it_is_shown(client, alice):
    """The page without a script has a button for it; reading alone changes nothing."""
    chat = titled(alice, "Dough")
    written(chat)
    marked = 'class="listed unread"'

    assert marked in client.get("/").content.decode()
    page = client.get(f"/chats/{chat.pk}/").content.decode()
    assert f'formaction="/chats/{chat.pk}/changes/">Mark as read' in page
    assert marked not in page
    assert marked in client.get("/").content.decode()
    assert client.post(f"/chats/{chat.pk}/changes/", {"seen": chat.revision})["Location"] == f"/chats/{chat.pk}/"
    assert marked not in client.get("/").content.decode()
    assert "Mark as read" not in client.get(f"/chats/{chat.pk}/").content.decode()


def test_open_page_that_is_told_of_the_end_has_read_it(alice):
    chat = titled(alice, "Dough")
    written(chat)

    presenting.read_changes(alice, chat.pk, 0)

    assert fresh(chat).unread_since is None


def test_chat_in_which_a_reply_is_written_has_a_dot(client, alice):
    chat = make_chat(alice, "Hello", "Hi.")
    reply = add_messages(chat, "And?", "Well", status="streaming")[1]
    Run.objects.create(chat=chat, reply=reply, owner="here", lease_until=timezone.now())

    assert "a reply is being written" in client.get("/").content.decode()


def test_fork_is_where_the_original_is(alice):
    folder = ordering.make_folder(owner_id=alice.pk, name="Bread")
    chat = make_chat(alice, "Hello", "Hi.", folder=folder, pinned_at=timezone.now())
    ordering.tag_chats(owner_id=alice.pk, chat_ids=[chat.pk], name="winter")

    copy = forking.fork(chat_id=chat.pk, message_id=chat.messages.first().pk)

    assert (copy.folder, copy.pinned_at) == (folder, None)
    assert [tag.name for tag in copy.tags.all()] == ["winter"]


# Strangers


def test_stranger_orders_nothing_of_alices(alice):
    chat, folder = titled(alice, "Dough"), ordering.make_folder(owner_id=alice.pk, name="Bread")
    ordering.tag_chats(owner_id=alice.pk, chat_ids=[chat.pk], name="winter")
    charlie = signed_in(make_user("charlie"))
    before = Chat.objects.filter(pk=chat.pk).values().get()

    for command in ("", "open/", "delete/"):
        foreign = charlie.post(f"/folders/{folder.pk}/{command}", {"name": "Mine", "open": "0"})
        assert foreign.status_code == charlie.post(f"/folders/999999/{command}", {"name": "Mine"}).status_code == 404
    assert charlie.get(f"/folders/{folder.pk}/").status_code == 404
    for how in ("archive", "delete", "export", "move", "tag"):
        assert many(charlie, how, chat, sure="1", tag="x").status_code == 422
    assert Chat.objects.filter(pk=chat.pk).values().get() == before
    assert Folder.objects.get() == folder
    assert "winter" not in charlie.get("/?select=1").content.decode()


def test_chat_is_moved_into_a_folder_of_ones_own_only(alice):
    folder = ordering.make_folder(owner_id=alice.pk, name="Bread")
    charlie = make_user("charlie")
    chat = make_chat(charlie)

    response = signed_in(charlie).post(f"/chats/{chat.pk}/move/", {"folder": folder.pk}, headers={"HX-Request": "true"})

    assert "no longer there" in response.content.decode()
    assert fresh(chat).folder is None
    assert signed_in(charlie).post(f"/chats/{chat.pk}/move/", {"folder": "x"}).status_code == 409


@pytest.mark.parametrize("path", ["/chats/list/", "/chats/archived/", "/folders/1/"])
def test_signed_out_visitor_is_led_to_the_sign_in_page(path):
    assert Client().get(path)["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("path", ["/chats/many/", "/folders/", "/folders/1/open/", "/folders/1/delete/"])
def test_signed_out_visitor_orders_nothing(path):
    assert Client().post(path, {"name": "x"})["Location"].startswith("/accounts/login/")
