"""Records that still speak of a deleted message: marked stale, rebuilt without it, and gone everywhere (J2)."""

from __future__ import annotations

import json
from typing import Any

from chatapp.admin.compactions import totals_of
from chatapp.admin.figures import read_periods
from chatapp.database import in_database
from chatapp.models import Chat, Compaction, Endpoint, SiteSettings
from tests.factories import add_messages, fold
from tests.folding import SUMMARY, WORDS, long_chat, message_at, press, sent, summarising, summary_calls
from tests.scripted import Signal, head, hold, json_error, reply
from tests.visiting import Visitor, compactions_of, refreshed, settled

CANARY = "Kestrelgate 77"
TOLD = f"{SUMMARY} They meet at {CANARY}, and nobody else is to know of it."
ANEW = "The person asked about bread, and learned that patience does more for a dough than anything else could."
LATER = "Later they came to speak of rye, and of the winter that it wants to be sown in, and of the mill."
OFFER = "Rebuild the summary"


async def told_chat(visitor: Visitor, *, at: int = 2, told: str = TOLD, **facts: Any) -> Chat:
    """A folded chat whose record tells what the message at that position says."""
    chat = await long_chat(visitor, **facts)
    await in_database(lambda: chat.messages.filter(position=at).update(content=f"{at}: {CANARY}. {WORDS}"))
    visitor.endpoint.always(summarising(told))
    assert (await press(visitor, chat)).status == "applied"
    return chat


async def fold_more(visitor: Visitor, chat: Chat, summary: Any = LATER) -> Compaction:
    """Another segment behind what is there."""
    through = (await refreshed(chat)).compacted_through_id
    more = [f"more {number}: {WORDS}" for number in range(8)]
    await in_database(lambda: add_messages(chat, *more, request_through_id=through))
    visitor.endpoint.always(summarising(summary))
    compaction = await press(visitor, chat)
    assert compaction.status == "applied", compaction.reason
    return compaction


async def delete(visitor: Visitor, chat: Chat, position: int, **fields: Any) -> None:
    message = await message_at(chat, position)
    response = await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/delete/", **fields)
    assert response.status_code == 200, response.content.decode()


async def restore(visitor: Visitor, chat: Chat, position: int) -> None:
    message = await message_at(chat, position)
    response = await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/restore/")
    assert response.status_code == 200, response.content.decode()


async def rebuild(visitor: Visitor, chat: Chat, summary: Any = ANEW) -> Compaction:
    visitor.endpoint.always(summarising(summary))
    response = await visitor.post(f"/chats/{chat.pk}/rebuild/")
    assert response.status_code == 200, response.content.decode()
    await settled(chat)
    return (await compactions_of(chat))[-1]


async def segment_texts(chat: Chat) -> list[str]:
    rows = await compactions_of(chat)
    return [segment["text"] for segment in rows[-1].segments]


async def everything_stored(chat: Chat) -> str:
    """Every column of every compaction, and the chat's own."""
    rows = await in_database(lambda: [*chat.compactions.values(), *Chat.objects.filter(pk=chat.pk).values()])
    return str(rows)


async def test_j2_deleting_an_archived_message_makes_the_record_stale_and_undo_makes_it_sound(alice: Visitor) -> None:
    chat = await told_chat(alice)
    assert OFFER not in await alice.page(chat)

    await delete(alice, chat, 2)
    stale = await alice.page(chat)
    listed = await alice.page(chat, "compactions/")
    await restore(alice, chat, 2)

    assert "The summary may still speak of a deleted message." in stale
    assert OFFER in stale
    assert "may still speak of a deleted message" in listed
    assert OFFER not in await alice.page(chat)
    assert "may still speak" not in await alice.page(chat, "compactions/")


async def test_j2_deleting_a_live_message_makes_nothing_stale(alice: Visitor) -> None:
    chat = await told_chat(alice)

    await delete(alice, chat, 10)

    assert OFFER not in await alice.page(chat)
    assert (await alice.post(f"/chats/{chat.pk}/rebuild/")).status_code == 409


async def test_j2_a_summary_written_after_the_deletion_is_sound(alice: Visitor) -> None:
    chat = await long_chat(alice)
    await delete(alice, chat, 2)
    alice.endpoint.always(summarising())

    await press(alice, chat)

    assert OFFER not in await alice.page(chat)


async def test_j2_after_rebuilding_the_deleted_text_is_nowhere(alice: Visitor) -> None:
    chat = await told_chat(alice)
    before = await refreshed(chat)
    await delete(alice, chat, 2)
    calls = len(summary_calls(alice))

    rebuilt = await rebuild(alice, chat)
    await alice.say(chat, "And now?")

    assert (rebuilt.status, rebuilt.trigger, rebuilt.model_name) == ("applied", "rebuild", "scripted")
    assert CANARY not in json.dumps(summary_calls(alice)[calls:])
    assert "1: Bread" in json.dumps(summary_calls(alice)[calls:])
    assert CANARY not in json.dumps(sent(alice))
    assert ANEW in sent(alice)[0]["content"]
    assert CANARY not in await everything_stored(chat)
    pages = ["", "archived/", "request/", "compactions/", "changes/?seen=1", f"compactions/{rebuilt.pk}/edit/"]
    assert CANARY not in "".join([await alice.page(chat, page) for page in pages])
    assert (await refreshed(chat)).compacted_through_id == before.compacted_through_id
    assert OFFER not in await alice.page(chat)


async def test_i5_a_rebuilt_record_counts_once_and_its_usage_is_in_the_ledger(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 2)

    rebuilt = await rebuild(alice, chat)

    assert [row.status for row in await compactions_of(chat)] == ["undone", "applied"]
    assert rebuilt.calls == 1
    assert rebuilt.prompt_tokens > 0
    assert rebuilt.through_position == (await refreshed(chat)).compacted_through.position


async def test_i5_what_a_fold_saved_goes_on_counting_while_a_rebuilt_record_stands_for_it(alice: Visitor) -> None:
    chat = await told_chat(alice)
    folded = (await compactions_of(chat))[0]
    saved = folded.tokens_before - folded.tokens_after

    for position in (2, 4):
        await delete(alice, chat, position)
        rebuilt = await rebuild(alice, chat)
        total = (await in_database(read_periods))[2].total
        assert (total.applied, total.saved) == (1, saved)
        assert (await in_database(lambda: totals_of(Compaction.objects.all())))["saved"] == saved
    spent = sum(row.prompt_tokens + row.completion_tokens for row in await compactions_of(chat))
    assert total.spent == spent

    await alice.post(f"/chats/{chat.pk}/compactions/{rebuilt.pk}/undo/")

    assert (await in_database(read_periods))[2].total.saved == 0


async def test_j2_undo_of_a_rebuild_never_brings_the_text_back(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 2)
    rebuilt = await rebuild(alice, chat)

    response = await alice.post(f"/chats/{chat.pk}/compactions/{rebuilt.pk}/undo/")
    await alice.say(chat, "And now?")

    assert response.status_code == 200
    assert not (await refreshed(chat)).is_compacted
    assert CANARY not in json.dumps(sent(alice))
    assert "0: Bread" in json.dumps(sent(alice))


async def test_j2_undo_of_a_rebuild_goes_to_an_earlier_record_without_stale_text(alice: Visitor) -> None:
    chat = await long_chat(alice)
    alice.endpoint.always(summarising())
    first = await press(alice, chat)
    second = await fold_more(alice, chat, TOLD)
    await delete(alice, chat, second.from_position)
    rebuilt = await rebuild(alice, chat)

    await alice.post(f"/chats/{chat.pk}/compactions/{rebuilt.pk}/undo/")

    assert [row.status for row in await compactions_of(chat)] == ["applied", "undone", "undone"]
    assert (await refreshed(chat)).summary == first.summary
    assert CANARY in TOLD
    assert "nobody else is to know" not in (await compactions_of(chat))[1].summary


async def test_j2_only_stale_segments_are_written_anew(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await fold_more(alice, chat)
    first, second = await segment_texts(chat)
    await delete(alice, chat, 2)
    calls = len(summary_calls(alice))

    await rebuild(alice, chat)

    texts = await segment_texts(chat)
    assert first.startswith(TOLD)
    assert texts[0].startswith(ANEW)
    assert texts[1] == second
    assert len(summary_calls(alice)) == calls + 1
    assert "more 0" not in json.dumps(summary_calls(alice)[calls:])
    assert [row.status for row in await compactions_of(chat)] == ["undone", "undone", "applied"]


async def test_j2_a_stale_segment_behind_a_sound_one_is_written_with_the_sound_one_shown(alice: Visitor) -> None:
    chat = await long_chat(alice)
    alice.endpoint.always(summarising())
    await press(alice, chat)
    second = await fold_more(alice, chat, TOLD)
    first_text, _ = await segment_texts(chat)
    await delete(alice, chat, second.from_position)

    await rebuild(alice, chat)

    asked = json.dumps(summary_calls(alice)[-1])
    assert SUMMARY in asked
    assert CANARY not in asked
    assert (await segment_texts(chat))[0] == first_text


async def test_j2_no_later_summary_call_is_shown_a_stale_segment(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 2)
    calls = len(summary_calls(alice))

    await fold_more(alice, chat)

    assert CANARY not in json.dumps(summary_calls(alice)[calls:])
    assert CANARY in (await segment_texts(chat))[0]
    assert OFFER in await alice.page(chat)


async def test_j2_a_stale_record_is_not_continued_from_the_cached_request(alice: Visitor) -> None:
    chat = await told_chat(alice, window=8000)
    await in_database(lambda: Endpoint.objects.update(is_local=True))
    await in_database(lambda: SiteSettings.objects.update_or_create(defaults={"warms_prompt": False}))
    alice.endpoint.always(reply("An answer.", usage=(900, 3, 800)))
    await alice.say(chat, "And now?")
    await delete(alice, chat, 2)

    compaction = await fold_more(alice, chat)

    assert compaction.mode == "transcript"
    assert CANARY not in json.dumps(summary_calls(alice)[-1])


async def test_j2_a_stale_segment_is_not_merged_into_a_fresh_one(alice: Visitor) -> None:
    matters = " ".join(f"The {number}th matter was settled among them." for number in range(24))
    chat = await told_chat(alice, told=f"{TOLD} {matters}", window=4000)
    await delete(alice, chat, 2)

    await fold_more(alice, chat, lambda payload: reply(LATER if "part 1 of 2" in str(payload) else matters))

    assert [segment["rank"] for segment in (await compactions_of(chat))[-1].segments] == [0, 0]
    assert OFFER in await alice.page(chat)


async def test_j2_a_segment_of_which_all_was_deleted_goes_without_a_call(alice: Visitor) -> None:
    chat = await told_chat(alice, at=0)
    await fold_more(alice, chat)
    _, second = await segment_texts(chat)
    first = (await compactions_of(chat))[0]
    for position in range(0, first.through_position, 2):
        await delete(alice, chat, position)
    calls = len(summary_calls(alice))

    rebuilt = await rebuild(alice, chat)

    assert rebuilt.status == "applied"
    assert await segment_texts(chat) == [second]
    assert len(summary_calls(alice)) == calls


async def test_j2_where_all_was_deleted_no_summary_is_left_and_the_chat_goes_on(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 0, following="1")

    rebuilt = await rebuild(alice, chat)
    await alice.say(chat, "And now?")

    assert (rebuilt.status, rebuilt.mode, rebuilt.calls) == ("applied", "fresh", 0)
    assert [message["content"] for message in sent(alice)] == ["And now?"]
    assert CANARY not in await everything_stored(chat)
    assert "Read summary" not in await alice.page(chat)


async def test_j2_a_failed_rebuild_changes_nothing_and_retry_rebuilds(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 2)
    before = (await refreshed(chat)).record()

    failed = await rebuild(alice, chat, "Bread.")
    page = await alice.page(chat)

    assert (failed.status, failed.reason) == ("failed", "too_short")
    assert (await refreshed(chat)).record() == before
    assert "The summary was not rebuilt." in page
    assert f'action="/chats/{chat.pk}/rebuild/"' in page
    assert OFFER in page
    assert (await refreshed(chat)).compaction_memory.get("failures", 0) == 0
    assert (await rebuild(alice, chat)).status == "applied"
    assert "not rebuilt" not in await alice.page(chat)


async def test_j2_an_endpoint_that_refuses_leaves_the_record_as_it_was(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 2)
    before = (await refreshed(chat)).record()

    failed = await rebuild(alice, chat, json_error(401, "no such key"))

    assert (failed.status, failed.reason) == ("failed", "wrong_key")
    assert (await refreshed(chat)).record() == before
    assert (await compactions_of(chat))[0].status == "applied"


async def test_j2_a_running_rebuild_is_shown_and_can_be_cancelled(alice: Visitor) -> None:
    chat = await told_chat(alice)
    await delete(alice, chat, 2)
    gate, arrived = Signal(), len(alice.endpoint.requests) + 1
    alice.endpoint.always(summarising([head(), hold(gate)]))
    await alice.post(f"/chats/{chat.pk}/rebuild/")
    await alice.endpoint.received(arrived)
    running = (await compactions_of(chat))[-1]

    page = await alice.page(chat)
    refused = await alice.post(f"/chats/{chat.pk}/rebuild/")
    message = await message_at(chat, 2)
    no_undo = await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/restore/")
    await alice.post(f"/chats/{chat.pk}/compactions/{running.pk}/cancel/")
    await settled(chat)

    assert "Rebuilding the summary" in page
    assert (refused.status_code, no_undo.status_code) == (409, 409)
    assert (await compactions_of(chat))[-1].status == "cancelled"
    assert "Rebuilding was cancelled; nothing changed." in await alice.page(chat)
    assert OFFER in await alice.page(chat)


async def test_j2_exact_values_of_the_other_messages_are_kept_and_those_of_the_deleted_one_are_not(
    alice: Visitor,
) -> None:
    chat = await long_chat(alice, window=8000)
    await in_database(lambda: chat.messages.filter(position=0).update(content=f"Write to ops@anvil.example. {WORDS}"))
    await in_database(lambda: chat.messages.filter(position=2).update(content=f"Pay 48,250 EUR. {WORDS}"))
    alice.endpoint.always(summarising())
    await press(alice, chat)
    assert "48,250 EUR" in (await refreshed(chat)).summary
    await delete(alice, chat, 2)

    rebuilt = await rebuild(alice, chat)

    assert "ops@anvil.example" in (await refreshed(chat)).summary
    assert "48,250" not in await everything_stored(chat)
    assert rebuilt.values_added >= 1


async def test_i4_what_a_person_wrote_into_a_sound_segment_stays_with_the_models_version(alice: Visitor) -> None:
    chat = await told_chat(alice)
    second = await fold_more(alice, chat)
    await alice.post(f"/chats/{chat.pk}/compactions/{second.pk}/edit/", text="They spoke of rye.")
    await delete(alice, chat, 2)

    rebuilt = await rebuild(alice, chat)

    assert (await segment_texts(chat))[1] == "They spoke of rye."
    assert rebuilt.model_summary.startswith(LATER)


async def test_a2_usage_recorded_with_the_stale_record_is_not_used_after_rebuilding(alice: Visitor) -> None:
    chat = await told_chat(alice, window=8000)
    alice.endpoint.always(reply("Yes.", usage=(900, 10)))
    await alice.say(chat, "And now?")
    await delete(alice, chat, 2)
    assert 'data-source="measured"' in await alice.page(chat)

    await rebuild(alice, chat)

    assert 'data-source="estimated"' in await alice.page(chat)


async def test_j2_records_of_other_paths_lose_the_text_and_those_without_it_stay(alice: Visitor) -> None:
    """Another version of the reply at 5 has a record of its own; both stand on the message that is deleted."""
    chat = await told_chat(alice)
    before = await in_database(lambda: make_sound_record(chat))
    old = await message_at(chat, 5)
    await alice.post(f"/chats/{chat.pk}/messages/{old.pk}/regenerate/")
    await settled(chat)
    await in_database(lambda: add_messages(chat, *[f"elsewhere {number}: {WORDS}" for number in range(8)]))
    alice.endpoint.always(summarising(TOLD))
    other = await press(alice, chat)
    assert (other.status, (await refreshed(chat)).compacted_through_id) == ("applied", other.through_id)
    await delete(alice, chat, 2)

    await rebuild(alice, chat)

    rows = await compactions_of(chat)
    assert [row.status for row in rows] == ["undone", "undone", "undone", "applied"]
    assert CANARY not in await everything_stored(chat)
    assert next(row for row in rows if row.pk == before.pk).summary == SUMMARY


def make_sound_record(chat: Chat) -> Compaction:
    """Of the first turn alone, long since undone."""
    compaction = fold(chat, through=1, summary=SUMMARY)
    told = chat.compactions.order_by("pk").first()
    Compaction.objects.filter(pk=compaction.pk).update(status=Compaction.Status.UNDONE)
    Chat.objects.filter(pk=chat.pk).update(
        summary=told.summary, compacted_through=told.through, compacted_at=told.ended_at
    )
    return compaction
