"""The pages in French and Chinese: nothing that the catalogue knows in English is left on them."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.utils import translation

from chatapp.models import Chat
from scripts import messages
from tests.accounts.codes import with_app
from tests.factories import fold, make_chat, make_model
from tests.people import PASSWORD, make_user, signed_in

LANGUAGES = {"fr": "fr", "zh-hans": "zh_Hans"}
SPOKEN = re.compile(r"alt|title|placeholder|aria-label|data-[\w-]+")
CODE_WORD = re.compile(r"[a-z_]+")  # what scripts tell states by
GAP = re.compile(r"%\(\w+\)s|\{\w+\}|<[^>]*>|%%")
# Words that are the same in both, or that stand here as somebody's own.
OWN = {"Message", "Messages", "code", "Image", "Version", "scripted"}


class Heard(HTMLParser):
    """All that a page says: its texts, and its attributes that are read or shown by a script."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent += tag in {"script", "style", "code", "pre"}
        said = {name: value for name, value in attributes if value and SPOKEN.fullmatch(name)}
        self.texts += [v for name, v in said.items() if not (name.startswith("data-") and CODE_WORD.fullmatch(v))]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in {"script", "style", "code", "pre"}

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.texts.append(data)


def texts_of(html: str) -> list[str]:
    heard = Heard()
    heard.feed(html)
    return [" ".join(text.split()) for text in heard.texts if text.strip()]


@cache
def pieces_in_english(language: str) -> set[str]:
    """Whole texts without placeholders, and of others each stretch of three words or more; where it says otherwise."""
    pieces: set[str] = set()
    for message in messages.read(LANGUAGES[language]):
        sources = [message.id] if isinstance(message.id, str) else list(message.id)
        said = [message.string] if isinstance(message.string, str) else list(message.string)
        for source in sources:
            stretches = {part.strip(" .,:;“”()·") for part in GAP.split(source)} - {""}
            if len(stretches) > 1 or GAP.search(source):
                stretches = {part for part in stretches if part.count(" ") > 1}
            pieces |= {part for part in stretches if not any(part in words for words in said)}
    return pieces - OWN


def left_in_english(html: str, language: str) -> list[str]:
    texts = texts_of(html)
    long = "\n".join(texts)
    known = pieces_in_english(language)
    return [piece for piece in known if piece in texts or (piece.count(" ") > 1 and piece in long)]


def visits(chat: Chat, compaction: int) -> list[str]:
    message = chat.messages.on_path()[4].pk
    inside = [
        "", "?archived=1", "request/", "settings/", "compactions/", "rename/", "delete/", "print/", "share/",
        f"compactions/{compaction}/edit/", f"messages/{message}/edit/", f"messages/{message}/delete/",
    ]  # fmt: skip
    desks = [
        "sitesettings", "endpoint", "endpoint/add", f"endpoint/{chat.model.endpoint_id}/change", "languagemodel",
        f"languagemodel/{chat.model_id}/change", "compaction", f"compaction/{compaction}/change", "usagerecord",
        "auditentry",
    ]  # fmt: skip
    return [
        "/", "/usage/", "/accounts/devices/", "/accounts/second-factor/",
        "/search/?q=bread", "/search/?q=nothing-of-that", "/import/", "/shared/", "/nowhere/",
        "/accounts/password/change/", "/accounts/logout/", "/admin/auth/user/", "/admin/auth/user/add/",
        *(f"{chat.get_absolute_url()}{path}" for path in inside), *(f"/admin/chatapp/{desk}/" for desk in desks),
    ]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.django_db
def test_no_page_says_anything_in_english(language: str) -> None:
    sam = make_user("sam", email="sam@example.org", is_staff=True)
    model = make_model(window=8_000)
    chat = make_chat(sam, "Wie?", "```\nx = 1\n```", "Und?", "So.", "Gut", "Ja", model=model)
    row = fold(chat, through=3, summary="Brot und Mehl.")
    client = signed_in(sam)
    asked = {"Accept-Language": language}

    left = {}
    for address in visits(chat, row.pk):
        response = client.get(address, headers=asked)
        assert response.status_code == (404 if address == "/nowhere/" else 200), address
        ours = response.content.decode().replace('alt="Search"', "")  # Django's own picture, in no language else
        left[address] = left_in_english(ours, language)

    assert {address: words for address, words in left.items() if words} == {}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.django_db
def test_nobodys_pages_say_nothing_in_english(client: Client, language: str) -> None:
    make_user("alice")
    left = {}
    for address in ("/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/accounts/inactive/"):
        response = client.get(address, headers={"Accept-Language": language})
        left[address] = left_in_english(response.content.decode(), language)

    assert {address: words for address, words in left.items() if words} == {}


@pytest.mark.parametrize(
    ("language", "short", "wrong"),
    [
        ("fr", "Ce mot de passe est trop court : il lui faut au moins 10 caractères.", "Ce code n’est pas le bon."),
        ("zh-hans", "密码太短，至少需要 10 个字符。", "验证码不正确。"),
    ],
)
@pytest.mark.django_db
def test_what_libraries_answer_is_in_the_persons_language(
    client: Client, language: str, short: str, wrong: str
) -> None:
    alice = with_app(make_user("alice"))
    asked = {"Accept-Language": language}
    client.post("/accounts/login/", {"login": "alice", "password": PASSWORD})

    second = client.post("/accounts/login/second-factor/", {"code": "1"}, headers=asked).content.decode()
    change = {"oldpassword": PASSWORD, "password1": "kurz", "password2": "kurz"}
    changed = signed_in(alice).post("/accounts/password/change/", change, headers=asked).content.decode()

    assert wrong in second
    assert short in changed.replace("\u202f", " ")
    assert left_in_english(second + changed, language) == []


def test_what_is_left_in_english_is_found() -> None:
    with translation.override("fr"):
        assert left_in_english("<p>Nothing found</p>", "fr") == ["Nothing found"]
        assert left_in_english("<button title='Stays word for word in every request'>x</button>", "fr") != []
        assert left_in_english("<p>Rien trouvé</p><code>Copy</code>", "fr") == []
