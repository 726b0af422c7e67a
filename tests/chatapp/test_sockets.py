"""What an open page is told: changes by revision, frames in between, snapshots for whoever missed something."""

import re

import pytest
from django.db import OperationalError

from chatapp import consumers, events, presenting
from chatapp.database import in_database
from chatapp.models import Chat
from tests.chatapp.test_replies import on_hold
from tests.scripted import reply
from tests.visiting import Visitor, articles, last_message, refreshed, settled


def revisions(html: str) -> tuple[int, int]:
    since, revision = re.search(r'data-since="(\d+)" data-revision="(\d+)"', html).groups()
    return int(since), int(revision)


async def test_page_that_has_seen_everything_is_told_nothing_until_something_changes(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    async with alice.socket(chat, seen=seen) as socket:
        await alice.post(f"/chats/{chat.pk}/rename/", title="Renamed")

        html = await socket.next()

    assert "Renamed" in html
    assert articles(html) == []
    assert revisions(html)[0] == seen


async def test_page_that_missed_everything_gets_all_of_it(alice: Visitor) -> None:
    alice.endpoint.will(reply("Good day."))
    chat = await alice.start("Hello")
    await settled(chat)

    async with alice.socket(chat, seen=0) as socket:
        html = await socket.next()

    assert [article["role"] for article in articles(html)] == ["user", "assistant"]
    assert "Good day." in html


async def test_two_tabs_are_told_the_same(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    alice.endpoint.will(reply("To both."))
    async with alice.socket(chat, seen=seen) as one, alice.socket(chat, seen=seen) as two:
        await alice.send(chat, "Tell both")

        first = await one.until("Regenerate")
        second = await two.until("Regenerate")

    assert "To both." in first
    assert "To both." in second


async def test_tab_opened_in_mid_stream_gets_a_whole_frame_and_then_the_rest(alice: Visitor) -> None:
    gate, script = on_hold("First block.\n\nSecond ", then="block.\n\nThird.")
    alice.endpoint.will(script)
    chat = await alice.start("Tell me")
    await gate.reached()

    async with alice.socket(chat, seen=0) as socket:
        await socket.until("data-whole")
        gate.set()
        final = await socket.until("Regenerate")

    assert "Third." in final


async def test_slow_page_is_spared_frames_until_it_answers_then_gets_a_whole_one(alice: Visitor, monkeypatch) -> None:
    monkeypatch.setattr(consumers, "FRAMES_AHEAD", 0)
    gate, script = on_hold("One. ", then="Two.")
    alice.endpoint.will(script)
    chat = await alice.start("Tell me")
    await gate.reached()
    async with alice.socket(chat, seen=0) as socket:
        await socket.until("data-frame")
        await socket.acknowledge(seen=0, resync=True)

        again = await socket.until("data-whole")

        gate.set()
        await settled(chat)

    assert "One." in again


async def test_resync_brings_everything_after_the_named_revision(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    async with alice.socket(chat, seen=seen) as socket:
        await socket.acknowledge(seen=0, resync=True)

        html = await socket.next()

    assert len(articles(html)) == 2


async def test_page_that_asks_whether_anybody_is_there_gets_a_word(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    async with alice.socket(chat, seen=seen) as socket:
        await socket.acknowledge(seen=seen)
        await socket.acknowledge(seen=seen, ask=True)

        assert await socket.next() == consumers.HERE


async def test_socket_whose_changes_cannot_be_read_is_closed_and_leaves_nothing(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the page would take it for a live one: it is open, and the browser hears pings."""
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    async with alice.socket(chat, seen=seen) as socket:

        def fail(*_: object) -> None:
            raise ArithmeticError("a fault of our own")

        monkeypatch.setattr(presenting, "read_changes", fail)
        events.tell_here(chat.pk, events.Changed())

        assert (await socket.communicator.receive_output())["code"] == consumers.WENT_WRONG
    assert chat.pk not in events._listeners


async def test_socket_that_breaks_off_while_it_comes_in_leaves_nothing(
    alice: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page tries again and again; what each try left would lock the person out after a hundred."""
    chat = await alice.start("Hello")
    await settled(chat)

    def fail(*_: object) -> None:
        raise OperationalError("no connection is free")

    monkeypatch.setattr(presenting, "live_run_of", fail)
    async with alice.socket(chat) as socket:
        assert (await socket.communicator.receive_output())["code"] == consumers.TRY_AGAIN_LATER

    assert events.count_listeners(alice.user.pk) == 0


async def test_nonsense_from_the_browser_is_ignored(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    async with alice.socket(chat, seen=seen) as socket:
        for nonsense in ("{", "[]", '{"seen": "x"}', '{"seen": null}', '"text"'):
            await socket.communicator.send_to(nonsense)
        await alice.post(f"/chats/{chat.pk}/rename/", title="Still here")

        assert "Still here" in await socket.next()


async def test_strangers_socket_is_refused_like_one_to_a_random_chat(alice: Visitor, charlie: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)

    async with charlie.socket(chat) as foreign, charlie.socket(Chat()) as random:
        assert (foreign.connected, random.connected) == (False, False)


async def test_page_of_a_chat_that_is_deleted_elsewhere_is_told_at_once(alice: Visitor) -> None:
    chats = [await alice.start("Hello"), await alice.start("Hello again")]
    for chat in chats:
        await settled(chat)
    one, two = [(await refreshed(chat)).revision for chat in chats]
    async with alice.socket(chats[0], seen=one) as alone, alice.socket(chats[1], seen=two) as among_many:
        await alice.post(f"/chats/{chats[0].pk}/delete/")
        await alice.post("/chats/many/", how="delete", sure="1", chat=str(chats[1].pk))

        assert await alone.closed() == await among_many.closed() == 4404


async def test_socket_of_a_deleted_chat_is_closed(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    seen = (await refreshed(chat)).revision
    async with alice.socket(chat, seen=seen) as socket:
        await in_database(Chat.objects.all().delete)
        await socket.acknowledge(seen=0, resync=True)

        assert await socket.closed() == 4404


async def test_changes_are_the_same_by_poll_as_by_socket(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    async with alice.socket(chat, seen=1) as socket:
        pushed = await socket.next()

    polled = await alice.client.get(f"/chats/{chat.pk}/changes/?seen=1")

    assert polled.content.decode() == pushed


@pytest.mark.parametrize("seen", ["-1", "abc", "9" * 40, ""])
async def test_nonsense_revision_in_the_address_means_nothing_seen(alice: Visitor, seen: str) -> None:
    chat = await alice.start("Hello")
    await settled(chat)

    polled = await alice.client.get(f"/chats/{chat.pk}/changes/?seen={seen}")

    assert len(articles(polled.content.decode())) == 2


async def test_reasoning_that_had_no_opening_tag_leaves_the_reply_on_every_open_page(alice: Visitor) -> None:
    gate, script = on_hold("Let me think.\n\nTwo and two.\n</think>\n\n", then="Four.")
    alice.endpoint.will(script)
    chat = await alice.start("2+2?")
    await gate.reached()
    async with alice.socket(chat, seen=0) as socket:
        html = await socket.until("data-reasoning-blocks")
        gate.set()
        await settled(chat)

    message = await last_message(chat)
    assert "data-whole" in html
    assert (message.content.strip(), "Two and two." in message.reasoning) == ("Four.", True)


async def test_one_person_opens_no_more_sockets_than_a_hundred_and_is_told_so_by_a_code(
    alice: Visitor, charlie: Visitor, monkeypatch
) -> None:
    monkeypatch.setattr(consumers, "MOST_SOCKETS", 2)
    chat = await alice.start("Hello")
    other = await charlie.start("Hello")
    await settled(chat)
    await settled(other)

    async with alice.socket(chat) as first:
        async with alice.socket(chat), alice.socket(chat) as third, charlie.socket(other) as stranger:
            closed = await third.communicator.receive_output(timeout=10)
            assert await first.next()
            assert await stranger.next()
        async with alice.socket(chat) as later:
            assert await later.next()

    assert closed == {"type": "websocket.close", "code": consumers.TOO_MANY_SOCKETS}
