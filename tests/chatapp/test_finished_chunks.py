"""A long summary that broke off goes on where it had got to, but never over other words than it was begun with (E9)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from chatapp.database import in_database
from chatapp.models import Chat, LanguageModel, SiteSettings
from tests.factories import add_messages
from tests.folding import SUMMARY, is_summary_request, long_chat, message_at, press, summarising, summary_calls
from tests.scripted import Signal, head, hold, json_error, reply
from tests.visiting import Visitor, compactions_of, refreshed, settled

BROKEN = json_error(400, "not today")


def part_of(payload: dict[str, Any]) -> tuple[int, int]:
    """Which part a summary call asked for, and of how many."""
    number, total = re.findall(r"part (\d+) of (\d+)", payload["messages"][-1]["content"])[-1]
    return int(number), int(total)


def breaking_at(part: int, breaking: Any = BROKEN) -> Any:
    """A summariser that writes every part but one."""

    def summary(payload: dict[str, Any]) -> Any:
        number, _ = part_of(payload)
        return breaking if number == part else reply(f"{SUMMARY} So far: {number} read.")

    return summarising(summary)


def parts_asked(visitor: Visitor) -> list[int]:
    return [part_of(payload)[0] for payload in summary_calls(visitor)]


async def broken_chat(visitor: Visitor, **wishes: Any) -> Chat:
    """Its first try broke off in the third part; what was asked until then is forgotten."""
    chat = await long_chat(visitor, turns=16, window=1500)
    visitor.endpoint.always(breaking_at(3))
    row = await press(visitor, chat, **wishes)
    assert (row.status, row.chunks_done) == ("failed", 2)
    assert row.chunks_total > 3
    assert parts_asked(visitor) == [1, 2, 3]
    visitor.endpoint.requests.clear()
    visitor.endpoint.always(breaking_at(0))
    return chat


async def left_of(chat: Chat) -> list[str]:
    return [row.unfinished_summary for row in await compactions_of(chat) if row.unfinished_summary]


async def test_e9_the_next_try_goes_on_after_the_last_finished_part(alice: Visitor) -> None:
    chat = await broken_chat(alice)
    assert await left_of(chat) == [f"{SUMMARY} So far: 2 read."]

    row = await press(alice, chat)

    assert row.status == "applied"
    assert parts_asked(alice) == list(range(3, row.chunks_total + 1))
    assert row.chunks_done == row.chunks_total
    assert row.calls == row.chunks_total - 2
    assert "So far: 2 read." in str(summary_calls(alice)[0]["messages"])
    assert await left_of(chat) == []


async def test_e9_a_cancelled_one_goes_on_and_the_page_says_from_which_part(alice: Visitor) -> None:
    gate = Signal()
    chat = await long_chat(alice, turns=16, window=1500)
    alice.endpoint.always(breaking_at(3, [head(), hold(gate)]))
    await alice.post(f"/chats/{chat.pk}/compact/")
    await gate.reached()
    running = (await compactions_of(chat))[-1]
    await alice.post(f"/chats/{chat.pk}/compactions/{running.pk}/cancel/")
    await settled(chat)
    alice.endpoint.requests.clear()
    again = Signal()
    alice.endpoint.always(breaking_at(3, [head(), hold(again)]))

    await alice.post(f"/chats/{chat.pk}/compact/")
    await again.reached()

    assert f"summarising part 3 of {running.chunks_total}" in await alice.page(chat)
    assert parts_asked(alice) == [3]
    assert [row.status for row in await compactions_of(chat)] == ["cancelled", "running"]


async def test_e9_where_the_chat_has_grown_the_first_parts_are_still_the_same(alice: Visitor) -> None:
    chat = await broken_chat(alice)
    await in_database(lambda: add_messages(chat, *[f"later {number}: " + "bread " * 200 for number in range(8)]))

    row = await press(alice, chat)

    assert row.status == "applied"
    assert parts_asked(alice)[0] == 3


async def test_e9_other_instructions_begin_anew(alice: Visitor) -> None:
    chat = await broken_chat(alice, instructions="Keep the budget")

    row = await press(alice, chat, instructions="Keep the recipe")

    assert (row.status, parts_asked(alice)[0]) == ("applied", 1)


@pytest.mark.parametrize("change", ["template", "window", "summariser", "edit"])
async def test_e9_another_template_window_summariser_or_text_begins_anew(alice: Visitor, change: str) -> None:
    chat = await broken_chat(alice)

    def make_change() -> None:
        model = LanguageModel.objects.get()
        if change == "template":
            SiteSettings.objects.update_or_create(defaults={"summary_prompt": "Be brief. {words} {instructions}"})
        elif change == "window":
            LanguageModel.objects.update(window_reported=1700)
        elif change == "summariser":
            other = LanguageModel.objects.create(endpoint=model.endpoint, name="other", window_reported=1500)
            SiteSettings.objects.update_or_create(defaults={"summariser": other})
        else:
            first = chat.messages.get(active=True, position=0)
            chat.messages.filter(pk=first.pk).update(content=f"Changed {first.content}")

    await in_database(make_change)
    row = await press(alice, chat)

    assert (row.status, parts_asked(alice)[0]) == ("applied", 1)


async def test_e9_deleting_a_covered_message_erases_what_was_finished_and_begins_anew(alice: Visitor) -> None:
    chat = await broken_chat(alice)
    message = await message_at(chat, 2)

    await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/", confirmed="1")
    left = await left_of(chat)
    row = await press(alice, chat)

    assert left == []
    assert (row.status, parts_asked(alice)[0]) == ("applied", 1)
    assert "User: 2: Bread" not in str(summary_calls(alice))


async def test_e9_deleting_a_message_that_stays_live_leaves_what_was_finished(alice: Visitor) -> None:
    chat = await broken_chat(alice)
    message = await message_at(chat, 30)

    await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/", confirmed="1")

    assert len(await left_of(chat)) == 1


async def test_e9_a_refused_one_leaves_nothing_for_the_next_try(alice: Visitor) -> None:
    chat = await broken_chat(alice)
    await in_database(lambda: SiteSettings.objects.update_or_create(defaults={"threshold_percent": 1}))

    row = await press(alice, chat)

    assert row.status == "refused"
    assert await left_of(chat) == []
    assert not (await refreshed(chat)).is_compacted
    assert all(is_summary_request(payload) for payload in alice.endpoint.payloads)
