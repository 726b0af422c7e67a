"""What the page says of a compaction before, while and after it, in every open tab and after a reload (rule I6)."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from chatapp import requesting
from chatapp.database import in_database
from chatapp.history import loading
from chatapp.models import Chat, Compaction, LanguageModel, SiteSettings
from compaction.memory import Memory
from tests.factories import fold
from tests.folding import SUMMARY, long_chat, press, summarising
from tests.scripted import Signal, head, hold, json_error, reply, text
from tests.visiting import Visitor, settled

UPCOMING = 'data-state="upcoming"'


def told(html: str) -> str:
    """State and words of the place where a page tells of compactions."""
    place = re.search(r'<div id="compaction".*?(?=<footer|<div id="meter"|\Z)', html, re.DOTALL)
    assert place
    states = re.findall(r'data-state="(\w+)"', place[0])
    return unescape(" ".join([*states, *re.sub(r"<[^>]*>", " ", place[0]).split()]))


async def full_chat(visitor: Visitor, **facts: Any) -> Chat:
    """A chat that has reached its trigger."""
    return await long_chat(visitor, turns=7, window=3100, **facts)


async def test_i6_upcoming_is_told_in_every_tab_and_goes_when_it_is_done(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await full_chat(alice)
    assert "upcoming Your next message will fold earlier turns first." in told(await alice.page(chat))

    async with alice.socket(chat) as first, alice.socket(chat) as second:
        await alice.say(chat, "And now?")
        for tab in (first, second):
            assert "data-divider" in await tab.until("data-divider")

    html = await alice.page(chat)
    assert "data-divider" in html
    assert UPCOMING not in html


async def test_i6_upcoming_reaches_tabs_that_are_open_already(alice: Visitor) -> None:
    await in_database(lambda: SiteSettings.objects.update_or_create(pk=1, defaults={"compacts_when_idle": False}))
    chat = await long_chat(alice, window=3000)
    assert UPCOMING not in await alice.page(chat)

    async with alice.socket(chat) as first, alice.socket(chat) as second:
        alice.endpoint.always(reply("Bread. " * 300, usage=None))
        await alice.say(chat, "And now?")
        for tab in (first, second):
            assert "Your next message will fold earlier turns first." in await tab.until(UPCOMING)


async def test_i6_upcoming_at_the_end_of_a_reply_is_told_while_it_is_written(alice: Visitor) -> None:
    gate = Signal()
    chat = await long_chat(alice)
    alice.endpoint.will([head(), text("It "), hold(gate), *reply("rises.", usage=None)[1:]])
    alice.endpoint.always(summarising())
    await alice.send(chat, "And now?")
    await gate.reached()
    await in_database(lambda: LanguageModel.objects.update(window_reported=2600))

    html = await alice.page(chat)
    gate.set()
    await settled(chat)

    assert "upcoming Earlier turns will be folded when this reply has ended." in told(html)
    assert told(await alice.page(chat)) == ""
    assert await in_database(Compaction.objects.applied().filter(trigger="idle").exists)


async def test_i6_nothing_is_upcoming_where_it_may_not_be(alice: Visitor) -> None:
    chat = await full_chat(alice)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="everything")
    assert UPCOMING not in await alice.page(chat)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="window")
    assert UPCOMING not in await alice.page(chat)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="compact")
    assert UPCOMING in await alice.page(chat)

    await in_database(_remember_refusal, chat)
    assert UPCOMING not in await alice.page(chat)

    await in_database(lambda: Chat.objects.update(compaction_memory={"failures": 3, "model": "scripted"}))
    html = await alice.page(chat)
    assert UPCOMING not in html
    assert "resting Folding by itself rests after three failures" in told(html)

    await in_database(lambda: Chat.objects.update(compaction_memory={}))
    await in_database(lambda: LanguageModel.objects.update(threshold_percent=0))
    assert UPCOMING not in await alice.page(chat)


def _remember_refusal(chat: Chat) -> None:
    situation = loading.load_situation(chat.pk)
    size, last = situation.meter().used, situation.transcript.messages[-1]
    memory = {"refused_size": size, "head": last.id, "model": "scripted", "window": situation.limits.window}
    Chat.objects.filter(pk=chat.pk).update(compaction_memory=memory)
    assert Memory(**memory).refused_size


async def test_i6_running_says_what_it_does_also_after_a_reload(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(summarising([head(), text(SUMMARY), hold(gate), *reply("")[1:]]))
    chat = await long_chat(alice, window=8000)
    await alice.post(f"/chats/{chat.pk}/compact/")
    await gate.reached()

    words = told(await alice.page(chat))
    gate.set()
    await settled(chat)

    assert words.startswith("running Folding earlier messages writing the summary since")
    assert "Cancel" in words


async def test_i6_done_says_before_and_after_also_after_a_reload(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    compaction = await press(alice, chat)

    html = " ".join(re.sub(r"<[^>]*>", " ", await alice.page(chat)).split())

    assert f"≈ {compaction.tokens_before:,} → {compaction.tokens_after:,} tokens" in html
    assert told(await alice.page(chat)) == ""


async def test_i6_refused_says_why_also_after_a_reload(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)
    await press(alice, chat)

    assert told(await alice.page(chat)).startswith("refused Nothing was folded. There is only the last turn")


async def test_i6_failed_says_why_and_offers_retry_also_after_a_reload(alice: Visitor) -> None:
    alice.endpoint.always(summarising(json_error(401)))
    chat = await long_chat(alice, window=8000)
    await press(alice, chat)

    words = told(await alice.page(chat))

    assert words.startswith("failed Nothing was folded. The endpoint refused the key.")
    assert words.endswith("Retry")


async def test_i6_cancelled_is_told_also_after_a_reload(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(summarising([head(), hold(gate)]))
    chat = await long_chat(alice, window=8000)
    await alice.post(f"/chats/{chat.pk}/compact/")
    await gate.reached()
    running = await in_database(Compaction.objects.live().get)
    await alice.post(f"/chats/{chat.pk}/compactions/{running.pk}/cancel/")
    await settled(chat)

    assert told(await alice.page(chat)) == "cancelled Folding was cancelled; nothing changed."


async def test_i6_undone_is_told_until_something_is_said(alice: Visitor) -> None:
    chat = await long_chat(alice, window=8000)
    compaction = await in_database(fold, chat, through=5)

    async with alice.socket(chat) as tab:
        await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/undo/")
        await tab.until('data-state="undone"')

    assert told(await alice.page(chat)) == "undone The last fold was undone: what it left out is sent again."
    await alice.say(chat, "And now?")
    assert told(await alice.page(chat)) == ""


async def test_k4_meter_of_the_policy_window_counts_what_is_sent_with_what_is_typed(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=20, window=2600)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="window")
    typed = "Rye bread wants even more time. " * 40

    response = await alice.post(f"/chats/{chat.pk}/meter/", text=typed)
    shown = await in_database(requesting.read_request, chat.pk, pending_text=typed)

    used = re.search(r'data-used="(\d+)" data-trigger="\d+" data-pending="(\d+)"', response.content.decode())
    assert used
    assert int(used[1]) == shown.meter.used <= 2600
    assert int(used[1]) == sum(part.tokens for part in shown.parts)
    assert int(used[2]) == shown.parts[-1].tokens > 0


async def test_k4_colour_is_never_the_only_sign(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=6, window=3000)
    assert "meter-near" in (html := await alice.page(chat))
    assert "soon folds, at" in html

    await in_database(lambda: LanguageModel.objects.update(threshold_percent=50))
    assert "meter-over" in (html := await alice.page(chat))
    assert "folds with the next message" in html
