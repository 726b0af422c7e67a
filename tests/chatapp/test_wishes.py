"""What a person wishes: instructions, a place to fold, pins, a summary by hand, a fresh start, a policy."""

from chatapp.database import in_database
from chatapp.models import Chat, Compaction, LanguageModel
from tests.factories import add_messages
from tests.folding import (
    SUMMARY,
    WORDS,
    long_chat,
    message_at,
    pin,
    press,
    sent,
    summarising,
    summary_calls,
)
from tests.visiting import Visitor, articles, compactions_of, refreshed

TOO_SHORT = "Bread."
VALUES = "Please book room 4711-B at ops@anvil.example for 48,250 EUR, and mind /etc/anvil/anvil.toml."


async def test_b6_instructions_reach_the_summariser(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)

    await press(alice, chat, instructions="Keep everything about the budget")

    assert "Keep everything about the budget" in str(summary_calls(alice)[0]["messages"])
    assert "Keep everything about the budget" in (await alice.page(chat, "compactions/"))


async def test_b6_up_to_here_folds_that_message_and_none_after_it(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    here = await message_at(chat, 5)

    compaction = await press(alice, chat, up_to=here.pk)
    await alice.say(chat, "And now?")

    assert (compaction.status, compaction.through_position) == ("applied", 5)
    assert sent(alice)[1]["content"].startswith("6: ")


async def test_b6_up_to_an_archived_message_is_refused_with_a_sentence(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    await press(alice, chat)
    archived = await message_at(chat, 1)
    more = [f"later {number}: {WORDS}" for number in range(4)]
    through = (await refreshed(chat)).compacted_through_id
    await in_database(lambda: add_messages(chat, *more, request_through_id=through))

    compaction = await press(alice, chat, up_to=archived.pk)

    assert (compaction.status, compaction.reason) == ("refused", "unknown_message")
    assert "isn’t among those that are sent" in await alice.page(chat)


async def test_k3_retry_wishes_the_same_again(alice: Visitor) -> None:
    alice.endpoint.always(summarising(TOO_SHORT))
    chat = await long_chat(alice)
    here = await message_at(chat, 5)

    await press(alice, chat, up_to=here.pk, instructions="The budget")

    page = await alice.page(chat)
    assert f'<input type="hidden" name="up_to" value="{here.pk}">' in page
    assert '<input type="hidden" name="instructions" value="The budget">' in page


async def test_c6_pinned_message_stays_verbatim_after_a_compaction(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    assert await pin(alice, chat, 2) == 200

    await press(alice, chat)
    await alice.say(chat, "And now?")

    assert [message["content"] for message in sent(alice)].count(f"2: {WORDS}") == 1


async def test_c6_unpinned_message_is_archived_like_any_other(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await pin(alice, chat, 2)
    await press(alice, chat)

    await pin(alice, chat, 2, pinned=False)
    await alice.say(chat, "And now?")

    assert f"2: {WORDS}" not in [message["content"] for message in sent(alice)]


async def test_c6_pinning_beyond_15_percent_is_refused(alice: Visitor) -> None:
    chat = await long_chat(alice, window=1000)

    message = await message_at(chat, 2)
    response = await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/pin/", pinned=1)

    assert response.status_code == 409
    assert "15 % of the window" in response.content.decode()
    assert not (await message_at(chat, 2)).pinned


async def test_c6_pin_is_shown_also_on_an_archived_message_of_an_open_page(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await press(alice, chat)
    seen = (await refreshed(chat)).revision
    archived = await message_at(chat, 2)

    response = await alice.post(f"/chats/{chat.pk}/messages/{archived.pk}/pin/", pinned=1, seen=seen)

    changed = response.content.decode()
    assert [article["message"] for article in articles(changed)] == [str(archived.pk)]
    assert ">Pinned<" in changed


async def test_i4_edit_changes_the_next_request_and_undo_restores_the_one_before(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    compaction = await press(alice, chat)
    edit = f"/chats/{chat.pk}/compactions/{compaction.pk}/edit/"
    assert SUMMARY in (await alice.client.get(edit)).content.decode()

    await alice.post(edit, text="They spoke of rye.", htmx=False)
    await alice.say(chat, "And now?")
    edited = sent(alice)[0]["content"]
    await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/undo/")
    await alice.say(chat, "Go on")

    assert "They spoke of rye." in edited
    assert SUMMARY not in edited
    assert [message["content"][:3] for message in sent(alice)[:2]] == ["0: ", "1: "]


async def test_i4_empty_text_brings_the_models_version_back(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    compaction = await press(alice, chat)
    edit = f"/chats/{chat.pk}/compactions/{compaction.pk}/edit/"
    before = (await refreshed(chat)).summary
    await alice.post(edit, text="They spoke of rye.")
    assert "edited by hand" in await alice.page(chat)

    await alice.post(edit, text="")

    assert (await refreshed(chat)).summary == before
    assert "edited by hand" not in await alice.page(chat)


async def test_i4_text_of_a_refused_edit_stays_in_its_form(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    compaction = await press(alice, chat)
    await in_database(
        lambda: Compaction.objects.create(chat=chat, trigger=Compaction.Trigger.BUTTON, owner="elsewhere:1:x")
    )

    response = await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/edit/", text="My words", htmx=False)

    assert response.status_code == 409
    assert "My words" in response.content.decode()
    assert "being folded already" in response.content.decode()


async def test_i4_every_earlier_compaction_can_be_read(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice)
    first = await press(alice, chat)
    await alice.post(f"/chats/{chat.pk}/compactions/{first.pk}/undo/")
    alice.endpoint.always(
        summarising("Later they came to speak of rye, and of the winter that it wants to be sown in.")
    )
    await press(alice, chat)

    page = await alice.page(chat, "compactions/")

    assert SUMMARY in page
    assert "Later they came to speak of rye" in page
    assert "Later undone." in page


async def start_fresh(visitor: Visitor, chat: Chat, position: int) -> int:
    message = await message_at(chat, position)
    response = await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/fresh/")
    return response.status_code


async def test_j5_start_fresh_sends_nothing_before_it_and_the_page_keeps_it(alice: Visitor) -> None:
    chat = await long_chat(alice)

    assert await start_fresh(alice, chat, 4) == 200
    await alice.say(chat, "And now?")

    assert [message["content"][:3] for message in sent(alice)[:2]] == ["4: ", "5: "]
    page = await alice.page(chat)
    assert "are no longer sent" in page
    assert "Read summary" not in page
    assert len(articles(await alice.page(chat, "archived/?before=4"))) >= 4


async def test_j5_pinned_message_before_a_fresh_start_is_still_sent_and_not_counted(alice: Visitor) -> None:
    chat = await long_chat(alice, window=8000)
    await pin(alice, chat, 2)

    await start_fresh(alice, chat, 4)
    await alice.say(chat, "And now?")

    assert f"2: {WORDS}" in [message["content"] for message in sent(alice)]
    assert "<strong>3 earlier messages</strong> are no longer sent" in await alice.page(chat)


async def test_j5_undo_restores_the_request_byte_for_byte(alice: Visitor) -> None:
    chat = await long_chat(alice, system_prompt="Be kind.")
    before = await alice.page(chat, "request/")
    await start_fresh(alice, chat, 4)
    assert await alice.page(chat, "request/") != before
    fresh = (await compactions_of(chat))[0]

    await alice.post(f"/chats/{chat.pk}/compactions/{fresh.pk}/undo/")
    await alice.say(chat, "And now?")

    contents = [message["content"] for message in sent(alice)]
    assert contents == ["Be kind.", *[f"{number}: {WORDS}" for number in range(12)], "And now?"]


async def test_j5_start_fresh_at_the_beginning_or_on_a_reply_is_refused_with_a_sentence(alice: Visitor) -> None:
    chat = await long_chat(alice)

    assert await start_fresh(alice, chat, 0) == 409
    assert await start_fresh(alice, chat, 3) == 409
    assert not (await refreshed(chat)).is_compacted


async def test_j5_a_fresh_start_has_no_summary_to_edit(alice: Visitor) -> None:
    chat = await long_chat(alice)
    await start_fresh(alice, chat, 4)
    fresh = (await compactions_of(chat))[0]

    response = await alice.client.get(f"/chats/{chat.pk}/compactions/{fresh.pk}/edit/")

    assert response.status_code == 404


async def choose(visitor: Visitor, chat: Chat, policy: str) -> int:
    response = await visitor.post(f"/chats/{chat.pk}/policy/", policy=policy)
    return response.status_code


async def test_j4_policy_window_sends_the_newest_turns_that_fit_and_shows_no_divider(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, turns=10, window=2600)
    await choose(alice, chat, "window")

    answer = await alice.say(chat, "And now?")

    contents = [message["content"] for message in sent(alice)]
    assert f"19: {WORDS}" in contents
    assert f"0: {WORDS}" not in contents
    assert contents[-1] == "And now?"
    assert len(answer.left_out) == 20 - (len(contents) - 1)
    page = await alice.page(chat)
    assert "data-divider" not in page
    assert f"{len(answer.left_out)} earlier messages were left out of this request" in page
    assert await compactions_of(chat) == []


async def test_j4_policy_everything_never_compacts_by_itself(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=2500)
    await choose(alice, chat, "everything")

    await alice.say(chat, "Go on")

    assert len(sent(alice)) == 13
    assert await compactions_of(chat) == []
    assert "never folds by itself" in await alice.page(chat)


async def test_b6_button_works_in_every_policy(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=8000)
    await choose(alice, chat, "everything")

    assert (await press(alice, chat)).status == "applied"


async def test_j4_unknown_policy_is_refused(alice: Visitor) -> None:
    chat = await long_chat(alice)

    assert await choose(alice, chat, "both") == 422
    assert (await refreshed(chat)).policy == "compact"


async def test_d4_rests_after_three_failures_and_the_button_works(alice: Visitor) -> None:
    alice.endpoint.always(summarising(TOO_SHORT))
    chat = await long_chat(alice, window=2500)
    for _ in range(3):
        assert (await press(alice, chat)).status == "failed"
    assert "rests after three failures" in await alice.page(chat)
    calls = len(summary_calls(alice))

    await alice.say(chat, "Go on")
    tried = len(summary_calls(alice)) - calls
    alice.endpoint.always(summarising())
    pressed = await press(alice, chat)

    assert tried == 0
    assert pressed.status == "applied"
    assert "rests after three failures" not in await alice.page(chat)


async def test_d4_another_model_ends_the_rest(alice: Visitor) -> None:
    alice.endpoint.always(summarising(TOO_SHORT))
    chat = await long_chat(alice, window=2500)
    for _ in range(3):
        await press(alice, chat)
    alice.endpoint.always(summarising())
    endpoint_id = (await in_database(LanguageModel.objects.get)).endpoint_id
    other = await in_database(
        lambda: LanguageModel.objects.create(endpoint_id=endpoint_id, name="other", window_reported=2500)
    )

    await alice.post(f"/chats/{chat.pk}/model/", model=other.pk)
    assert "rests after three failures" not in await alice.page(chat)
    await alice.say(chat, "Go on")

    assert (await compactions_of(chat))[-1].status == "applied"


async def test_d3_refused_once_is_not_tried_again_until_grown(alice: Visitor) -> None:
    """Over the trigger by a system prompt of 1,600 tokens, which can't be folded away: hopeless at first."""
    alice.endpoint.always(summarising(answer="Yes."))
    chat = await long_chat(alice, turns=2, window=4000, system_prompt="Remember this. " * 420)
    await in_database(lambda: LanguageModel.objects.update(threshold_percent=50))
    await alice.say(chat, "One")
    refused = [(each.trigger, each.status) for each in await compactions_of(chat)]

    await alice.say(chat, "Two")
    again = len(await compactions_of(chat))
    await alice.say(chat, WORDS * 2)

    assert refused == [("send", "refused")]
    assert again == 1
    assert len(await compactions_of(chat)) > 1


async def test_h2_lost_values_are_put_under_the_summary(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await chat_with_values(alice)

    await press(alice, chat)
    await alice.say(chat, "And now?")

    record = sent(alice)[0]["content"]
    assert "Exact values:" in record
    for value in ("ops@anvil.example", "48,250 EUR", "/etc/anvil/anvil.toml"):
        assert value in record


async def test_h3_what_became_of_the_values_is_shown(alice: Visitor) -> None:
    alice.endpoint.always(summarising(f"{SUMMARY} They mind /etc/anvil/anvil.toml."))
    chat = await chat_with_values(alice)

    compaction = await press(alice, chat)

    found, kept, added = compaction.values_found, compaction.values_kept, compaction.values_added
    assert kept >= 1
    assert added >= 2
    page = await alice.page(chat)
    assert f"{found} of {found} values kept ({added} added by Foldline)" in page
    assert "<code>ops@anvil.example</code>" in page


async def test_h3_values_beyond_the_cap_are_listed(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    talk = [f"Box {n} goes to person{n}@anvil.example under INV-20{n:03}." for n in range(40)]
    chat = await long_chat(alice, window=4000)
    await in_database(lambda: add_messages(chat, " ".join(talk), WORDS, WORDS, WORDS))

    compaction = await press(alice, chat, up_to=(await message_at(chat, 13)).pk)

    left_out = compaction.values_left_out
    assert left_out
    page = await alice.page(chat)
    assert f"{len(left_out)} left out" in page
    assert f"<code>{left_out[0]['value']}</code>" in page


async def chat_with_values(visitor: Visitor) -> Chat:
    chat = await long_chat(visitor, turns=1, window=8000)
    await in_database(lambda: add_messages(chat, VALUES, WORDS, *[WORDS] * 8))
    return chat
