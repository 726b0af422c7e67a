"""Deleted messages: what goes, what comes back, and that no request, page or summary holds the text any more (J2)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from chatapp.database import in_database
from chatapp.history import chats, deleting
from chatapp.models import Chat, Compaction, Message
from tests.factories import add_messages
from tests.folding import WORDS, long_chat, message_at, pin, press, sent, summarising, summary_calls
from tests.scripted import Signal, hold, reply
from tests.visiting import Visitor, compactions_of, refreshed, settled

CANARY = "the canary sings at Kestrelgate 77"


async def delete(visitor: Visitor, chat: Chat, position: int, **fields: Any) -> int:
    """The status of the answer."""
    message = await message_at(chat, position)
    response = await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/", **fields)
    return response.status_code


async def restore(visitor: Visitor, chat: Chat, position: int) -> int:
    message = await message_at(chat, position)
    return (await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/restore/")).status_code


async def small_chat(visitor: Visitor, *texts: str) -> Chat:
    chat = await long_chat(visitor, turns=0, revision=1)
    await in_database(lambda: add_messages(chat, *texts))
    return chat


async def deleted_positions(chat: Chat) -> list[int]:
    return await in_database(lambda: list(chat.messages.on_path().deleted().values_list("position", flat=True)))


async def make_old(chat: Chat) -> None:
    """As if the hour were over."""
    old = timezone.now() - timedelta(minutes=61)
    await in_database(lambda: chat.messages.deleted().update(deleted_at=old))


async def all_pages(visitor: Visitor, chat: Chat) -> str:
    addresses = ["", "archived/", "earlier/", "changes/?seen=0", "changes/?seen=1", "request/", "compactions/"]
    return "".join([await visitor.page(chat, address) for address in addresses])


async def test_j2_a_user_message_goes_with_its_reply_and_the_next_turn_works(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", CANARY, f"About {CANARY}", "Five", "Six")

    assert await delete(alice, chat, 2) == 200
    await alice.say(chat, "And now?")

    assert await deleted_positions(chat) == [2, 3]
    assert [message["content"] for message in sent(alice)] == ["One", "Two", "Five", "Six", "And now?"]
    assert CANARY not in await all_pages(alice, chat)


async def test_j2_a_reply_goes_alone_and_roles_still_alternate(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", CANARY, "Three", "Four")

    await delete(alice, chat, 1)
    await alice.say(chat, "And now?")

    assert await deleted_positions(chat) == [1]
    assert [message["role"] for message in sent(alice)] == ["user", "assistant", "user"]
    assert sent(alice)[0]["content"] == "One\n\nThree"
    assert CANARY not in await all_pages(alice, chat)


async def test_j2_all_that_follows_goes_as_one_line(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", "Three", CANARY, "Five", CANARY)

    await delete(alice, chat, 2, following="1")

    page = await alice.page(chat)
    assert await deleted_positions(chat) == [2, 3, 4, 5]
    assert page.count("4 messages deleted") == 1
    assert CANARY not in page
    await alice.say(chat, "And now?")
    assert [message["content"] for message in sent(alice)] == ["One", "Two", "And now?"]
    assert (await message_at(chat, 6)).content == "And now?"


async def test_j2_the_first_message_goes_with_everything_and_the_chat_goes_on(alice: Visitor) -> None:
    chat = await small_chat(alice, CANARY, "Two")

    await delete(alice, chat, 0, following="1")
    await alice.say(chat, "And now?")

    assert [message["content"] for message in sent(alice)] == ["And now?"]


async def test_j2_undo_brings_all_of_it_back(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", "Three", "Four", "Five", "Six")
    await delete(alice, chat, 4)
    await delete(alice, chat, 2, following="1")

    assert await restore(alice, chat, 3) == 200
    assert await deleted_positions(chat) == [4, 5]
    await restore(alice, chat, 4)
    await alice.say(chat, "And now?")

    assert [message["content"] for message in sent(alice)] == ["One", "Two", "Three", "Four", "Five", "Six", "And now?"]


async def test_j2_confirmation_says_what_goes_and_get_changes_nothing(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", "Three", "Four")
    first, last = await message_at(chat, 0), await message_at(chat, 3)

    asked = (await alice.client.get(f"/chats/{chat.pk}/messages/{first.pk}/delete/")).content.decode()
    alone = (await alice.client.get(f"/chats/{chat.pk}/messages/{last.pk}/delete/")).content.decode()

    assert "Your message goes with the reply to it." in asked
    assert "Delete it and all that follows" in asked
    assert "The reply goes; your message before it stays." in alone
    assert "all that follows" not in alone
    assert await deleted_positions(chat) == []


async def test_j2_message_of_another_chat_is_not_deleted_from_here(alice: Visitor) -> None:
    chat, other = await small_chat(alice, "One", "Two"), await small_chat(alice, "Three", "Four")
    foreign = await message_at(other, 0)
    address = f"/chats/{chat.pk}/messages/{foreign.pk}/"

    assert (await alice.client.get(f"{address}delete/")).status_code == 404
    assert (await alice.post(f"{address}delete/")).status_code == 409
    await delete(alice, other, 0)
    assert (await alice.post(f"{address}restore/")).status_code == 409

    assert await deleted_positions(chat) == []
    assert await deleted_positions(other) == [0, 1]


async def test_j2_deleting_and_undo_are_refused_while_a_reply_is_written(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", "Three", "Four")
    await delete(alice, chat, 2)
    alice.endpoint.always([*reply("Slowly")[:2], hold(Signal())])
    await alice.send(chat, "And now?")
    message = await message_at(chat, 0)

    refused = await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/")

    assert refused.status_code == 409
    assert "A reply is still being written" in refused.content.decode()
    assert await restore(alice, chat, 2) == 409
    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)
    assert await deleted_positions(chat) == [2, 3]


async def test_j2_deleting_is_refused_while_a_compaction_runs(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", "Three", "Four")
    await in_database(lambda: Compaction.objects.create(chat=chat, trigger=Compaction.Trigger.BUTTON, owner="a:1:b"))

    assert await delete(alice, chat, 0) == 409
    assert await deleted_positions(chat) == []


async def test_j2_after_an_hour_the_text_is_erased_and_undo_is_no_more(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", "Two", CANARY, CANARY)
    await in_database(
        lambda: chat.messages.filter(position=3).update(
            reasoning=CANARY, failure_detail=CANARY, tool_calls=[{"id": "a", "name": CANARY, "arguments": "{}"}]
        )
    )
    await delete(alice, chat, 2)
    assert await in_database(deleting.erase_deleted) == []
    await make_old(chat)
    seen = (await refreshed(chat)).revision

    assert await in_database(deleting.erase_deleted) == [chat.pk]
    assert await in_database(deleting.erase_deleted) == []

    rows = await in_database(lambda: list(chat.messages.filter(position__gte=2).values()))
    assert CANARY not in str(rows)
    changed = await alice.page(chat, f"changes/?seen={seen}")
    assert "2 messages deleted for good." in changed
    assert "restore" not in changed
    assert await restore(alice, chat, 2) == 409


async def test_j2_undo_is_refused_when_the_hour_is_over_even_before_the_text_is_erased(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", CANARY)
    await delete(alice, chat, 1)
    await make_old(chat)
    message = await message_at(chat, 1)

    response = await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/restore/")

    assert response.status_code == 409
    assert "erased for good" in response.content.decode()
    assert "Undo" not in await alice.page(chat)


async def test_j2_other_versions_of_the_reply_go_with_the_message(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", CANARY)
    old = await message_at(chat, 1)
    await alice.post(f"/chats/{chat.pk}/messages/{old.pk}/regenerate/")
    await settled(chat)

    await delete(alice, chat, 0)
    await alice.post(f"/chats/{chat.pk}/messages/{old.pk}/show/")

    assert CANARY not in await all_pages(alice, chat)
    assert await in_database(chat.messages.filter(deleted_at=None).count) == 0


async def test_j2_a_deleted_version_is_left_and_its_arrows_bring_back_no_text(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", CANARY)
    old = await message_at(chat, 1)
    await delete(alice, chat, 1)
    await alice.post(f"/chats/{chat.pk}/messages/{old.pk}/regenerate/")
    await settled(chat)
    assert "2 / 2" in await alice.page(chat)
    fresh = await message_at(chat, 1)
    assert "Its other version stays." in await alice.page(chat, f"messages/{fresh.pk}/delete/")

    await alice.post(f"/chats/{chat.pk}/messages/{old.pk}/show/")
    tombstone = await alice.page(chat)

    assert CANARY not in tombstone
    assert "Deleted" in tombstone
    assert "1 / 2" in tombstone


async def test_j2_a_deleted_message_is_unpinned_and_cannot_be_pinned(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await pin(alice, chat, 2)
    await press(alice, chat)

    await delete(alice, chat, 2)
    await alice.say(chat, "And now?")

    assert "2: Bread" not in str(sent(alice))
    assert not (await message_at(chat, 2)).pinned
    assert await pin(alice, chat, 2) == 409


async def test_j2_a_title_made_of_the_first_message_goes_with_it(alice: Visitor) -> None:
    chat = await small_chat(alice, CANARY, "Two", "Three and more", "Four")
    await in_database(lambda: Chat.objects.filter(pk=chat.pk).update(title=CANARY, titled_by_hand=False))

    await delete(alice, chat, 0)
    without = (await refreshed(chat)).title
    await restore(alice, chat, 0)

    assert without == "Three and more"
    assert (await refreshed(chat)).title == CANARY


async def test_j2_a_title_that_a_person_chose_stays(alice: Visitor) -> None:
    chat = await small_chat(alice, CANARY, "Two")

    await delete(alice, chat, 0)

    assert (await refreshed(chat)).title == "A chat"


async def test_j2_no_title_is_made_of_what_was_deleted(alice: Visitor) -> None:
    chat = await small_chat(alice, "One", CANARY)
    await in_database(lambda: Chat.objects.filter(pk=chat.pk).update(titled_by_hand=False))
    await delete(alice, chat, 1)

    assert not await in_database(chats.wants_title, chat.pk)
    assert not await in_database(lambda: chats.suggest_title(chat_id=chat.pk, title=CANARY))


async def test_j2_no_summary_call_reads_a_deleted_message_nor_its_values(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await in_database(
        lambda: chat.messages.filter(position=2).update(content=f"{CANARY}, ops@kestrel.example. {WORDS}")
    )

    await delete(alice, chat, 2)
    compaction = await press(alice, chat)

    assert compaction.status == "applied"
    assert "estrel" not in str(summary_calls(alice))
    assert "kestrel" not in str(compaction.__dict__)
    assert "1: Bread" in str(summary_calls(alice))


async def test_c2_a_deleted_reply_does_not_hold_up_the_fold(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)

    await delete(alice, chat, 3)

    assert (await press(alice, chat)).status == "applied"


async def test_a2_usage_of_requests_that_held_a_deleted_message_is_not_used(alice: Visitor) -> None:
    alice.endpoint.always(reply("Yes.", usage=(5000, 10)))
    chat = await long_chat(alice, turns=2, window=8000)
    await alice.say(chat, "And now?")
    assert 'data-source="measured"' in await alice.page(chat)

    await delete(alice, chat, 2)
    estimated = await alice.page(chat)
    alice.endpoint.always(reply("Yes.", usage=(600, 10)))
    await alice.say(chat, "Go on")

    assert 'data-source="estimated"' in estimated
    assert "5,0" not in estimated
    assert 'data-source="measured"' in await alice.page(chat)


async def test_a2_usage_recorded_after_the_fold_holds_when_an_archived_message_goes(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await press(alice, chat)
    alice.endpoint.always(reply("Yes.", usage=(900, 10)))
    await alice.say(chat, "And now?")

    await delete(alice, chat, 2)

    assert 'data-source="measured"' in await alice.page(chat)


async def test_a2_a_summary_by_hand_and_an_archived_pin_outdate_the_usage(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    compaction = await press(alice, chat)
    alice.endpoint.always(reply("Yes.", usage=(900, 10)))

    await alice.say(chat, "And now?")
    await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/edit/", text="They spoke of rye.")
    edited = await alice.page(chat)
    await alice.say(chat, "And now?")
    again = await alice.page(chat)
    await pin(alice, chat, 1)

    assert 'data-source="estimated"' in edited
    assert 'data-source="measured"' in again
    assert 'data-source="estimated"' in await alice.page(chat)


async def test_d5_a_summary_by_hand_leaves_what_is_new_new(alice: Visitor) -> None:
    alice.endpoint.always(summarising(answer=WORDS))
    chat = await long_chat(alice)
    compaction = await press(alice, chat)
    for _ in range(4):
        await alice.say(chat, WORDS)

    await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/edit/", text="They spoke of rye.")

    assert (await press(alice, chat)).status == "applied"
    assert len(await compactions_of(chat)) == 2


async def test_j2_deleting_an_archived_message_reaches_a_page_that_shows_it(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    await press(alice, chat)
    seen = (await refreshed(chat)).revision
    message = await message_at(chat, 2)

    response = await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/", seen=seen)

    changed = response.content.decode()
    assert 'hx-swap-oob="outerHTML:#m-2"' in changed
    assert 'hx-swap-oob="outerHTML:#m-3"' in changed
    assert f"{message.pk}/restore/" in changed


async def test_j2_every_deleted_message_leaves_the_page_however_many(alice: Visitor) -> None:
    chat = await small_chat(alice, *[f"message {number}" for number in range(120)])
    seen = (await refreshed(chat)).revision
    message: Message = await message_at(chat, 10)

    response = await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/", seen=seen, following="1")

    assert response.content.decode().count('data-status="deleted"') == 110
