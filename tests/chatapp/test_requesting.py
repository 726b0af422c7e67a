"""What the model is sent, as a person may read it: built by what builds the request, so it can't differ."""

import json
import re
from html import unescape
from typing import Any

from chatapp import requesting
from chatapp.database import in_database
from chatapp.models import Chat
from tests.folding import long_chat, message_at, pin, press, sent, summarising
from tests.visiting import Visitor


async def panel(visitor: Visitor, chat: Chat) -> list[dict[str, Any]]:
    """The messages in the panel's JSON."""
    html = await visitor.page(chat, "request/")
    raw = re.search(r'<pre id="request-json"[^>]*>(.*?)</pre>', html, re.DOTALL)
    assert raw
    messages: list[dict[str, Any]] = json.loads(unescape(raw[1]))["messages"]
    return messages


async def said_next(visitor: Visitor, chat: Chat) -> list[dict[str, Any]]:
    """The messages of the next request, without the new user message."""
    await visitor.say(chat, "And now?")
    assert sent(visitor)[-1] == {"role": "user", "content": "And now?"}
    return sent(visitor)[:-1]


def as_bytes(messages: list[dict[str, Any]]) -> bytes:
    return json.dumps(messages).encode()


async def test_panel_of_a_plain_chat_is_the_next_request_byte_for_byte(alice: Visitor) -> None:
    chat = await long_chat(alice, system_prompt="Be <kind> & brief.")

    shown = await panel(alice, chat)

    assert as_bytes(shown) == as_bytes(await said_next(alice, chat))


async def test_panel_of_a_folded_chat_with_a_pin_is_the_next_request_byte_for_byte(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000, system_prompt="Be kind.")
    await pin(alice, chat, 1)
    await press(alice, chat)

    shown = await panel(alice, chat)

    assert as_bytes(shown) == as_bytes(await said_next(alice, chat))


async def test_panel_of_a_windowed_chat_is_the_next_request_byte_for_byte(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=10, window=2600)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="window")

    shown = await panel(alice, chat)

    assert as_bytes(shown) == as_bytes(await said_next(alice, chat))


async def test_total_under_the_policy_window_is_of_what_is_sent(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=20, window=2600)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="window")

    shown = await in_database(requesting.read_request, chat.pk)

    assert shown.left_out_count > 0
    assert shown.meter.used < shown.meter.window


async def test_panel_after_a_fresh_start_is_the_next_request_byte_for_byte(alice: Visitor) -> None:
    chat = await long_chat(alice)
    message = await message_at(chat, 4)
    await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/fresh/")

    shown = await panel(alice, chat)

    assert shown[0]["content"].startswith("4: ")
    assert as_bytes(shown) == as_bytes(await said_next(alice, chat))


async def test_parts_are_named_in_order_and_the_archived_ones_counted(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000, system_prompt="Be kind.")
    await pin(alice, chat, 2)
    compaction = await press(alice, chat)

    shown = await in_database(requesting.read_request, chat.pk)

    kinds = list(dict.fromkeys(part.kind for part in shown.parts))
    assert [kind for kind in kinds if kind != "live"] == ["system", "record", "pinned"]
    assert kinds[-1] == "live"
    assert shown.archived_count == compaction.message_count - 1
    assert all(part.tokens > 0 for part in shown.parts)


async def test_fragment_for_the_sheet_holds_the_policy_and_no_page(alice: Visitor) -> None:
    chat = await long_chat(alice)

    response = await alice.client.get(f"/chats/{chat.pk}/request/", headers={"HX-Request": "true"})

    html = response.content.decode()
    assert "<html" not in html
    assert 'value="compact" selected' in html
    assert "What the model is sent" in html
