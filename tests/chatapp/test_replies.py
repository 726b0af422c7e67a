"""A reply from the post to its end, on a scripted endpoint: text, stop, faults, retry; what was typed is never lost."""

import asyncio
import json

import pytest
from django.test import override_settings

from chatapp import runs
from chatapp.database import in_database
from chatapp.destinations import Destinations
from chatapp.models import Chat, Endpoint, LanguageModel, Message, UsageRecord
from tests.scripted import Signal, cut, document, done, finish, head, hold, json_error, raw, reply, text
from tests.visiting import Visitor, articles, last_message, refreshed, settled


def on_hold(*words: str, then: str = "") -> tuple[Signal, list]:
    """A reply that stops after `words` until the signal is set."""
    gate = Signal()
    steps = [head(), *[text(word) for word in words], hold(gate)]
    return gate, [*steps, text(then), finish(), done()]


async def test_reply_is_stored_with_text_usage_and_model(alice: Visitor) -> None:
    alice.endpoint.will(reply("Good day to you.", usage=(12, 4, 8)))

    chat = await alice.start("Hello")
    await settled(chat)

    message = await last_message(chat)
    assert (message.content, message.status, message.model_name) == ("Good day to you.", "complete", "scripted")
    assert (message.prompt_tokens, message.completion_tokens, message.cached_tokens) == (12, 4, 8)
    assert await in_database(UsageRecord.objects.filter(kind="reply", prompt_tokens=12, measured=True).exists)


async def test_request_holds_system_prompt_and_whole_history(alice: Visitor) -> None:
    alice.endpoint.always(reply("Yes."))
    chat = await alice.start("One")
    await settled(chat)
    await in_database(Chat.objects.filter(pk=chat.pk).update, system_prompt="Be kind.", titled_by_hand=True)

    await alice.say(chat, "Two")

    assert alice.endpoint.payloads[-1]["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "One"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Two"},
    ]


async def test_same_key_twice_is_one_message_and_one_call(alice: Visitor) -> None:
    alice.endpoint.will(reply("First."), reply("A title"))
    chat = await alice.start("Hello")
    await settled(chat)
    gate, script = on_hold("Wait")
    alice.endpoint.will(script)

    await alice.send(chat, "Again", idempotency_key="k")
    second = await alice.send(chat, "Again", idempotency_key="k")
    gate.set()
    await settled(chat)

    assert second.status_code == 200
    assert await in_database(chat.messages.filter(content="Again").count) == 1
    assert [p["messages"][-1]["content"] for p in alice.endpoint.payloads].count("Again") == 1


async def test_two_sends_at_once_are_two_turns_one_after_the_other(alice: Visitor) -> None:
    gate, script = on_hold("Thinking")
    alice.endpoint.will(script)
    chat = await alice.start("First")

    second = await alice.send(chat, "Second thought")
    plain = await alice.post(f"/chats/{chat.pk}/send/", text="Third thought", htmx=False)
    gate.set()
    await settled(chat)

    assert (second.status_code, second["HX-Trigger"], plain.status_code) == (200, '{"foldline:sent": {}}', 302)
    said = chat.messages.on_path().values_list("role", "content").filter(role="user")
    texts = await in_database(lambda: [content for _, content in said])
    assert texts == ["First", "Second thought", "Third thought"]


@pytest.mark.parametrize("tokens", [0, 1, 50])
async def test_stop_keeps_the_partial_text_and_ends_a_reply_that_would_never_end(alice: Visitor, tokens: int) -> None:
    gate, script = on_hold(*[f"word{n} " for n in range(tokens)])
    alice.endpoint.will(script)
    chat = await alice.start("Go on")
    await gate.reached()

    response = await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)

    message = await last_message(chat)
    assert response.status_code == 200
    assert (message.status, message.content) == ("stopped", "".join(f"word{n} " for n in range(tokens)))
    await alice.endpoint.requests[0].left.seen()


async def test_first_paint_in_mid_stream_holds_all_text_so_far(alice: Visitor) -> None:
    gate, script = on_hold("The first half. ", then="The second half.")
    alice.endpoint.will(script)
    chat = await alice.start("Tell me")
    await gate.reached()
    await _until_text(chat, "The first half. ")

    page = await alice.page(chat)
    gate.set()
    await settled(chat)

    assert "The first half." in page
    assert articles(page)[-1]["status"] == "streaming"
    assert "The second half." in await alice.page(chat)


async def test_reply_goes_on_when_every_tab_is_closed(alice: Visitor) -> None:
    gate, script = on_hold("Half", then=" and half.")
    alice.endpoint.will(script)
    chat = await alice.start("Tell me")
    async with alice.socket(chat) as socket:
        await socket.next()

    gate.set()
    await settled(chat)

    assert (await last_message(chat)).content == "Half and half."


FAULTS = [
    (json_error(401, "Incorrect API key provided"), "failed", "wrong_key"),
    (json_error(403, "Not for you"), "failed", "forbidden"),
    (json_error(404, "The model `scripted` does not exist"), "failed", "no_such_model"),
    (document("<html>hello</html>", content_type="text/html"), "failed", "not_a_stream"),
    ([head(), done()], "failed", "empty_reply"),
    ([head(), text("Half of "), cut()], "interrupted", "cut_off"),
]


@pytest.mark.parametrize(("script", "status", "failure"), FAULTS, ids=[fault[2] for fault in FAULTS])
async def test_fault_of_the_endpoint_is_a_sentence_with_retry(
    alice: Visitor, script: list, status: str, failure: str
) -> None:
    alice.endpoint.will(script)
    chat = await alice.start("Keep these words")
    await settled(chat)

    page = await alice.page(chat)

    message = await last_message(chat)
    assert (message.status, message.failure) == (status, failure)
    assert "Keep these words" in page
    assert "Retry" in page


@pytest.mark.parametrize("reason", ["st\ud83dop", "st\0op", "s" * 10_000])
async def test_finish_reason_that_no_column_holds_ends_the_reply_all_the_same(alice: Visitor, reason: str) -> None:
    whole = json.dumps({"choices": [{"index": 0, "delta": {"content": "Good day."}, "finish_reason": reason}]})
    alice.endpoint.will([head(), raw(f"data: {whole}\n\n"), done()])
    chat = await alice.start("Hello")
    await settled(chat)

    message = await last_message(chat)
    assert (message.status, message.content) == ("complete", "Good day.")


async def test_interrupted_text_stays_and_retry_writes_beside_it(alice: Visitor) -> None:
    alice.endpoint.will([head(), text("Half of "), cut()], reply("All of it."))
    chat = await alice.start("Tell me")
    await settled(chat)
    broken = await last_message(chat)

    await alice.post(f"/chats/{chat.pk}/messages/{broken.pk}/retry/")
    await settled(chat)

    assert (await last_message(chat)).content == "All of it."
    assert (await in_database(Message.objects.get, pk=broken.pk)).content == "Half of "


@pytest.mark.parametrize(
    ("base_url", "failure", "words"),
    [
        ("http://127.0.0.1:9/v1", "private_address", "name the endpoint’s host in PRIVATE_ENDPOINTS"),
        ("http://2852039166/v1", "never_called", "leads to a place that is never called"),
    ],
)
async def test_endpoint_that_may_not_be_called_is_a_sentence(
    alice: Visitor, base_url: str, failure: str, words: str
) -> None:
    """Of an address that was stored before the list of private ones was narrowed down."""
    await in_database(Endpoint.objects.update, base_url=base_url)
    with override_settings(ENDPOINT_DESTINATIONS=Destinations(("10.0.0.0/8",))):
        chat = await alice.start("Keep these words")
        await settled(chat)

    page = await alice.page(chat)

    assert (await last_message(chat)).failure == failure
    assert words in page
    assert "Keep these words" in page


async def test_no_model_is_a_sentence(alice: Visitor) -> None:
    await in_database(LanguageModel.objects.all().delete)

    chat = await alice.start("Hello?")
    await settled(chat)

    assert (await last_message(chat)).failure == "no_model"


async def test_title_is_made_from_the_first_exchange(alice: Visitor) -> None:
    alice.endpoint.will(reply("It is in winter that dough sleeps."), reply("Sourdough in winter"))
    chat = await alice.start("Why does my sourdough fail in the cold months of the year, every single time?")
    await settled(chat)
    await alice.endpoint.received(2)
    await _until(lambda: Chat.objects.get(pk=chat.pk).title == "Sourdough in winter")


async def test_title_chosen_by_hand_is_never_overwritten(alice: Visitor) -> None:
    gate, script = on_hold("Half", then=" done.")
    alice.endpoint.will(script, reply("A machine's title"))
    chat = await alice.start("Hello")
    await alice.post(f"/chats/{chat.pk}/rename/", title="Mine")
    gate.set()
    await settled(chat)
    await runs.shut_down()

    assert (await refreshed(chat)).title == "Mine"


async def test_reasoning_is_kept_apart_from_the_reply(alice: Visitor) -> None:
    alice.endpoint.will(reply("Four.", thoughts="Two and two, so"))

    chat = await alice.start("2+2?")
    await settled(chat)

    message = await last_message(chat)
    assert (message.content, message.reasoning) == ("Four.", "Two and two, so")


async def test_shutdown_stores_the_text_and_closes_the_run(alice: Visitor) -> None:
    gate, script = on_hold("Half a sent")
    alice.endpoint.will(script)
    chat = await alice.start("Tell me")
    await gate.reached()
    await _until_text(chat, "Half a sent")

    await runs.shut_down()

    message = await last_message(chat)
    assert (message.content, message.status, message.failure) == ("Half a sent", "interrupted", "interrupted")


@pytest.mark.parametrize("blank", ["", " ", "\n\t ", "\0", "\u200b"])
async def test_blank_message_is_refused_without_a_chat(alice: Visitor, blank: str) -> None:
    response = await alice.post("/chats/", text=blank)

    assert response.status_code == 422
    assert not await in_database(Chat.objects.exists)


async def test_message_larger_than_the_window_is_refused_with_the_text_kept(alice: Visitor) -> None:
    await in_database(LanguageModel.objects.update, window_reported=1000)
    long = "word " * 5000

    response = await alice.post("/chats/", text=long, htmx=False)

    assert response.status_code == 422
    assert long.strip() in response.content.decode()
    assert alice.endpoint.requests == []


async def test_a_megabyte_of_text_is_stored_whole_where_the_window_is_unknown(alice: Visitor) -> None:
    long = "né " * 350_000

    chat = await alice.start(long)
    await settled(chat)

    assert (await in_database(chat.messages.get, position=0)).content == long


async def test_forged_fields_of_a_post_are_ignored(alice: Visitor) -> None:
    chat = await alice.start("Hello", summary="Forged", compacted_through="1", owner="1", role="assistant")
    await settled(chat)

    stored = await refreshed(chat)
    assert (stored.summary, stored.compacted_through, stored.owner_id) == ("", None, alice.user.pk)
    assert (await in_database(chat.messages.get, position=0)).role == "user"


async def test_key_is_in_no_error_and_no_page(alice: Visitor) -> None:

    def give_key() -> None:
        endpoint = Endpoint.objects.get()
        endpoint.set_key("sk-very-secret-0123456789")
        endpoint.save()

    await in_database(give_key)
    alice.endpoint.will(json_error(401, "Incorrect API key provided: sk-very-secret-0123456789"))
    chat = await alice.start("Hello")
    await settled(chat)

    assert "very-secret" not in await alice.page(chat)
    assert "very-secret" not in (await last_message(chat)).failure_detail


async def test_chat_deleted_in_mid_stream_ends_the_run_quietly(alice: Visitor, caplog) -> None:
    gate, script = on_hold("Half")
    alice.endpoint.will(script)
    chat = await alice.start("Tell me")
    await gate.reached()

    response = await alice.post(f"/chats/{chat.pk}/delete/", htmx=False)
    await settled(chat)
    await alice.endpoint.requests[0].left.seen()

    assert response["Location"] == "/"
    assert "Traceback" not in caplog.text


async def test_same_start_twice_at_once_is_one_chat(alice: Visitor) -> None:
    await asyncio.gather(*[alice.start("Hello", idempotency_key="k") for _ in range(5)])

    assert await in_database(Chat.objects.count) == 1


async def _until(is_so) -> None:
    async with asyncio.timeout(10):
        while not await in_database(is_so):
            await asyncio.sleep(0.02)


async def _until_text(chat: Chat, words: str) -> None:
    """The process that writes has taken these words in."""
    reply_id = (await last_message(chat)).pk
    async with asyncio.timeout(10):
        while (runs.live_text(reply_id) or ("", ""))[0] != words:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("reason", "words"),
    [("length", "greatest length"), ("content_filter", "content filter"), ("tool_calls", "asked for a tool")],
)
async def test_finish_reason_is_shown_as_what_it_is(alice: Visitor, reason: str, words: str) -> None:
    alice.endpoint.will(reply("Half a sentence and", finish_reason=reason))
    chat = await alice.start("Tell me")
    await settled(chat)

    assert words in await alice.page(chat)
