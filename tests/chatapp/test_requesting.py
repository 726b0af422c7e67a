"""What the model is sent, as a person may read it: built by what builds the request, so it can't differ."""

import json
import re
from html import unescape
from typing import Any

import pytest

from chatapp import requesting
from chatapp.database import in_database
from chatapp.models import Chat, Compaction, LanguageModel
from tests.factories import fold, make_chat
from tests.folding import WORDS, long_chat, message_at, pin, press, summarising
from tests.scripted import reply
from tests.visiting import Visitor


async def panel(visitor: Visitor, chat: Chat, *, typing: str = "") -> dict[str, Any]:
    """The panel's JSON, while `typing` is in the box."""
    response = await visitor.post(f"/chats/{chat.pk}/request/", text=typing)
    raw = re.search(r'<pre id="request-json"[^>]*>(.*?)</pre>', response.content.decode(), re.DOTALL)
    assert raw
    body: dict[str, Any] = json.loads(unescape(raw[1]))
    return body


async def assert_is_what_goes_out(visitor: Visitor, chat: Chat) -> None:
    """The panel's JSON with nothing typed lacks the new message alone; with it typed, it is the whole body."""
    before, whole = await panel(visitor, chat), await panel(visitor, chat, typing="And now?")
    await visitor.say(chat, "And now?")
    body = visitor.endpoint.payloads[-1]

    assert whole == body
    assert as_bytes(whole["messages"]) == as_bytes(body["messages"])
    assert as_bytes(before["messages"]) == as_bytes(body["messages"][:-1])
    assert body["messages"][-1] == {"role": "user", "content": "And now?"}


def as_bytes(messages: list[dict[str, Any]]) -> bytes:
    return json.dumps(messages).encode()


@pytest.mark.parametrize("no_system_role", [False, True])
@pytest.mark.parametrize("policy", ["compact", "window", "everything"])
async def test_k4_panel_is_the_next_request_byte_for_byte(alice: Visitor, policy: str, no_system_role: bool) -> None:
    chat = await long_chat(alice, turns=10, window=2600, system_prompt="Be <kind> & brief.", parameters={"top_p": 0.5})
    await in_database(LanguageModel.objects.update, no_system_role=no_system_role, threshold_percent=0)
    await pin(alice, chat, 17)
    await alice.post(f"/chats/{chat.pk}/policy/", policy=policy)

    await assert_is_what_goes_out(alice, chat)


@pytest.mark.parametrize("no_system_role", [False, True])
async def test_k4_panel_of_a_folded_chat_with_pins_is_the_next_request(alice: Visitor, no_system_role: bool) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000, system_prompt="Be kind.")
    await in_database(LanguageModel.objects.update, no_system_role=no_system_role)
    await pin(alice, chat, 1)
    await pin(alice, chat, 10)
    await press(alice, chat)

    await assert_is_what_goes_out(alice, chat)


async def test_k4_joined_parts_are_what_is_sent(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000, system_prompt="Be kind.")
    await in_database(chat.messages.filter(position=0).update, content=f"The server is at 10.0.0.7. {WORDS}")
    await pin(alice, chat, 1)
    await press(alice, chat)

    shown = await in_database(requesting.read_request, chat.pk)

    system = [part for part in shown.parts if part.role == "system"]
    assert [part.kind for part in system] == ["system", "record", "values"]
    assert "".join(part.text for part in shown.parts) == "".join(
        message["content"] for message in json.loads(shown.raw_json)["messages"]
    )
    values = system[2]
    assert "10.0.0.7" in values.text
    assert values.values == 1


async def test_k4_what_is_typed_is_the_last_part_and_never_stored(alice: Visitor) -> None:
    chat = await long_chat(alice)

    response = await alice.post(f"/chats/{chat.pk}/request/", text="I am still thinking about rye")
    html = response.content.decode()

    assert 'data-part="pending"' in html
    assert html.rindex("data-part=") == html.index('data-part="pending"')
    assert not await in_database(chat.messages.filter(content__contains="rye").exists)
    assert "rye" not in await alice.page(chat, "request/")


async def test_c6_a_live_message_is_labelled_pinned_by_its_id(alice: Visitor) -> None:
    chat = await in_database(make_chat, alice.user, "the same", "so", "the same", "so")
    await pin(alice, chat, 2)

    shown = await in_database(requesting.read_request, chat.pk)

    assert [part.kind for part in shown.parts] == ["live", "live", "pinned", "live"]


async def test_k4_parts_are_measured_where_the_model_counted_them(alice: Visitor) -> None:
    alice.endpoint.always(reply("Four words of bread.", usage=(900, 7)))
    chat = await long_chat(alice, turns=1)
    await alice.say(chat, "And now?")

    shown = await in_database(requesting.read_request, chat.pk)

    assert [(part.tokens, part.is_measured) for part in shown.parts if part.is_measured] == [(7, True)]
    assert shown.parts[-1].is_measured
    assert shown.meter.source == "measured"
    assert "parts marked ≈ are estimates" in await alice.page(chat, "request/")


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        ("button", "because you pressed “Compact now”."),
        ("send", "because the chat had reached 25 % of the window."),
        ("idle", "because the chat had reached 25 % of the window when a reply had ended."),
        ("overflow", "because the endpoint found the request too long."),
    ],
)
async def test_k4_panel_says_what_is_archived_and_why(alice: Visitor, trigger: str, words: str) -> None:
    chat = await long_chat(alice, window=8000)
    compaction = await in_database(fold, chat, through=5)
    facts = {"trigger": trigger, "window_tokens": 4000}
    await in_database(Compaction.objects.filter(pk=compaction.pk).update, **facts)
    await in_database(chat.messages.filter(position=2).update, pinned=True)

    html = " ".join(re.sub(r"<[^>]*>", "", await alice.page(chat, "request/")).split())

    assert "6 earlier messages were folded at" in html
    assert words in unescape(html)
    assert "1 of them is pinned and still goes word for word." in html


async def test_j5_panel_says_that_the_chat_was_started_afresh(alice: Visitor) -> None:
    chat = await long_chat(alice)
    message = await message_at(chat, 4)
    await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/fresh/")

    assert "because you started afresh there" in await alice.page(chat, "request/")
    body = await panel(alice, chat)
    assert body["messages"][0]["content"].startswith("4: ")
    await assert_is_what_goes_out(alice, chat)


async def test_j4_what_the_window_leaves_out_is_listed(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=20, window=2600)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="window")

    shown = await in_database(requesting.read_request, chat.pk)
    html = await alice.page(chat, "request/")

    assert shown.left_out_count == len(shown.left_out) == 40 - len(shown.parts)
    assert {each.how for each in shown.left_out} == {"dropped"}
    assert f'?m={shown.left_out[0].position}#m-{shown.left_out[0].position}"' in html


async def test_b7_what_the_last_request_had_to_do_without_is_listed(alice: Visitor) -> None:
    chat = await long_chat(alice)
    gone, last = await message_at(chat, 0), await message_at(chat, 11)
    await in_database(chat.messages.filter(pk=last.pk).update, left_out=[gone.pk])

    shown = await in_database(requesting.read_request, chat.pk)

    assert [(each.how, each.position) for each in shown.left_out] == [("forced", 0)]
    assert "as the endpoint found it too long" in await alice.page(chat, "request/")


async def test_j4_total_under_the_policy_window_is_of_what_is_sent(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=20, window=2600)
    await alice.post(f"/chats/{chat.pk}/policy/", policy="window")

    shown = await in_database(requesting.read_request, chat.pk)

    assert shown.left_out_count > 0
    assert shown.meter.used < shown.meter.window


async def test_parts_are_named_in_order_and_the_archived_ones_counted(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000, system_prompt="Be kind.")
    await pin(alice, chat, 2)
    compaction = await press(alice, chat)

    shown = await in_database(requesting.read_request, chat.pk)

    kinds = list(dict.fromkeys(part.kind for part in shown.parts))
    assert [kind for kind in kinds if kind not in {"live", "mark"}] == ["system", "record", "pinned"]
    assert kinds[-1] == "live"
    assert shown.archived
    assert (shown.archived.count, shown.archived.pinned_count) == (compaction.message_count, 1)
    assert all(part.tokens > 0 for part in shown.parts)


async def test_fragment_for_the_sheet_holds_the_policy_and_no_page(alice: Visitor) -> None:
    chat = await long_chat(alice)

    response = await alice.client.get(f"/chats/{chat.pk}/request/", headers={"HX-Request": "true"})

    html = response.content.decode()
    assert "<html" not in html
    assert 'value="compact" selected' in html
    assert "What the model is sent" in html
