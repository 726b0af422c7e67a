"""Under the policy "window" only the newest rows are read, and all comes out as if every one had been (rule J4)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from django.utils import timezone

from chatapp.history import loading
from chatapp.history.loading import load_situation, unread_ids
from chatapp.history.metering import load_meter
from chatapp.models import Chat, Message, SiteSettings
from chatapp.requesting import read_request
from compaction.request import assemble
from tests.factories import make_chat, make_model
from tests.folding import WORDS

pytestmark = pytest.mark.django_db


def windowed_chat(rows: list[dict[str, Any]], *, window: int = 2600) -> Chat:
    chat = make_chat(model=make_model(window=window), policy=Chat.Policy.WINDOW)
    Message.objects.bulk_create(Message(chat=chat, position=at, **row) for at, row in enumerate(rows))
    return chat


def talk(turns: int) -> list[dict[str, Any]]:
    return [
        {"role": role, "content": f"{number}: {WORDS}"} for number in range(turns) for role in ("user", "assistant")
    ]


def random_talk(dice: random.Random) -> list[dict[str, Any]]:
    """Turns of any length: with steps of tools, failed and deleted replies, usage recorded here and there."""
    rows: list[dict[str, Any]] = []
    for _ in range(dice.randint(1, 14)):
        rows.append({"role": "user", "content": WORDS[: dice.randint(1, 900)]})
        for step in range(dice.choice([0, 0, 0, 1, 5])):
            calls = [{"id": f"c{step}", "name": "look", "arguments": "{}"}]
            rows.append({"role": "assistant", "tool_calls": calls})
            rows.append({"role": "tool", "tool_call_id": f"c{step}", "content": WORDS[: dice.randint(1, 2000)]})
        usage = {"prompt_tokens": dice.randint(300, 900), "completion_tokens": 40, "model_name": "small"}
        kinds: list[dict[str, Any]] = [
            {"content": WORDS[: dice.randint(1, 900)], **usage},
            {"content": WORDS},
            {"status": "failed"},
            {"content": WORDS, "deleted_at": timezone.now()},
        ]
        rows.append({"role": "assistant", **dice.choice(kinds)})
    return rows if dice.random() < 0.5 else [*rows, {"role": "user", "content": "And now?"}]


def check_equal(chat: Chat) -> None:
    whole, read = load_situation(chat.pk), load_situation(chat.pk, to_send=True)
    assert assemble(read.to_send().transcript) == assemble(whole.to_send().transcript)
    assert {*unread_ids(read), *read.to_send().dropped} == {*whole.to_send().dropped}
    assert len(unread_ids(read)) == read.unread_count
    assert bool(read.to_send().dropped) == bool(whole.to_send().dropped)
    for text in ("", WORDS):
        assert load_meter(chat, SiteSettings.get_solo(), chat.model, pending_text=text) == whole.meter(
            pending_text=text
        )


@pytest.mark.parametrize("seed", range(40))
def test_j4_what_is_sent_and_measured_is_the_same_as_of_all_rows(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(loading, "NEWEST_ROWS", 2)
    dice = random.Random(seed)

    check_equal(windowed_chat(random_talk(dice), window=dice.choice([0, 700, 1500, 4000])))


def test_j4_request_panel_and_meter_read_the_newest_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = windowed_chat(talk(1000))
    check_equal(chat)
    panel = read_request(chat.pk)
    read: list[int] = []
    pure_message = loading.pure_message
    monkeypatch.setattr(loading, "pure_message", lambda row, *rest: read.append(row.pk) or pure_message(row, *rest))

    load_meter(chat, SiteSettings.get_solo(), chat.model)
    assert len(read) <= loading.NEWEST_ROWS
    sent = load_situation(chat.pk, to_send=True).to_send()
    assert len(read) <= 2 * loading.NEWEST_ROWS
    assert panel.left_out_count == 2000 - len(sent.transcript.messages)


def test_j4_a_last_turn_longer_than_the_window_is_still_measured_as_of_all_rows() -> None:
    usage = {"prompt_tokens": 900, "completion_tokens": 40, "model_name": "small"}
    long = [{"role": "user", "content": WORDS * 30}, {"role": "assistant", "content": WORDS, **usage}]

    check_equal(windowed_chat([*talk(300), *long]))
