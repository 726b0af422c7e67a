"""Who reads in which language: the page, what is pushed to it, refusals, files, numbers and dates."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.template import Context, Template
from django.test import AsyncClient, Client
from django.utils import timezone, translation

from chatapp.database import in_database
from chatapp.events import Framed
from chatapp.gates import limit_body
from chatapp.history.forking import fork
from chatapp.languages import language_of
from chatapp.models import Chat
from chatapp.presenting import frame_in_words
from chatapp.rendering import render
from tests.factories import fold, make_chat, make_user
from tests.people import signed_in
from tests.scripted import Signal, head, hold, reply, text
from tests.visiting import BACKEND, Visitor, refreshed, settled

FENCE = "```\nknead()\n```"


def scope(*, query: str = "", **headers: str) -> dict[str, object]:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"query_string": query.encode(), "headers": named}


@pytest.mark.parametrize(
    ("accepts", "language"),
    [
        ("", "en-gb"),
        ("en-US", "en-gb"),
        ("fr-CA,en;q=0.5", "fr"),
        ("zh-CN", "zh-hans"),
        ("zh", "zh-hans"),
        ("de", "en-gb"),
    ],
)
@pytest.mark.django_db
def test_sign_in_speaks_what_the_browser_asks_for(client: Client, accepts: str, language: str) -> None:
    response = client.get("/accounts/login/", headers={"Accept-Language": accepts})

    assert f'<html lang="{language}"' in response.content.decode()
    assert response["Content-Language"] == language


@pytest.mark.django_db
def test_chosen_language_comes_before_the_browsers(client: Client) -> None:
    chosen = client.post("/language/", {"language": "fr", "next": "/accounts/login/"})
    page = client.get(chosen["Location"], headers={"Accept-Language": "zh-CN"}).content.decode()

    assert "Mot de passe" in page
    assert '<button class="quiet" name="language" value="fr" lang="fr" aria-current="true">Français</button>' in page
    assert ">English</button>" in page
    assert ">简体中文</button>" in page


@pytest.mark.django_db
def test_language_is_chosen_by_a_post_of_our_own_page_alone() -> None:
    strict = Client(enforce_csrf_checks=True)

    assert strict.post("/language/", {"language": "fr"}).status_code == 403
    assert strict.get("/language/?language=fr").cookies.get("django_language") is None


@pytest.mark.django_db
def test_choice_leads_to_no_other_host(client: Client) -> None:
    assert client.post("/language/", {"language": "fr", "next": "https://elsewhere.example/"})["Location"] == "/"


@pytest.mark.django_db
def test_refusal_to_htmx_is_in_the_persons_language() -> None:
    alice = make_user("alice")
    chat = make_chat(alice, "Hello", "Good day")

    answer = signed_in(alice).post(
        f"/chats/{chat.pk}/send/", {"text": " "}, headers={"HX-Request": "true", "Accept-Language": "fr"}
    )

    assert (answer.status_code, answer.content.decode().strip()) == (422, "Écrivez d’abord quelque chose.")


@pytest.mark.django_db
def test_error_of_a_field_is_in_the_persons_language() -> None:
    alice = make_user("alice")
    chat = make_chat(alice, "Hello", "Good day")

    answer = signed_in(alice).post(
        f"/chats/{chat.pk}/settings/", {"stop": "a\nb\nc\nd\ne"}, headers={"Accept-Language": "fr"}
    )

    assert "Voici 5 séquences ; on peut en envoyer 4 au plus." in answer.content.decode().replace("\u202f", " ")


@pytest.mark.parametrize(
    ("language", "number", "moment"),
    [
        ("en-gb", "12,345", "1 Dec 2026, 14:05"),
        ("fr", "12\u202f345", "1 déc. 2026 à 14:05"),
        ("zh-hans", "12,345", "2026年12月1日 14:05"),
    ],
)
def test_numbers_and_dates_are_written_as_the_language_writes_them(language: str, number: str, moment: str) -> None:
    source = Template('{% load humanize %}{{ number|intcomma }}|{{ moment|date:"DATETIME_FORMAT" }}')
    at = timezone.make_aware(datetime(2026, 12, 1, 14, 5))  # noqa: DTZ001 (made aware at once)

    with translation.override(language):
        assert source.render(Context({"number": 12345, "moment": at})) == f"{number}|{moment}"


@pytest.mark.django_db(transaction=True)
async def test_exported_markdown_is_in_the_persons_language() -> None:
    alice = await in_database(make_user, "alice")
    chat = await in_database(make_chat, alice, "Hello", "Good day", "More", "Here")
    await in_database(fold, chat, through=1)
    client = AsyncClient()
    await client.aforce_login(alice, backend=BACKEND)

    answer = await client.get(f"/chats/{chat.pk}/export/markdown/", headers={"Accept-Language": "fr"})
    written = b"".join([piece async for piece in answer.streaming_content]).decode()

    assert "## Vous\n" in written
    assert "Pliés : les 2 messages ci-dessus." in written.replace("\u202f", " ")


@pytest.mark.parametrize(("language", "title"), [("fr", "Bifurcation de Brot"), ("zh-hans", "Brot（分叉）")])
@pytest.mark.django_db
def test_fork_of_a_fork_says_so_once_in_any_language(language: str, title: str) -> None:
    chat = make_chat(make_user(), "Hello", "Good day")
    Chat.objects.filter(pk=chat.pk).update(title="Brot")

    with translation.override(language):
        once = fork(chat_id=chat.pk, message_id=chat.messages.on_path()[1].pk)
        twice = fork(chat_id=once.pk, message_id=once.messages.on_path()[1].pk)

    assert (once.title, twice.title) == (title, title)


async def test_body_that_is_too_large_is_refused_in_the_browsers_language() -> None:
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    limited = limit_body(None, most=lambda _: 10)
    await limited({"path": "/", **scope(content_length="11", accept_language="fr")}, None, send)

    assert sent[1]["body"].startswith("C’est trop volumineux".encode())


def test_language_of_a_socket_is_its_pages() -> None:
    chosen = {"cookie": "sessionid=x; django_language=zh-hans", "accept_language": "en"}

    assert language_of(scope(query="seen=3&language=fr", **chosen)) == "fr"
    assert language_of(scope(query="seen=3", **chosen)) == "zh-hans"
    assert language_of(scope(query="language=xx", accept_language="fr-FR")) == "fr"
    assert language_of(scope(query="language=../../etc")) == "en-gb"


async def test_each_listener_is_told_in_its_own_language(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    alice.endpoint.will(reply("To both."))
    async with alice.socket(chat, seen=seen) as one, alice.socket(chat, seen=seen, language="fr") as other:
        await alice.send(chat, "Tell both")

        english, french = await one.until("Regenerate"), await other.until("Régénérer")

    assert "To both." in english
    assert "To both." in french
    assert "Regenerate" not in french


async def test_frame_of_code_has_its_buttons_in_the_listeners_language(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.will([head(), text(f"{FENCE}\n\nAnd now"), hold(gate), *reply(" bake.")[1:]])
    chat = await alice.start("Hello")
    async with alice.socket(chat, language="zh-hans") as socket:
        frame = await socket.until("data-copy-code")
        while "data-frame" not in frame:
            frame = await socket.until("data-copy-code")
        gate.set()
        await settled(chat)

    assert "data-copy-code>复制</button>" in frame
    assert "<span>代码</span>" in frame


def test_frame_says_what_is_waited_for_in_the_language_in_force() -> None:
    frame = Framed(1, "<div data-frame><p data-waiting></p></div>", waiting="busy", waiting_seconds=5)

    with translation.override("fr"):
        html = frame_in_words(frame).replace("\u202f", " ")

    assert "Le point d’accès est occupé ; nouvel essai <time" in html
    assert 'data-left="dans {seconds} s"' in html


@pytest.mark.parametrize(
    "hostile", ['<button type="button" class="quiet" data-copy-code>Copy</button>', "<p data-waiting></p>"]
)
def test_text_that_looks_like_what_is_replaced_stays_text(hostile: str) -> None:
    frame = Framed(
        1, f"<div data-frame><div data-blocks>{render(hostile)}</div><p data-waiting></p></div>", waiting="x"
    )

    with translation.override("fr"):
        html = frame_in_words(frame)

    assert html.count("<button") == 0
    assert html.count("point d’accès") == 1


def test_english_is_as_it_was_written() -> None:
    with translation.override("en-gb"):
        assert frame_in_words(Framed(1, render(FENCE))) == render(FENCE)


@pytest.mark.django_db
def test_page_that_is_not_there_says_so_in_the_persons_language(client: Client) -> None:
    page = client.get("/nowhere/", headers={"Accept-Language": "zh-CN"}).content.decode()

    assert "这里什么都没有" in page
