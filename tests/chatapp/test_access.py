"""alice owns, charlie is a stranger, nobody is signed out: a stranger's id answers like a random one, everywhere."""

from uuid import uuid4

import pytest
from django.test import Client

from chatapp.models import Chat
from tests.factories import fold, make_chat, make_user

pytestmark = pytest.mark.django_db

EDIT = "compactions/{compaction}/edit/"
DELETE = "messages/{message}/delete/"
EDIT_MESSAGE = "messages/{message}/edit/"
IN_CHAT = [
    "",
    "changes/",
    "archived/",
    "earlier/",
    "rename/",
    "delete/",
    "request/",
    "compactions/",
    "settings/",
    "order/",
    "find/",
]
PAGES = [*IN_CHAT, EDIT, DELETE, EDIT_MESSAGE, "export/json/", "export/markdown/"]
COMMANDS = [
    "send/",
    "stop/",
    "queue/1/send/",
    "queue/1/edit/",
    "queue/1/discard/",
    "compact/",
    "meter/",
    "rename/",
    "delete/",
    "model/",
    "messages/{message}/regenerate/",
    "messages/{message}/retry/",
    "messages/{message}/show/",
    "compactions/{compaction}/cancel/",
    "compactions/{compaction}/undo/",
    EDIT,
    EDIT_MESSAGE,
    "messages/{message}/answer/",
    "messages/{message}/fork/",
    "messages/{message}/pin/",
    "messages/{message}/fresh/",
    DELETE,
    "messages/{message}/restore/",
    "rebuild/",
    "policy/",
    "settings/",
    "pin/",
    "archive/",
    "move/",
    "tag/",
    "keep/",
]
FIELDS = {
    "text": "Hello",
    "title": "Taken over",
    "model": "1",
    "idempotency_key": "k",
    "pinned": "1",
    "policy": "window",
    "seed": "7",
    "tag": "theirs",
}


@pytest.fixture
def chat() -> Chat:
    chat = make_chat(make_user("alice"), "a secret", "Hi.", "More", "Here.")
    chat.folded = fold(chat, through=1)
    return chat


@pytest.fixture
def charlie() -> Client:
    client = Client()
    client.force_login(make_user("charlie"), backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def address(template: str, chat: Chat, chat_id: object) -> str:
    reply = chat.messages.filter(role="assistant").last()
    return f"/chats/{chat_id}/" + template.format(message=reply.pk, compaction=chat.folded.pk)


@pytest.mark.parametrize("page", PAGES)
def test_stranger_gets_a_page_like_a_random_one(chat: Chat, charlie: Client, page: str) -> None:
    foreign = charlie.get(address(page, chat, chat.pk))
    random = charlie.get(address(page, chat, uuid4()))

    assert (foreign.status_code, random.status_code) == (404, 404)
    assert "secret" not in foreign.content.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_stranger_commands_like_a_random_one_and_change_nothing(chat: Chat, charlie: Client, command: str) -> None:
    before = list(chat.messages.values()), Chat.objects.filter(pk=chat.pk).values().get()

    foreign = charlie.post(address(command, chat, chat.pk), FIELDS)
    random = charlie.post(address(command, chat, uuid4()), FIELDS)

    assert (foreign.status_code, random.status_code) == (404, 404)
    assert (list(chat.messages.values()), Chat.objects.filter(pk=chat.pk).values().get()) == before


@pytest.mark.parametrize("page", ["/", "/export/", "/import/", *[f"/chats/{{chat}}/{page}" for page in PAGES[:3]]])
def test_signed_out_visitor_is_led_to_the_sign_in_page(chat: Chat, page: str) -> None:
    response = Client().get(page.format(chat=chat.pk))

    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("command", ["/chats/", *[f"/chats/{{chat}}/{command}" for command in COMMANDS]])
def test_signed_out_visitor_commands_nothing(chat: Chat, command: str) -> None:
    response = Client().post(command.format(chat=chat.pk, message=1, compaction=chat.folded.pk), FIELDS)

    assert response.status_code == 302
    assert Chat.objects.count() == 1


def test_malformed_id_is_a_404(charlie: Client) -> None:
    assert charlie.get("/chats/not-a-uuid/").status_code == 404
    assert charlie.get("/chats/1/").status_code == 404


def test_lists_show_ones_own_chats_only(chat: Chat, charlie: Client) -> None:
    assert "A chat" not in charlie.get("/").content.decode()


def test_commands_need_the_csrf_token(chat: Chat) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(chat.owner, backend="allauth.account.auth_backends.AuthenticationBackend")

    assert client.post(f"/chats/{chat.pk}/send/", FIELDS).status_code == 403
    assert client.post("/chats/", FIELDS).status_code == 403


@pytest.mark.parametrize("command", [each for each in COMMANDS if each not in PAGES])
def test_commands_are_not_carried_out_by_get(chat: Chat, command: str) -> None:
    client = Client()
    client.force_login(chat.owner, backend="allauth.account.auth_backends.AuthenticationBackend")

    assert client.get(address(command, chat, chat.pk)).status_code == 405


def test_every_page_has_a_strict_content_security_policy(chat: Chat) -> None:
    client = Client()
    client.force_login(chat.owner, backend="allauth.account.auth_backends.AuthenticationBackend")

    for page in ("/", f"/chats/{chat.pk}/", "/accounts/login/", "/nothing/here/"):
        policy = client.get(page)["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
