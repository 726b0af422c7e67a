"""Finding: words of titles, messages and summaries, in a person's own chats and in nobody else's."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.utils import timezone

from chatapp.history import chats, deleting, forking, ordering
from chatapp.history.paths import show_version
from chatapp.models import Chat, Message
from chatapp.searching import find_chats, find_in_chat, search
from chatapp.searching.finding import MOST, text_search
from chatapp.searching.marking import Marker
from chatapp.searching.wording import Term, read_query
from tests.factories import add_messages, fold, make_chat, make_user
from tests.people import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


def found(user, text):
    """What was found, as (kind, position); the position of a message only."""
    return [(hit.kind, hit.position) for hit in search(user, text)]


def messages_found(user, text):
    return sorted(hit.position for hit in search(user, text) if hit.kind == "message")


def test_word_is_found_in_message_title_and_summary(alice):
    chat = make_chat(alice, "How does sourdough rise?", "By wild yeast.", "And rye?", "Slower.")
    chats.rename(chat_id=chat.pk, title="Yeast and time")
    fold(chat, through=1, summary="They spoke of yeast.")

    assert found(alice, "yeast") == [("title", None), ("summary", None), ("message", 1)]
    [title, summary, message] = search(alice, "yeast")
    assert {hit.chat_id for hit in (title, summary, message)} == {chat.pk}
    assert (message.title, message.role, message.is_folded, message.is_active) == (
        "Yeast and time",
        "assistant",
        True,
        True,
    )
    assert message.snippet == "By wild <mark>yeast</mark>."


def test_former_title_is_not_found_after_renaming(alice):
    chat = make_chat(alice)
    chats.rename(chat_id=chat.pk, title="Bread")
    chats.rename(chat_id=chat.pk, title="Stones")

    assert found(alice, "bread") == []
    assert found(alice, "stones") == [("title", None)]


def test_all_words_of_a_query_are_in_one_text(alice):
    make_chat(alice, "red bricks", "blue bricks", "red and blue")

    assert messages_found(alice, "red blue") == [2]


def test_phrase_is_its_words_one_after_the_other(alice):
    make_chat(alice, "a warm place", "a place that is warm", "a WARM, place")

    assert messages_found(alice, '"warm place"') == [0, 2]
    assert messages_found(alice, "“warm place”") == [0, 2]


def test_last_word_may_be_unfinished_but_no_other(alice):
    make_chat(alice, "The lighthouse keeper", "The light")

    assert messages_found(alice, "the ligh") == [0, 1]
    assert messages_found(alice, "the light ") == [1]
    assert messages_found(alice, "ligh the") == []
    assert messages_found(alice, '"the ligh"') == []
    assert messages_found(alice, '"the ligh') == [0, 1]


def test_marks_part_words_and_accents_and_case_do_not_count(alice):
    make_chat(
        alice, "see /srv/data/winter.csv", "Le CAFÉ d'Élodie", "cafe\u0301 again", "it costs 3.14 a-piece", "snake_case"
    )

    assert messages_found(alice, "winter ") == [0]
    assert messages_found(alice, "data/winter.csv ") == [0]
    assert messages_found(alice, "cafe ") == [1, 2]
    assert messages_found(alice, "élodie ") == [1]
    assert messages_found(alice, "3.14 ") == [3]
    assert messages_found(alice, "piece ") == [3]
    assert messages_found(alice, "case ") == [4]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("我们昨天讨论了预算问题。", "预算"),
        ("来週の会議は東京で行います。", "東京"),
        ("예산은 다음 주에 정합니다.", "예산"),
        ("ร้านนี้ขายขนมปัง", "ขนมปัง"),
        ("Well done 🎉", "🎉"),
        ("use the -> operator", "->"),
    ],
)
def test_what_has_no_words_is_found_by_its_characters(alice, text, word):
    make_chat(alice, text, "nothing of the kind")

    assert messages_found(alice, word) == [0]
    assert f"<mark>{word.replace('>', '&gt;')}</mark>" in search(alice, word)[0].snippet


@pytest.mark.parametrize("word", ["预", "预算", "预算问", "预算问题", "预算问题和会议", "题"])
def test_few_signs_and_many_are_found_at_the_end_of_a_text_as_well(alice, word):
    make_chat(alice, f"on Monday: {word}", word, f"{word}。", "nothing", "预言 算术 问")

    assert messages_found(alice, word) == [0, 1, 2, *([4] if word == "预" else [])]


def test_signs_that_only_lie_near_each_other_are_not_taken_for_the_word(alice):
    make_chat(alice, "会议日,议日程。会议 日程", "会议日程")

    assert messages_found(alice, "会议日程") == [1]


def test_signs_of_a_deleted_message_are_gone_until_it_is_restored(alice):
    chat = make_chat(alice, "我们的预算", "Keep it.")
    message = chat.messages.get(position=0)
    deleting.delete_message(chat_id=chat.pk, message_id=message.pk)
    assert found(alice, "预算") == []
    assert signs_in_index("预算") == 0

    deleting.restore_message(chat_id=chat.pk, message_id=message.pk)
    assert messages_found(alice, "预算") == [0]
    Message.objects.filter(pk=message.pk).update(content="我们的计划")
    assert messages_found(alice, "预算") == []
    assert messages_found(alice, "计划") == [0]


def signs_in_index(signs):
    if connection.vendor == "postgresql":
        return Message.objects.filter(content__contains=signs, deleted_at=None).count()
    with connection.cursor() as cursor:
        places = "SELECT count(*) FROM chatapp_message_sign_places WHERE term >= %s AND term <= %s"
        cursor.execute(places, [signs, signs + "\U0010ffff"])
        return cursor.fetchone()[0]


def test_characters_and_words_together(alice):
    make_chat(alice, "预算 of the year", "预算", "the year")

    assert messages_found(alice, "预算 year") == [0]


@pytest.mark.parametrize(
    "text",
    [
        '"',
        '""',
        "*",
        "NEAR(",
        "NEAR(a b)",
        "'",
        ":",
        "a:b",
        "content:x",
        "{title} : x",
        "a AND",
        "OR NOT",
        "\0",
        "a\0b",
        "\ud800",
        "^a",
        "-a",
        "a & | ! <-> b",
        "\\",
        "%_",
        "x" * 10_000,
        "word " * 2_000,
        "é\u0301" * 3_000,
        "\ufdfa" * 3_000,
        "²",
        "\u0301",
        "\U0001e900\U0001e922",
        "title:",
        "title:*",
        'title:"',
        "before:2026-99-99",
        "before:0001-01-01 after:9999-12-31 x",
        "archived:perhaps",
        "tag:",
        'tag:"',
        "tag:\0",
        "folder:%",
        "pinned:yes pinned:no",
        "🎉" * 3_000,
        "预算" * 3_000,
    ],
)
def test_no_text_is_an_error(alice, text):
    chat = make_chat(alice, "A quiet word.")

    for asked in (text, f"{text} ", f"quiet {text}", f"{text} quiet"):
        assert isinstance(search(alice, asked), list)
        assert isinstance(find_chats(alice, asked), list)
        assert isinstance(find_in_chat(chat, asked), list)


def test_unknown_filter_is_text(alice):
    make_chat(alice, "status:open since May", "archived:perhaps", "before:noon")

    assert messages_found(alice, "status:open ") == [0]
    assert messages_found(alice, "archived:perhaps") == [1]
    assert messages_found(alice, "before:noon") == [2]


def test_filter_by_title(alice):
    one, two = make_chat(alice, "the oven"), make_chat(alice, "the oven")
    chats.rename(chat_id=one.pk, title="Winter bread")
    chats.rename(chat_id=two.pk, title="Summer cake")

    assert {hit.chat_id for hit in search(alice, "title:bread oven")} == {one.pk}
    assert {hit.chat_id for hit in search(alice, 'oven title:"winter bre"')} == {one.pk}
    assert found(alice, "title:bread") == [("title", None)]


def test_filter_by_folded(alice):
    chat = make_chat(alice, "bricks one", "bricks two", "bricks three", "bricks four")
    fold(chat, through=1, summary="About bricks.")

    assert sorted(found(alice, "bricks folded:yes")) == [("message", 0), ("message", 1)]
    assert messages_found(alice, "bricks folded:no") == [2, 3]
    assert messages_found(alice, "bricks") == [0, 1, 2, 3]


def test_filters_by_how_a_chat_is_kept(alice):
    kept = {}
    for name, facts in {
        "plain": {},
        "pinned": {"pinned_at": timezone.now()},
        "away": {"archived_at": timezone.now()},
        "filed": {"folder": ordering.make_folder(owner_id=alice.pk, name="Bread and more")},
        "tagged": {},
    }.items():
        kept[name] = make_chat(alice, "bricks", **facts)
        chats.rename(chat_id=kept[name].pk, title=name)
    for tag in ("winter", "rye bread"):
        ordering.tag_chats(owner_id=alice.pk, chat_ids=[kept["tagged"].pk], name=tag)

    def among(text):
        return {hit.title for hit in search(alice, text)}

    everything = set(kept)
    assert among("bricks") == everything
    for text, wanted in {
        "pinned:yes": {"pinned"},
        "pinned:no": everything - {"pinned"},
        "archived:yes": {"away"},
        "archived:no": everything - {"away"},
        "folder:bread": {"filed"},
        'folder:"bread"': set(),
        'folder:"Bread and MORE"': {"filed"},
        "tag:win": {"tagged"},
        'tag:"win"': set(),
        'tag:winter tag:"rye bread"': {"tagged"},
        "tag:winter tag:none": set(),
        "tag:winter pinned:yes": set(),
    }.items():
        assert among(f"bricks {text}") == among(text) == wanted, text
    assert [hit.is_put_away for hit in search(alice, "archived:yes")] == [True]


def test_choice_that_is_none_is_text(alice):
    make_chat(alice, "pinned:perhaps it is", "pinned")

    assert messages_found(alice, "pinned:perhaps ") == [0]


def test_chats_described_and_untitled_are_found(alice):
    chat = make_chat(alice, pinned_at=timezone.now())
    Chat.objects.filter(pk=chat.pk).update(title="")

    assert found(alice, "pinned:yes") == [("title", None)]
    assert "New chat" in signed_in(alice).get("/search/", {"q": "pinned:yes"}).content.decode()


def test_find_in_a_chat_tells_every_place_on_its_path(alice):
    chat = make_chat(alice, "red bricks", "blue", "Bricks again, bricks", "none", "brick", "预算 bricks")
    make_chat(alice, "bricks elsewhere")
    fold(chat, through=2, summary="About bricks.")
    message = chat.messages.get(position=4)
    Message.objects.create(chat=chat, parent=message, position=5, role="assistant", content="bricks", active=False)

    assert find_in_chat(chat, "bricks ") == [0, 2, 5]
    assert find_in_chat(chat, "bric") == [0, 2, 4, 5]
    assert find_in_chat(chat, "预算") == [5]
    assert find_in_chat(chat, "title:bricks") == []
    assert find_in_chat(chat, "") == find_in_chat(chat, "nothing") == []


def test_filter_by_day(alice):
    make_chat(alice, "bricks one", "bricks two", "bricks three")
    for position, day in enumerate((30, 31)):
        at = datetime(2026, 1, day, 12, tzinfo=UTC)
        Message.objects.filter(position=position).update(created_at=at)

    assert messages_found(alice, "bricks before:2026-01-31") == [0]
    assert messages_found(alice, "bricks after:2026-01-31") == [1, 2]
    assert messages_found(alice, "bricks after:2026-01-30 before:2026-02-01") == [0, 1]


def test_more_relevant_comes_first_then_the_newest(alice):
    make_chat(alice, "bread bread bread", "something with bread in a long sentence about other things", "stones")
    make_chat(alice, "stones")
    Message.objects.filter(position=2).update(created_at=datetime(2020, 1, 1, tzinfo=UTC))

    assert [hit.position for hit in search(alice, "bread")] == [0, 1]
    assert [hit.position for hit in search(alice, "stones")] == [0, 2]


def test_at_most_fifty(alice):
    make_chat(alice, *[f"bricks {number}" for number in range(MOST + 5)])

    assert len(search(alice, "bricks")) == MOST


def test_other_version_is_found_and_says_so(alice):
    chat = make_chat(alice, "Which colour?", "Red.")
    first = chat.messages.get(position=1)
    Message.objects.filter(pk=first.pk).update(active=False)
    Message.objects.create(chat=chat, parent=first.parent, position=1, role="assistant", content="Blue.")

    [hit] = search(alice, "red")
    assert (hit.message_id, hit.is_active, hit.is_folded) == (first.pk, False, False)
    show_version(chat_id=chat.pk, message_id=first.pk)
    assert search(alice, "red")[0].is_active


def test_reply_that_is_being_written_is_found_at_its_end(alice):
    chat = make_chat(alice, "Tell me")
    reply = add_messages(chat, "Once upon", status="streaming")[0]
    assert found(alice, "upon") == []

    Message.objects.filter(pk=reply.pk).update(content="Once upon a time", status="complete")
    assert messages_found(alice, "time") == [1]

    Message.objects.filter(pk=reply.pk).update(status="streaming")
    Message.objects.filter(pk=reply.pk).update(content="Once upon a night", status="stopped")
    assert found(alice, "time") == []
    assert messages_found(alice, "night") == [1]


def test_j2_deleted_message_is_not_found_until_it_is_restored(alice):
    chat = make_chat(alice, "a secret", "Keep it.")
    message = chat.messages.get(position=0)
    deleting.delete_message(chat_id=chat.pk, message_id=message.pk)
    assert found(alice, "secret") == []
    assert words_in_index("secret") == 0

    deleting.restore_message(chat_id=chat.pk, message_id=message.pk)
    assert messages_found(alice, "secret") == [0]


def test_deleted_chat_leaves_no_word(alice):
    chat = make_chat(alice, "a secret")
    chats.rename(chat_id=chat.pk, title="Secret")
    chats.delete_chat(chat_id=chat.pk)

    assert found(alice, "secret") == []
    assert words_in_index("secret") == 0


def test_fork_is_found_as_well(alice):
    chat = make_chat(alice, "a lamp", "on the pier")
    fork = forking.fork(chat_id=chat.pk, message_id=chat.messages.get(position=1).pk)

    assert {hit.chat_id for hit in search(alice, "pier")} == {chat.pk, fork.pk}


def test_stranger_finds_nothing(alice):
    chat = make_chat(alice, "a secret", "Keep it.")
    chats.rename(chat_id=chat.pk, title="Secret plans")
    fold(chat, through=1, summary="A secret was told.")
    charlie = make_user("charlie")

    for text in ("secret", "title:secret", "secret folded:yes", "secret archived:no", "pinned:no", "*"):
        assert search(charlie, text) == []
    assert find_chats(charlie, "secret") == find_chats(charlie, "") == []
    page = signed_in(charlie).get("/search/", {"q": "secret"}).content.decode()
    assert "Nothing found" in page
    assert "plans" not in page


def test_suspended_person_finds_nothing(alice):
    make_chat(alice, "a secret")
    client = signed_in(alice)
    alice.is_active = False
    alice.save()

    for path in ("/search/?q=secret", "/search/chats/?q=chat"):
        response = client.get(path)
        assert response.status_code == 302
        assert "/accounts/login/" in response["Location"]


def test_nobody_is_asked_to_sign_in():
    assert Client().get("/search/?q=a").status_code == 302


def test_page_shows_hits_as_links_and_what_was_asked(alice):
    chat = make_chat(alice, 'a <b>bold</b> & "quoted" word', "<script>alert('word')</script>")
    html = signed_in(alice).get("/search/", {"q": 'word "&'}).content.decode()
    assert 'value="word &quot;&amp;"' in html

    html = signed_in(alice).get("/search/", {"q": "word"}).content.decode()
    assert f'href="/chats/{chat.pk}/?m=0&amp;find=word#m-0"' in html
    assert "a &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; <mark>word</mark>" in html
    assert "<script>alert" not in html
    assert "2 results" in html


def test_results_as_one_types_are_a_fragment(alice):
    make_chat(alice, "a word")
    client = signed_in(alice)

    html = client.get("/search/", {"q": "wor"}, headers={"HX-Request": "true"}).content.decode()
    assert "<mark>word</mark>" in html
    assert "<html" not in html
    assert client.get("/search/", {"q": " "}, headers={"HX-Request": "true"}).content.decode().strip() == ""


def test_button_of_a_hit_in_another_version_leads_to_it(alice):
    chat = make_chat(alice, "Which colour?", "Red.")
    first = chat.messages.get(position=1)
    Message.objects.filter(pk=first.pk).update(active=False)
    Message.objects.create(chat=chat, parent=first.parent, position=1, role="assistant", content="Blue.")
    client = signed_in(alice)

    html = client.get("/search/", {"q": "red"}).content.decode()
    [action] = re.findall(r'<form method="post" action="([^"]*)"', html)
    response = client.post(action)

    assert response["Location"] == f"/chats/{chat.pk}/?m=1#m-1"
    assert chat.messages.get(pk=first.pk).active


def test_palette_finds_chats_by_title_and_offers_the_search(alice):
    bread, stones = make_chat(alice, "x"), make_chat(alice, "y")
    chats.rename(chat_id=bread.pk, title="Winter bread")
    chats.rename(chat_id=stones.pk, title="Stones")

    assert find_chats(alice, "brea") == [bread]
    assert set(find_chats(alice, "")) == {bread, stones}
    html = signed_in(alice).get("/search/chats/", {"q": "wint & co"}).content.decode()
    assert 'href="/search/?q=wint%20%26%20co"' in html


def test_snippet_is_cut_around_the_first_match_and_marks_every_one():
    text = "Long before. " * 30 + "Then <em>Élan</em> vital, and elan again. " + "Long after. " * 30
    cut = Marker([Term("elan")]).snippet(text)

    assert cut.startswith("… ")
    assert cut.endswith(" …")
    assert "&lt;em&gt;<mark>Élan</mark>&lt;/em&gt;" in cut
    assert "<mark>elan</mark>" in cut
    assert len(cut) < 400


def test_query_is_limited():
    assert len(read_query("word " * 100).terms) == 32
    assert read_query("x" * 10_000).terms == [Term("x" * 200, is_prefix=True)]


def test_index_is_used(alice):
    """Not one look at every message: a short table PostgreSQL would rather read whole, which is forbidden."""
    make_chat(alice, "a lamp on the pier")
    words = [Term("lamp")]
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = off")
        settled = Message.objects.filter(deleted_at=None).exclude(status__in=Message.LIVE_STATUSES)
        plan = text_search().newest_messages(settled, words).explain()
        summaries = text_search().matching(Chat.objects.all(), "summary", words).explain()
    if connection.vendor == "postgresql":
        assert "chatapp_message_content_words" in plan
        assert "chatapp_chat_summary_words" in summaries
    else:
        assert "SCAN chatapp_message_words VIRTUAL TABLE" in plan
        assert "SEARCH chatapp_message USING INTEGER PRIMARY KEY" in plan


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the planner's, of PostgreSQL alone")
def test_planner_knows_what_the_words_of_a_text_cost(alice):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT procost, lanname FROM pg_proc JOIN pg_language l ON l.oid = prolang WHERE proname = %s",
            ["foldline_words"],
        )
        assert cursor.fetchone() == (2000, "plpgsql")  # plain SQL would be put in its place, and its cost with it


def test_message_of_any_length_can_be_stored_and_found(alice):
    make_chat(alice, "needle " + " ".join(f"w{number:x}" for number in range(130_000)))

    assert messages_found(alice, "needle") == [0]


def words_in_index(word):
    """How often the index itself holds the word, whoever asks; none to look into on PostgreSQL but the rows'."""
    if connection.vendor == "postgresql":
        return Message.objects.filter(content__contains=word, deleted_at=None).count()
    with connection.cursor() as cursor:
        count = 0
        for table in ("chatapp_message_words", "chatapp_chat_words"):
            cursor.execute(f"SELECT count(*) FROM {table} WHERE {table} MATCH %s", [word])
            count += cursor.fetchone()[0]
    return count


@pytest.fixture
def before_the_index(transactional_db):
    """The models as they were then."""
    state = MigrationExecutor(connection).migrate([("chatapp", "0005_what_compactions_leave")])
    yield state.apps
    call_command("migrate", verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_what_is_there_before_the_migration_is_found_after_it(before_the_index):
    alice = make_user()
    chat = before_the_index.get_model("chatapp.Chat").objects.create(owner_id=alice.pk, title="The early days")
    messages = before_the_index.get_model("chatapp.Message").objects
    messages.create(chat=chat, position=0, role="user", content="an early lamp")
    messages.create(chat=chat, position=1, role="assistant", content="on the pier", deleted_at=timezone.now())

    call_command("migrate", verbosity=0)

    assert found(alice, "early") == [("title", None), ("message", 0)]
    assert found(alice, "pier") == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's indexes need no trigger")
def test_index_is_whole_again_after_a_migration_that_remade_the_table():
    alice = make_user()
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER message_words_added")
    make_chat(alice, "written meanwhile")
    assert found(alice, "meanwhile") == []

    call_command("migrate", verbosity=0)

    assert messages_found(alice, "meanwhile") == [0]
    make_chat(alice, "written afterwards")
    assert messages_found(alice, "afterwards") == [0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no index of signs")
def test_database_of_before_the_index_of_signs_has_it_after_an_upgrade():
    alice = make_user()
    with connection.cursor() as cursor:
        for name in ("added", "removed", "changed"):
            cursor.execute(f"DROP TRIGGER message_signs_{name}")
        cursor.execute("DROP TABLE chatapp_message_sign_places")
        cursor.execute("DROP TABLE chatapp_message_signs")
    make_chat(alice, "我们昨天讨论了预算问题", "and nothing else")

    call_command("migrate", verbosity=0)

    assert messages_found(alice, "预算") == [0]
    assert messages_found(alice, "nothing") == [1]


def test_find_bar_is_open_where_it_is_asked_for_and_says_which_of_how_many(alice):
    chat = make_chat(alice, *[f"brick {number}" if number % 5 == 0 else "stone" for number in range(60)])
    fold(chat, through=9, summary="About bricks.")
    client = signed_in(alice)

    html = client.get(f"/chats/{chat.pk}/", {"here": "brick", "m": 25}).content.decode()
    assert "6 of 12" in html
    assert 'href="?here=brick&amp;m=20#m-20"' in html
    assert 'href="?here=brick&amp;m=30#m-30"' in html
    assert re.search(r'<form id="find"[^>]* hidden>', client.get(f"/chats/{chat.pk}/").content.decode())
    found = client.get(f"/chats/{chat.pk}/find/", {"here": "brick"}).content.decode()
    assert "[0,5,10,15,20,25,30,35,40,45,50,55]" in found
    assert "Nothing found" in client.get(f"/chats/{chat.pk}/find/", {"here": '<zz>"'}).content.decode()
