"""What open pages are told of the list of chats: that it is another, at begin and end of a run, to nobody else."""

from __future__ import annotations

from channels.testing import WebsocketCommunicator

from chatapp.asgi import application
from chatapp.consumers import LIST_IS_ANOTHER
from tests.scripted import head, reply, text
from tests.visiting import Visitor, settled

SECONDS = 10


async def home_of(visitor: Visitor | None) -> WebsocketCommunicator:
    """The socket of a page without a chat."""
    headers = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
    if visitor:
        headers.append((b"cookie", f"sessionid={visitor.client.cookies['sessionid'].value}".encode()))
    return WebsocketCommunicator(application, "/ws/chats/", headers)


async def told(home: WebsocketCommunicator) -> None:
    """Waits until it is said; whatever else comes is a fault."""
    assert await home.receive_from(timeout=SECONDS) == LIST_IS_ANOTHER


async def test_page_elsewhere_hears_of_beginning_and_end_and_of_no_token(alice: Visitor) -> None:
    chat = await alice.start("Hello")
    await settled(chat)
    home = await home_of(alice)
    assert (await home.connect(timeout=SECONDS))[0]
    alice.endpoint.will([head(), *[text(f"word {number} ") for number in range(300)], *reply("End.")[1:]])

    await alice.say(chat, "Tell me much")

    await told(home)
    more = 0
    while not await home.receive_nothing():
        await told(home)
        more += 1
    assert more <= 2, "there were 300 words"
    await home.disconnect()


async def test_commands_are_heard_of_on_all_pages_of_the_person(alice: Visitor) -> None:
    one, two = await alice.start("One"), await alice.start("Two")
    for chat in (one, two):
        await settled(chat)
    home = await home_of(alice)
    await home.connect(timeout=SECONDS)
    async with alice.socket(one):
        await told(home)  # a chat that is shown is read
    async with alice.socket(two) as socket:
        await told(home)
        await socket.told_of_list()
        for address, fields in {
            f"/chats/{one.pk}/pin/": {"pinned": "1"},
            f"/chats/{one.pk}/rename/": {"title": "New name"},
            "/folders/": {"name": "Kitchen"},
            "/chats/many/": {"how": "archive", "chat": str(one.pk)},
            f"/chats/{one.pk}/delete/": {},
        }.items():
            await alice.post(address, **fields)
            await socket.told_of_list()
            await told(home)
        assert await home.receive_nothing(), "once for each command"
    await home.disconnect()


async def test_stranger_hears_nothing(alice: Visitor, charlie: Visitor) -> None:
    homes = [await home_of(visitor) for visitor in (alice, charlie)]
    for home in homes:
        assert (await home.connect(timeout=SECONDS))[0]
    chat = await alice.start("Hello")
    await settled(chat)

    await told(homes[0])
    assert await homes[1].receive_nothing()
    for home in homes:
        await home.disconnect()


async def test_signed_out_visitor_is_turned_away(alice: Visitor) -> None:
    home = await home_of(None)

    assert not (await home.connect(timeout=SECONDS))[0]


async def test_nonsense_from_a_page_without_a_chat_does_no_harm(alice: Visitor) -> None:
    home = await home_of(alice)
    await home.connect(timeout=SECONDS)
    for word in ("{", "{}", '{"seen": 1, "resync": true}', "x" * 1000):
        await home.send_to(word)
    chat = await alice.start("Hello")
    await settled(chat)

    await told(home)
    await home.disconnect()
