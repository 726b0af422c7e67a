"""A change to a model with a smaller window: told first, folded with the change, or nothing changes (rule B8)."""

from typing import Any

import pytest
from django.http import HttpResponse

from chatapp.database import in_database
from chatapp.models import Chat, Compaction, Endpoint, LanguageModel, SiteSettings
from tests.factories import make_model
from tests.folding import SUMMARY, WORDS, is_summary_request, long_chat, summarising, summary_calls
from tests.scripted import Signal, done, finish, head, hold, json_error, reply, text
from tests.visiting import Visitor, compactions_of, refreshed, settled


async def little(visitor: Visitor, *, window: int = 2_048, **facts: Any) -> LanguageModel:
    """Another model at the same endpoint, whose window is smaller than the chat."""
    return await in_database(make_model, "little", base_url=visitor.endpoint.base_url, window=window, **facts)


async def choose(visitor: Visitor, chat: Chat, model: LanguageModel, how: str = "", **options: Any) -> HttpResponse:
    """The answer to the choice; a fold that it begins has ended."""
    response = await visitor.post(f"/chats/{chat.pk}/model/", model=model.pk, how=how, **options)
    await settled(chat)
    return response


async def model_of(chat: Chat) -> str:
    return await in_database(LanguageModel.objects.values_list("name", flat=True).get, chats=chat)


async def last_compaction(chat: Chat) -> Compaction:
    return (await compactions_of(chat))[-1]


async def test_b8_200k_to_32k_is_told_first_then_folded_and_changed_together(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=200_000)
    await in_database(chat.messages.update, content=WORDS * 20)
    model = await little(alice, window=32_000)

    told = await choose(alice, chat, model)
    before = (await model_of(chat), await compactions_of(chat), alice.endpoint.payloads.copy())
    changed = await choose(alice, chat, model, "fold")
    answer = await alice.say(chat, "Go on")

    assert told["HX-Retarget"] == "#changing"
    assert "holds 32,000. Earlier turns will be folded first, by <bdi>scripted</bdi>" in told.content.decode()
    assert before == ("scripted", [], [])
    assert changed.status_code == 200
    compaction = (await compactions_of(chat))[0]
    assert (compaction.trigger, compaction.status, compaction.model_name) == ("model", "applied", "scripted")
    assert compaction.tokens_after < 32_000 * 85 // 100
    assert await model_of(chat) == "little"
    assert (answer.status, answer.model_name) == ("complete", "little")
    assert len(await compactions_of(chat)) == 1


async def test_b8_with_room_it_changes_at_once(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000)
    model = await little(alice, window=32_000)

    response = await choose(alice, chat, model)

    assert "data-changes" in response.content.decode()
    assert f'data-model="{model.pk}"' in response.content.decode()
    assert await model_of(chat) == "little"


@pytest.mark.parametrize(("facts", "window"), [({}, 0), ({"policy": "window"}, 2_048)], ids=["unknown", "bounded"])
async def test_b8_unknown_windows_and_bounded_requests_are_not_held_up(
    alice: Visitor, facts: dict[str, Any], window: int
) -> None:
    chat = await long_chat(alice, window=200_000, **facts)

    await choose(alice, chat, await little(alice, window=window))

    assert await model_of(chat) == "little"


async def test_b8_a_window_that_is_no_smaller_holds_nothing_up(alice: Visitor) -> None:
    chat = await long_chat(alice, window=2_048)

    await choose(alice, chat, await little(alice))

    assert await model_of(chat) == "little"


async def test_b8_without_javascript_it_is_told_on_a_page(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)

    page = (await choose(alice, chat, model, htmx=False)).content.decode()
    response = await choose(alice, chat, model, "fold", htmx=False)

    assert "<h1>Change the model</h1>" in page
    assert "Keep <bdi>scripted</bdi>" in page
    assert response.status_code == 302
    assert await model_of(chat) == "little"


@pytest.mark.parametrize(
    ("summary", "status"),
    [(json_error(400, "No summaries here"), "failed"), (reply("No."), "failed"), (reply(WORDS * 3), "failed")],
    ids=["error", "too short", "copy"],
)
async def test_b8_on_failure_the_choice_stays_and_retry_changes_it(
    alice: Visitor, summary: list[Any], status: str
) -> None:
    alice.endpoint.always(summarising(summary))
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)

    await choose(alice, chat, model, "fold")
    page = await alice.page(chat)
    after_failure = (await model_of(chat), (await last_compaction(chat)).status, (await refreshed(chat)).summary)
    alice.endpoint.always(summarising())
    await choose(alice, chat, model, "fold")

    assert after_failure == ("scripted", status, "")
    assert "The model was not changed to <bdi>little</bdi>" in page
    assert f'name="model" value="{model.pk}"><input type="hidden" name="how" value="fold"' in page
    assert await model_of(chat) == "little"


async def test_b8_a_refused_fold_leaves_the_choice(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000, system_prompt=WORDS * 7)
    model = await little(alice)

    await choose(alice, chat, model, "fold")

    compaction = await last_compaction(chat)
    assert (compaction.status, compaction.reason) == ("refused", "over_trigger")
    assert await model_of(chat) == "scripted"
    assert summary_calls(alice) == []
    assert (await refreshed(chat)).compaction_memory == {}


async def test_b8_cancelled_it_leaves_the_choice(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(summarising([head(), hold(gate), text(SUMMARY), finish(), done()]))
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)
    await alice.post(f"/chats/{chat.pk}/model/", model=model.pk, how="fold")
    await gate.reached()
    running = await alice.page(chat)

    compaction = await last_compaction(chat)
    await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/cancel/")
    await settled(chat)
    gate.set()

    assert "before the change to <bdi>little</bdi>" in running
    assert (await last_compaction(chat)).status == "cancelled"
    assert await model_of(chat) == "scripted"


async def test_b8_a_window_too_small_for_the_last_turn_is_refused(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000)
    model = await little(alice, window=300)

    for how in ("", "fold", "as_it_is"):
        response = await choose(alice, chat, model, how)
        assert response.status_code == 409
        assert "too small even for the last turn" in response.content.decode()

    assert await model_of(chat) == "scripted"


async def test_b8_a_chat_that_never_folds_may_change_without(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000, policy="everything")
    model = await little(alice)

    told = (await choose(alice, chat, model)).content.decode()
    await choose(alice, chat, model, "as_it_is")

    assert "Change without folding" in told
    assert await model_of(chat) == "little"
    assert await compactions_of(chat) == []


async def test_b8_a_chat_that_folds_is_not_changed_without(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000)

    told = (await choose(alice, chat, await little(alice), "as_it_is")).content.decode()

    assert "Fold and change" in told
    assert "Change without folding" not in told
    assert await model_of(chat) == "scripted"


async def test_b8_the_old_model_is_asked_as_a_continuation_of_its_last_request(alice: Visitor) -> None:
    alice.endpoint.always(lambda payload: reply(SUMMARY if is_summary_request(payload) else "An answer."))
    chat = await long_chat(alice, window=200_000)
    await in_database(Endpoint.objects.update, is_local=True)
    await alice.say(chat, "Go on")
    model = await little(alice)

    await choose(alice, chat, model, "fold")

    compaction = await last_compaction(chat)
    assert (compaction.status, compaction.mode) == ("applied", "continuation")
    before, asked = alice.endpoint.payloads[0], summary_calls(alice)[0]
    assert asked["model"] == "scripted"
    assert asked["messages"][: len(before["messages"])] == before["messages"]


async def test_b8_without_a_usable_old_model_the_new_one_summarises_in_chunks(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, turns=12, window=200_000)
    model = await little(alice)
    await in_database(make_model, "third", base_url=alice.endpoint.base_url)
    await in_database(LanguageModel.objects.filter(name="scripted").update, enabled=False)
    await in_database(_make_default, "third")

    told = (await choose(alice, chat, model)).content.decode()
    await choose(alice, chat, model, "fold")

    assert "by <bdi>little</bdi>" in told
    compaction = await last_compaction(chat)
    assert (compaction.status, compaction.model_name) == ("applied", "little")
    assert compaction.chunks_total > 1
    assert {payload["model"] for payload in alice.endpoint.payloads} == {"little"}
    assert await model_of(chat) == "little"


async def test_b8_where_the_old_models_endpoint_fails_the_new_one_summarises(alice: Visitor) -> None:
    def script(payload: dict[str, Any]) -> Any:
        refused = payload["model"] == "scripted"
        return json_error(401, "Key revoked") if refused else reply(SUMMARY)

    alice.endpoint.always(script)
    chat = await long_chat(alice, window=200_000)

    await choose(alice, chat, await little(alice), "fold")

    compaction = await last_compaction(chat)
    assert (compaction.status, compaction.model_name) == ("applied", "little")
    assert await model_of(chat) == "little"


async def test_b8_at_threshold_0_the_window_decides_and_the_fold_comes_under_it(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=200_000)
    model = await little(alice, threshold_percent=0)

    assert "Fold and change" in (await choose(alice, chat, model)).content.decode()
    await choose(alice, chat, model, "fold")

    assert (await last_compaction(chat)).tokens_after < 2_048
    assert await model_of(chat) == "little"


async def test_b8_undo_restores_the_record_and_the_next_send_folds_again(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=200_000)
    await choose(alice, chat, await little(alice), "fold")

    compaction = await last_compaction(chat)
    await alice.post(f"/chats/{chat.pk}/compactions/{compaction.pk}/undo/")
    undone = await refreshed(chat)
    answer = await alice.say(chat, "Go on")

    assert (undone.summary, await model_of(chat)) == ("", "little")
    assert [(c.trigger, c.status) for c in await compactions_of(chat)] == [("model", "undone"), ("send", "applied")]
    assert answer.status == "complete"


async def test_b8_refused_while_a_reply_is_written_or_a_fold_runs(alice: Visitor) -> None:
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)
    gate = Signal()
    alice.endpoint.always([head(), hold(gate), *reply(SUMMARY)[1:]])
    await alice.send(chat, "Go on")
    await gate.reached()

    while_writing = [await _status(alice, chat, model, how) for how in ("", "fold")]
    await alice.post(f"/chats/{chat.pk}/stop/")
    await settled(chat)
    gate = Signal()
    alice.endpoint.always([head(), hold(gate), *reply(SUMMARY)[1:]])
    await alice.post(f"/chats/{chat.pk}/compact/")
    await gate.reached()
    while_folding = [await _status(alice, chat, model, how) for how in ("", "fold")]
    gate.set()
    await settled(chat)

    assert while_writing == while_folding == [409, 409]
    assert await model_of(chat) == "scripted"


async def test_i3_a_message_sent_meanwhile_is_answered_by_the_new_model(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(summarising([head(), hold(gate), text(SUMMARY), finish(), done()]))
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)
    await alice.post(f"/chats/{chat.pk}/model/", model=model.pk, how="fold")
    await gate.reached()

    await alice.send(chat, "Waiting")
    gate.set()
    await settled(chat)

    last = await in_database(lambda: chat.messages.on_path().reverse()[0])
    assert (last.status, last.model_name) == ("complete", "little")


async def test_b8_a_model_that_goes_meanwhile_changes_nothing(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.always(summarising([head(), hold(gate), text(SUMMARY), finish(), done()]))
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)
    await alice.post(f"/chats/{chat.pk}/model/", model=model.pk, how="fold")
    await gate.reached()

    await in_database(LanguageModel.objects.filter(pk=model.pk).delete)
    gate.set()
    await settled(chat)

    assert (await last_compaction(chat)).status == "cancelled"
    assert ((await refreshed(chat)).summary, await model_of(chat)) == ("", "scripted")


async def test_a1_where_the_chats_model_is_gone_page_and_window_are_those_of_the_default(alice: Visitor) -> None:
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)
    await in_database(LanguageModel.objects.filter(name="scripted").delete)

    page = await alice.page(chat)
    answer = await alice.say(chat, "Go on")

    assert f'<option value="{model.pk}" selected>little</option>' in page
    assert "of 2,048 tokens" in page
    assert [c.trigger for c in await compactions_of(chat)] == ["send"]
    assert (answer.status, answer.model_name) == ("complete", "little")


async def test_a_stranger_changes_nothing(alice: Visitor, charlie: Visitor) -> None:
    chat = await long_chat(alice, window=200_000)
    model = await little(alice)

    assert [await _status(charlie, chat, model, how) for how in ("", "fold", "as_it_is")] == [404, 404, 404]
    assert await model_of(chat) == "scripted"


async def _status(visitor: Visitor, chat: Chat, model: LanguageModel, how: str) -> int:
    return (await visitor.post(f"/chats/{chat.pk}/model/", model=model.pk, how=how)).status_code


def _make_default(name: str) -> None:
    model = LanguageModel.objects.get(name=name)
    SiteSettings.objects.update_or_create(defaults={"default_model": model})
