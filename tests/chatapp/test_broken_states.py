"""What is known of an endpoint in trouble, said before and after sending, and forgotten once it answers."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from chatapp.database import in_database
from chatapp.models import Endpoint
from chatapp.presenting import EXAMPLES
from tests.factories import make_chat, make_model
from tests.people import make_user, signed_in
from tests.scripted import Signal, drop, hold, json_error, reply
from tests.visiting import Visitor, last_message, settled

UNREACHED = "could not be reached when it was last asked"


async def test_endpoint_that_could_not_be_reached_is_told_before_the_next_message_until_it_answers(
    alice: Visitor,
) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    assert UNREACHED not in await alice.page(chat)

    alice.endpoint.will(drop(), drop())
    await alice.say(chat, "Are you there?")
    assert UNREACHED in await alice.page(chat)
    assert UNREACHED in (await alice.client.get("/")).content.decode()

    await alice.say(chat, "And now?")
    assert UNREACHED not in await alice.page(chat)
    assert await in_database(lambda: Endpoint.objects.get().check_outcome) == ""


async def test_refusal_is_an_answer_and_a_stop_before_the_first_word_is_none(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    await in_database(lambda: Endpoint.objects.update(check_outcome="unreachable: no route", checked_at=timezone.now()))
    gate = Signal()
    alice.endpoint.will([hold(gate), *reply("Late")], json_error(401, "Incorrect API key"))

    await alice.send(chat, "Are you there?")
    await gate.reached()
    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)
    assert UNREACHED in await alice.page(chat)

    await alice.say(chat, "And now?")
    assert UNREACHED not in await alice.page(chat)


async def test_busy_endpoint_that_names_a_time_is_told_with_it(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    alice.endpoint.will(json_error(429, "Rate limit reached", headers={"Retry-After": "300"}))

    failed = await alice.say(chat, "Well?")

    assert failed.retry_at
    assert timedelta(seconds=290) < failed.retry_at - timezone.now() <= timedelta(seconds=300)
    html = await alice.page(chat)
    assert 'data-left="in {seconds} s"' in html
    assert timezone.localtime(failed.retry_at).isoformat() in html
    assert (await last_message(chat)).failure == "busy"


async def test_reply_without_a_word_says_since_when_it_is_waited_for(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.will([hold(gate), *reply("At last.")])
    chat = await alice.start("Hello")
    await gate.reached()

    async with alice.socket(chat) as tab:
        frame = await tab.until("data-whole")
    page = await alice.page(chat)
    gate.set()
    await settled(chat)

    for html in (frame, page):
        assert re.search(
            r'still waiting, <time datetime="[^"]+" data-elapsed="{seconds} s"[^>]*>since \d\d:\d\d</time>', html
        )
    assert "still waiting" not in await alice.page(chat)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("is_staff", "way"), [(True, "/admin/chatapp/endpoint/"), (False, "Ask whoever runs this Foldline")]
)
def test_page_without_a_model_says_what_to_do(*, is_staff: bool, way: str) -> None:
    html = signed_in(make_user("sam", is_staff=is_staff)).get("/").content.decode()

    assert "No model is connected yet." in html
    assert way in html


@pytest.mark.django_db
def test_choice_of_colours_on_a_refused_page_leads_home_and_not_to_the_post() -> None:
    make_model()
    alice = make_user("alice")
    chat = make_chat(alice)

    html = signed_in(alice).post(f"/chats/{chat.pk}/send/", {"text": ""}).content.decode()

    form = html[html.index('class="theme"') :]
    assert re.search(r'name="next" value="([^"]*)"', form)[1] == "/"


@pytest.mark.django_db
def test_examples_stand_on_the_page_until_there_is_a_chat() -> None:
    make_model()
    alice = make_user("alice")

    first = signed_in(alice).get("/").content.decode()
    make_chat(alice)
    later = signed_in(alice).get("/").content.decode()

    assert (first.count(" data-fills"), later.count(" data-fills")) == (3, 0)


@pytest.mark.django_db
@pytest.mark.parametrize(("number", "words"), [("2", str(EXAMPLES[1])), ("0", ""), ("99", ""), ("x", "")])
def test_example_is_put_into_the_box_by_its_number_alone(number: str, words: str) -> None:
    make_model()

    html = signed_in(make_user("alice")).get(f"/?example={number}").content.decode()

    typed = re.search(r'<textarea id="text".*?>\n?(.*?)</textarea>', html, re.DOTALL)
    assert typed
    assert unescape(typed[1]) == words


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("chosen", "attribute"),
    [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"'), ("system", ""), ("<b>", "")],
)
def test_theme_is_in_the_first_paint_of_every_page(chosen: str, attribute: str) -> None:
    client = Client()

    answer = client.post("/theme/", {"theme": chosen, "next": "/accounts/login/"})
    page = client.get("/accounts/login/").content.decode()

    assert answer["Location"] == "/accounts/login/"
    assert f'<html lang="en-gb"{attribute}>' in page
    assert ('media="(prefers-color-scheme' in page) is (not attribute)


@pytest.mark.django_db
def test_theme_leads_to_no_other_host_and_is_only_chosen_by_post() -> None:
    client = Client()

    assert client.post("/theme/", {"theme": "dark", "next": "https://example.org/"})["Location"] == "/"
    assert client.get("/theme/").status_code == 405


@pytest.mark.django_db
def test_theme_is_chosen_in_place_where_there_is_javascript() -> None:
    answer = Client().post("/theme/", {"theme": "dark", "next": "/search/"}, headers={"HX-Request": "true"})

    assert 'name="next" value="/search/"' in answer.content.decode()
    assert answer["HX-Trigger"] == '{"foldline:theme": {"theme": "dark"}}'
    assert re.search(r'value="dark"[^>]* aria-pressed="true"', answer.content.decode())


@pytest.mark.django_db
def test_a_forged_cookie_of_looks_is_no_look() -> None:
    client = Client()
    client.cookies["foldline_theme"] = '"><script>'
    client.cookies["foldline_sidebar"] = '"><script>'

    page = client.get("/accounts/login/").content.decode()

    assert '<html lang="en-gb">' in page
