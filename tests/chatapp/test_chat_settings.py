"""The settings of a chat: what is sent with every reply, and what follows from a change."""

from __future__ import annotations

from typing import Any

import pytest

from chatapp.database import in_database
from chatapp.history import loading, metering
from chatapp.models import Chat, LanguageModel, SiteSettings
from compaction.tokens import estimate_text
from tests.factories import make_chat
from tests.folding import SUMMARY, WORDS, long_chat, press, sent
from tests.scripted import Signal, done, finish, head, hold, reply, text
from tests.visiting import Visitor, last_message, refreshed, settled

EMPTY = {
    "system_prompt": "",
    "temperature": "",
    "top_p": "",
    "max_tokens": "",
    "stop": "",
    "seed": "",
    "reasoning_effort": "none",
    "policy": "compact",
}
TYPED = {
    "temperature": "0.7",
    "top_p": "0.9",
    "max_tokens": "500",
    "stop": "User:\r\n\\n\\n",
    "seed": "-7",
    "reasoning_effort": "low",
}
STORED = {
    "temperature": 0.7,
    "top_p": 0.9,
    "max_tokens": 500,
    "stop": ["User:", "\n\n"],
    "seed": -7,
    "reasoning_effort": "low",
}


async def save(visitor: Visitor, chat: Chat, *, htmx: bool = True, **fields: Any) -> Any:
    return await visitor.post(f"/chats/{chat.pk}/settings/", htmx=htmx, **(EMPTY | fields))


async def shown_meter(chat: Chat) -> Any:
    def read() -> Any:
        site = SiteSettings.get_solo()
        fresh = Chat.objects.select_related("compacted_through").get(pk=chat.pk)
        return metering.load_meter(fresh, site, loading.model_of(fresh, site))

    return await in_database(read)


async def test_g3_parameters_are_sent_with_every_reply_and_stored_with_it(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)

    answer = await save(alice, chat, **TYPED)
    await alice.say(chat, "And rye?")

    assert answer.status_code == 200
    assert {name: alice.endpoint.payloads[-1][name] for name in STORED} == STORED
    assert (await last_message(chat)).request_extras == STORED
    await alice.say(chat, "And spelt?")
    assert {name: alice.endpoint.payloads[-1][name] for name in STORED} == STORED


async def test_emptied_settings_are_sent_no_more_and_unknown_ones_stay(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, parameters={**STORED, "chat_template_kwargs": {"enable_thinking": False}})

    await save(alice, chat)

    assert (await refreshed(chat)).parameters == {"chat_template_kwargs": {"enable_thinking": False}}


async def test_settings_that_stay_are_shown_as_they_were_saved_and_saved_as_they_are_shown(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)
    await save(alice, chat, system_prompt="Be kind.", policy="window", **TYPED)
    before = await refreshed(chat)

    html = await alice.page(chat, "settings/")
    await save(alice, chat, system_prompt="Be kind.", policy="window", **TYPED)

    for shown in ('value="0.7"', 'value="0.9"', 'value="500"', 'value="-7"', "\nUser:\n\\n\\n</textarea>"):
        assert shown in html
    assert '<option value="low" selected>' in html
    assert '<option value="window" selected>' in html
    assert (await refreshed(chat)).revision == before.revision  # nothing was changed, so no page is told so


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", "2.1"),
        ("temperature", "-0.1"),
        ("temperature", "nan"),
        ("temperature", "1e999"),
        ("temperature", "0,7"),
        ("top_p", "1.01"),
        ("max_tokens", "0"),
        ("max_tokens", "8001"),
        ("max_tokens", "12.5"),
        ("stop", "a\r\nb\r\nc\r\nd\r\ne"),
        ("seed", "1.5"),
        ("seed", str(2**63)),
        ("reasoning_effort", "enormous"),
        ("policy", "shred"),
        ("system_prompt", WORDS * 60),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
async def test_bad_value_is_told_at_its_field_and_nothing_is_saved(
    alice: Visitor, field: str, value: str, *, htmx: bool
) -> None:
    chat = await long_chat(alice, turns=1, window=8_000)

    answer = await save(alice, chat, htmx=htmx, **{"seed": "3", field: value})
    html = answer.content.decode()

    assert answer.status_code == 422
    assert f'id="id_{field}_error"' in html
    assert value in html or field in {"reasoning_effort", "policy"}
    now = await refreshed(chat)
    assert (now.parameters, now.system_prompt, now.policy, now.revision) == ({}, "", "compact", chat.revision)


async def test_longest_values_are_taken(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, window=8_000)

    await save(alice, chat, temperature="2", top_p="0", max_tokens="8000", stop="a\nb\nc\nd", seed=str(2**63 - 1))

    assert (await refreshed(chat)).parameters == {
        "temperature": 2.0,
        "top_p": 0.0,
        "max_tokens": 8000,
        "stop": ["a", "b", "c", "d"],
        "seed": 2**63 - 1,
    }


@pytest.mark.parametrize(
    "prompt", ["Be kind.\n\n", "  Two\n lines \n", "\n\nBegin with blanks.", "<b>&amp;</b></textarea>"]
)
async def test_g1_system_prompt_is_sent_byte_for_byte(alice: Visitor, prompt: str) -> None:
    chat = await long_chat(alice, turns=1)

    await save(alice, chat, system_prompt=prompt.replace("\n", "\r\n"))  # as browsers send a box
    await alice.say(chat, "And rye?")

    assert (await refreshed(chat)).system_prompt == prompt
    assert sent(alice)[0] == {"role": "system", "content": prompt}


async def test_g1_system_prompt_with_other_line_ends_stays_byte_for_byte_while_it_is_not_edited(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, system_prompt="Be kind.\r\nBe brief.\r\n")

    await save(alice, chat, system_prompt="Be kind.\r\nBe brief.\r\n", temperature="1")
    unedited = await refreshed(chat)
    await save(alice, chat, system_prompt="Be kind.\r\nBe briefer.\r\n", temperature="1")

    assert unedited.system_prompt == "Be kind.\r\nBe brief.\r\n"
    assert (await refreshed(chat)).system_prompt == "Be kind.\nBe briefer.\n"


async def test_a2_meter_counts_a_longer_system_prompt_at_once(alice: Visitor) -> None:
    alice.endpoint.always(reply("Because.", usage=(500, 5)))
    chat = await long_chat(alice, turns=1, window=200_000)
    await alice.say(chat, "Why?")
    before = await shown_meter(chat)

    await save(alice, chat, system_prompt=WORDS * 20)
    after = await shown_meter(chat)

    assert before.measured
    assert not after.measured
    assert after.used >= estimate_text(WORDS * 20)
    assert after.system >= estimate_text(WORDS * 20)
    alice.endpoint.always(reply("Because.", usage=(5000, 5)))
    await alice.say(chat, "Why not?")
    assert (await shown_meter(chat)).used == 5005


async def test_a2_other_settings_leave_recorded_usage_alone(alice: Visitor) -> None:
    alice.endpoint.always(reply("Because.", usage=(500, 5)))
    chat = await long_chat(alice, turns=1, window=200_000)
    await alice.say(chat, "Why?")

    await save(alice, chat, temperature="1")

    assert (await shown_meter(chat)).used == 505


async def test_a2_reply_begun_before_the_change_does_not_tell_the_size_after_it(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.will([head(), text("Because"), hold(gate), *reply(" so.", usage=(500, 5))[2:]])
    chat = await long_chat(alice, turns=1, window=200_000)
    await alice.send(chat, "Why?")
    await gate.reached()

    answer = await save(alice, chat, system_prompt=WORDS * 20, temperature="1")
    page = await alice.page(chat, "settings/")
    gate.set()
    await settled(chat)

    assert answer.status_code == 200
    assert "acts from the next message on" in page
    assert sent(alice)[0]["role"] == "user"
    assert (await last_message(chat)).content == "Because so."
    assert (await shown_meter(chat)).used >= estimate_text(WORDS * 20)
    await alice.say(chat, "Why not?")
    assert sent(alice)[0]["content"] == WORDS * 20


async def test_a2_change_while_a_reply_goes_on_in_vain_outdates_what_it_goes_back_to(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.will([head(), hold(gate), finish("stop"), done()])
    chat = await long_chat(alice, turns=1, window=200_000)
    reply_row = await last_message(chat)
    cut = {"status": "stopped", "prompt_tokens": 500, "completion_tokens": 5, "model_name": "scripted"}
    await in_database(chat.messages.filter(pk=reply_row.pk).update, **cut)
    await alice.post(f"/chats/{chat.pk}/messages/{reply_row.pk}/continue/")
    await gate.reached()

    await save(alice, chat, system_prompt=WORDS * 20)
    gate.set()
    await settled(chat)

    assert (await last_message(chat)).prompt_tokens == 500
    assert (await shown_meter(chat)).used >= estimate_text(WORDS * 20)


async def test_i6_every_other_tab_shows_the_new_meter(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, window=200_000)
    async with alice.socket(chat, seen=chat.revision) as tab:
        await save(alice, chat, system_prompt=WORDS * 20)
        shown = (await shown_meter(chat)).used
        assert f'data-used="{shown}"' in await tab.until('id="meter"')


async def test_other_fields_of_the_post_are_ignored(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)

    await save(alice, chat, summary="x", title="y", owner="1", parameters='{"n": 3}', model="2", n="3", tools="[]")

    now = await refreshed(chat)
    assert (now.summary, now.title, now.owner_id, now.parameters) == ("", chat.title, chat.owner_id, {})


async def test_only_what_the_post_holds_is_changed(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, system_prompt="Be kind.", policy="window", parameters=STORED)

    await alice.post(f"/chats/{chat.pk}/settings/", seed="8")

    now = await refreshed(chat)
    assert (now.system_prompt, now.policy) == ("Be kind.", "window")
    assert now.parameters == {**STORED, "seed": 8}


async def test_looking_changes_nothing(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)

    await alice.client.get(f"/chats/{chat.pk}/settings/", {"temperature": "1", "system_prompt": "x"})

    now = await refreshed(chat)
    assert (now.revision, now.parameters, now.system_prompt) == (chat.revision, {}, "")


@pytest.mark.parametrize("parameters", [{"stop": 5}, {"stop": {"a": 1}}, {"seed": []}, {"reasoning_effort": {"a": 1}}])
async def test_a_chat_from_a_file_with_odd_parameters_has_settings_too(
    alice: Visitor, parameters: dict[str, Any]
) -> None:
    chat = await long_chat(alice, turns=1, parameters=parameters)
    assert "Settings of this chat" in await alice.page(chat, "settings/")


async def test_effort_from_a_file_is_kept_until_another_is_chosen(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1, parameters={"reasoning_effort": "minimal"})

    assert '<option value="minimal" selected>' in await alice.page(chat, "settings/")
    await save(alice, chat, reasoning_effort="minimal")
    kept = await refreshed(chat)
    await save(alice, chat)

    assert kept.parameters == {"reasoning_effort": "minimal"}
    assert (await refreshed(chat)).parameters == {}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"window_reported": 8_000}, "8,000 tokens, as the endpoint says"),
        ({"window_reported": 8_000, "window_set": 4_000}, "4,000 tokens, as whoever runs this Foldline set it"),
        ({"window_learned": 2_600}, "2,600 tokens, learned from an error of the endpoint"),
        ({}, "is unknown"),
        ({"threshold_percent": 60}, "60 %, set for this model"),
        ({"threshold_percent": 0}, "nothing is folded by itself"),
    ],
)
async def test_a1_limits_are_told_with_where_they_are_from(alice: Visitor, facts: dict[str, int], words: str) -> None:
    chat = await long_chat(alice, turns=1)
    await in_database(LanguageModel.objects.update, **facts)

    html = await alice.page(chat, "settings/")

    assert words in html
    assert "/admin/" not in html


async def test_settings_without_any_model_say_so(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)
    await in_database(LanguageModel.objects.update, enabled=False)

    assert "No model is connected, so no window is known." in await alice.page(chat, "settings/")
    await save(alice, chat, max_tokens="9000000")
    assert (await refreshed(chat)).parameters == {"max_tokens": 9_000_000}


async def test_summaries_take_no_stops_and_no_greatest_length(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000)
    await save(alice, chat, **TYPED)

    alice.endpoint.always(reply(SUMMARY))
    await press(alice, chat)

    asked = alice.endpoint.payloads[-1]
    assert "stop" not in asked
    assert asked["max_tokens"] != 500


async def test_staff_find_the_model_from_here(alice: Visitor) -> None:
    chat = await long_chat(alice, turns=1)
    alice.user.is_staff = True
    await in_database(alice.user.save)

    model = await in_database(LanguageModel.objects.get)
    assert f"/admin/chatapp/languagemodel/{model.pk}/change/" in await alice.page(chat, "settings/")


# --- a new chat ---


async def test_new_chat_begins_with_its_settings(alice: Visitor) -> None:
    chat = await alice.start("Hello", system_prompt="Be kind.\r\n", policy="everything", **TYPED)
    await settled(chat)

    now = await refreshed(chat)
    assert (now.system_prompt, now.policy, now.parameters) == ("Be kind.\n", "everything", STORED)
    first = alice.endpoint.payloads[0]
    assert first["messages"] == [
        {"role": "system", "content": "Be kind.\n"},
        {"role": "user", "content": "Hello"},
    ]
    assert {name: first[name] for name in STORED} == STORED


async def test_titles_take_none_of_the_settings(alice: Visitor) -> None:
    chat = await alice.start("Hello", **TYPED)
    await settled(chat)

    title = alice.endpoint.payloads[-1]
    assert len(alice.endpoint.payloads) == 2
    assert not {"stop", "seed", "top_p", "reasoning_effort"} & title.keys()
    assert title["max_tokens"] != 500


async def test_empty_system_prompt_of_a_new_chat_is_the_administrators(alice: Visitor) -> None:
    await in_database(SiteSettings.objects.update_or_create, pk=1, defaults={"system_prompt": "Be <brief>."})

    home = await alice.client.get("/")
    chat = await alice.start("Hello", **EMPTY)
    await settled(chat)

    assert "Be &lt;brief&gt;." in home.content.decode()
    assert (await refreshed(chat)).system_prompt == "Be <brief>."
    assert (await refreshed(chat)).parameters == {}


@pytest.mark.parametrize("htmx", [True, False])
async def test_new_chat_with_a_bad_setting_is_refused_and_all_that_was_typed_stays(
    alice: Visitor, *, htmx: bool
) -> None:
    answer = await alice.post("/chats/", htmx=htmx, text="Hello there", system_prompt="Be kind.", temperature="9")
    html = answer.content.decode()

    assert answer.status_code == 422
    assert "“Settings” says which" in html
    assert 'id="id_temperature_error"' in html
    assert 'value="9"' in html
    assert "Be kind.</textarea>" in html
    assert htmx or "Hello there</textarea>" in html
    assert not await in_database(Chat.objects.exists)


async def test_settings_of_a_new_chat_survive_an_empty_message(alice: Visitor) -> None:
    answer = await alice.post("/chats/", htmx=False, text=" ", system_prompt="Be kind.", seed="4")

    html = answer.content.decode()
    assert "Write something first." in html
    assert "Be kind.</textarea>" in html
    assert 'value="4"' in html


async def test_system_prompt_and_message_of_a_new_chat_have_to_fit_together(alice: Visitor) -> None:
    await in_database(LanguageModel.objects.update, window_reported=500)

    answer = await alice.post("/chats/", text=WORDS * 2, system_prompt=WORDS * 2)

    assert answer.status_code == 422
    assert "more than this model can hold" in answer.content.decode()


async def test_k4_meter_of_a_new_chat_counts_its_system_prompt(alice: Visitor) -> None:
    answer = await alice.post("/meter/", text="", system_prompt=WORDS)
    assert f"<dd>{estimate_text(WORDS) + 4}</dd>" in answer.content.decode()


async def test_message_has_to_fit_beside_the_chats_own_system_prompt(alice: Visitor) -> None:
    chat = await in_database(make_chat, alice.user, system_prompt=WORDS * 2)
    await in_database(LanguageModel.objects.update, window_reported=500)

    answer = await alice.send(chat, WORDS * 2)

    assert answer.status_code == 422
    assert not await in_database(chat.messages.exists)
