"""A page that has missed something is brought to what a page opened now shows."""

import pytest

from chatapp import events
from chatapp.history import turns, wishes
from chatapp.models import Chat, Message
from chatapp.presenting import pages
from tests.chatapp.open_page import OpenPage, ids_in
from tests.factories import make_chat

pytestmark = pytest.mark.django_db


def open_page(chat: Chat) -> OpenPage:
    page = OpenPage(chat.owner, chat)
    page.catch_up()
    return page


def say(chat: Chat, text: str) -> None:
    run = turns.begin_turn(chat_id=chat.pk, text=text, idempotency_key="", by=events.PROCESS).run
    assert run is not None
    turns.finish_turn(run_id=run.pk, attempt=1, status=Message.Status.COMPLETE, content="Yes.", reasoning="")


def test_i6_page_that_missed_more_than_one_page_has_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MESSAGES_ON_A_PAGE", 6)
    chat = make_chat(None, "Hello", "Hi.", revision=1)
    page = open_page(chat)
    for number in range(5):
        say(chat, f"{number}")

    page.catch_up()

    path = list(chat.messages.on_path().values_list("pk", flat=True))
    shown = ids_in("".join(page.shown()))
    assert shown == path[len(path) - len(shown) :]
    assert bool(page.parts["earlier"]) == (len(shown) < len(path))


def test_j5_pin_behind_a_fresh_start_is_counted_on_an_open_page() -> None:
    chat = make_chat(None, "Hello", "Hi.", "More", "Here.", revision=1)
    last = chat.messages.get(position=2)
    wishes.start_fresh(chat_id=chat.pk, message_id=last.pk, user_id=chat.owner_id)
    page = open_page(chat)
    page.open_archived()

    wishes.pin(chat_id=chat.pk, message_id=chat.messages.get(position=0).pk, pinned=True)
    page.catch_up()

    fresh = open_page(chat)
    fresh.open_archived()
    assert page.parts["fold"] == fresh.parts["fold"]
    assert page.archived == fresh.archived
