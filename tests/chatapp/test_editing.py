"""A user message edited: a new turn beside the old one, or the text alone; nothing that was there or typed is lost."""

import pytest

from chatapp import events
from chatapp.database import in_database
from chatapp.history import editing, paths, turns
from chatapp.history.boundary import compaction_in_force
from chatapp.history.errors import ChatBusy, NotPossible
from chatapp.models import Chat, Message
from chatapp.presenting.messages import view_messages
from compaction.tokens import estimate_text
from tests.factories import fold, make_chat
from tests.folding import long_chat, message_at, summarising, summary_calls
from tests.scripted import Signal, done, finish, head, hold, reply, text
from tests.visiting import Visitor, articles, refreshed, settled

TALK = ("Hello", "Hi.", "More", "Here.", "And?", "That.")


def edit(chat: Chat, position: int, text: str, key: str = "") -> turns.Turn:
    return editing.begin_edited(
        chat_id=chat.pk, message_id=at(chat, position).pk, text=text, idempotency_key=key, by=events.PROCESS
    )


def save(chat: Chat, position: int, text: str, key: str = "") -> Message:
    return editing.save_edited(chat_id=chat.pk, message_id=at(chat, position).pk, text=text, idempotency_key=key)


def at(chat: Chat, position: int) -> Message:
    return chat.messages.get(active=True, position=position)


def end(turn: turns.Turn, text: str = "Well.") -> None:
    assert turn.run is not None
    facts = {"run_id": turn.run.pk, "attempt": turn.run.attempt, "status": Message.Status.COMPLETE}
    turns.finish_turn(**facts, content=text, reasoning="")


def path_of(chat: Chat) -> list[str]:
    return [message.content for message in chat.messages.on_path()]


def record_of(chat: Chat) -> dict:
    return Chat.objects.get(pk=chat.pk).record()


async def post(visitor: Visitor, chat: Chat, message: Message, **fields):
    return await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/edit/", **fields)


@pytest.mark.django_db
class TestInTheDatabase:
    def test_save_and_answer_makes_a_turn_beside_the_old_one(self) -> None:
        chat = make_chat(None, *TALK)

        turn = edit(chat, 2, "Less")

        assert path_of(chat) == ["Hello", "Hi.", "Less", ""]
        assert turn.message.parent == at(chat, 1)
        assert chat.messages.filter(content__in=["More", "Here.", "And?", "That."], active=False).count() == 4

    @pytest.mark.parametrize("position", [0, 2])
    def test_versions_of_an_edited_message_lead_back_and_forth(self, position: int) -> None:
        chat = make_chat(None, *TALK)
        end(edit(chat, position, "Second"))
        end(edit(chat, position, "Third"))

        [view] = view_messages(chat, [at(chat, position)])
        assert (view.version, view.versions, view.next_id) == (3, 3, None)
        paths.show_version(chat_id=chat.pk, message_id=view.previous_id)
        assert path_of(chat)[position:] == ["Second", "Well."]
        [view] = view_messages(chat, [at(chat, position)])
        paths.show_version(chat_id=chat.pk, message_id=view.previous_id)

        assert path_of(chat) == list(TALK)

    def test_versions_of_first_messages_are_this_chats_alone(self) -> None:
        make_chat(None, "Of another chat")
        chat = make_chat(None, "Hello")

        [view] = view_messages(chat, [at(chat, 0)])

        assert view.versions == 1

    def test_the_same_key_twice_is_one_edit(self) -> None:
        chat = make_chat(None, *TALK)
        message = at(chat, 2)
        facts = {"chat_id": chat.pk, "message_id": message.pk, "text": "Less", "idempotency_key": "k"}
        first = editing.begin_edited(**facts, by=events.PROCESS)

        again = editing.begin_edited(**facts, by=events.PROCESS)

        assert (again.message, again.run) == (first.message, None)
        assert editing.save_edited(**facts) == first.message

    def test_while_a_run_is_live_neither_is_done(self) -> None:
        chat = make_chat(None, "Hello", "Hi.")
        turns.begin_turn(chat_id=chat.pk, text="More", idempotency_key="", by=events.PROCESS)

        for change in (edit, save):
            with pytest.raises(ChatBusy, match="run_live"):
                change(chat, 0, "Good day")

        assert path_of(chat) == ["Hello", "Hi.", "More", ""]

    @pytest.mark.parametrize("change", [edit, save])
    def test_only_a_user_message_on_the_active_path_of_that_chat_is_edited(self, change) -> None:
        chat, other = make_chat(None, *TALK), make_chat(None, *TALK)
        gone = at(chat, 4)
        end(edit(chat, 2, "Less"))

        with pytest.raises(NotPossible):
            change(chat, 1, "Not my words")
        for message in (gone, at(other, 0)):
            with pytest.raises(NotPossible):
                editing.save_edited(chat_id=chat.pk, message_id=message.pk, text="No", idempotency_key="")
            with pytest.raises(NotPossible):
                editing.begin_edited(
                    chat_id=chat.pk, message_id=message.pk, text="No", idempotency_key="", by=events.PROCESS
                )

    def test_j1_edit_before_the_boundary_leaves_its_summary_with_the_old_path(self) -> None:
        chat = make_chat(None, *TALK)
        fold(chat, through=3, summary="They greeted.")
        before = record_of(chat)
        first = at(chat, 2)

        end(edit(chat, 2, "Less"))
        assert record_of(chat) == {"summary": "", "compacted_through_id": None, "compacted_at": None}
        paths.show_version(chat_id=chat.pk, message_id=first.pk)

        assert record_of(chat) == before

    def test_j1_edit_between_two_boundaries_keeps_the_earlier_summary(self) -> None:
        chat = make_chat(None, *TALK)
        earlier = fold(chat, through=1, summary="They greeted.")
        fold(chat, through=3, summary="They greeted and went on.")

        edit(chat, 2, "Less")

        assert record_of(chat) == {
            "summary": "They greeted.",
            "compacted_through_id": earlier.through_id,
            "compacted_at": earlier.ended_at,
        }

    def test_j1_edit_after_the_boundary_changes_nothing_of_it(self) -> None:
        chat = make_chat(None, *TALK)
        fold(chat, through=1, summary="They greeted.")
        before = record_of(chat)

        edit(chat, 2, "Less")

        assert record_of(chat) == before

    def test_saved_text_keeps_the_later_turns_and_the_former_text_is_a_version_that_ends_there(self) -> None:
        chat = make_chat(None, *TALK)
        fold(chat, through=3, summary="They greeted.")
        before, former = record_of(chat), at(chat, 2)

        saved = save(chat, 2, "Less")

        assert path_of(chat) == ["Hello", "Hi.", "Less", "Here.", "And?", "That."]
        assert record_of(chat) == before
        [view] = view_messages(chat, [saved])
        assert (view.version, view.versions, view.previous_id) == (2, 2, former.pk)
        paths.show_version(chat_id=chat.pk, message_id=former.pk)
        assert path_of(chat) == ["Hello", "Hi.", "More"]
        paths.show_version(chat_id=chat.pk, message_id=saved.pk)
        assert path_of(chat) == ["Hello", "Hi.", "Less", "Here.", "And?", "That."]
        assert record_of(chat) == before

    def test_j1_saved_text_of_the_message_at_the_boundary_keeps_the_record(self) -> None:
        chat = make_chat(None, *TALK)
        former = at(chat, 2)
        fold(chat, through=2, summary="They greeted.")
        chat.messages.filter(position__gt=2).update(request_through_id=former.pk)

        saved = save(chat, 2, "Less")

        chat = Chat.objects.get(pk=chat.pk)
        assert (chat.summary, chat.compacted_through_id) == ("They greeted.", saved.pk)
        assert set(chat.messages.filter(position__gt=2).values_list("request_through_id", flat=True)) == {saved.pk}
        force = compaction_in_force(chat)
        assert force is not None
        assert force.through_id == saved.pk
        paths.show_version(chat_id=chat.pk, message_id=former.pk)
        assert record_of(chat)["compacted_through_id"] is None

    def test_saved_text_keeps_the_pin_and_the_versions_of_the_reply(self) -> None:
        chat = make_chat(None, "Hello", "Hi.")
        chat.messages.filter(position=0).update(pinned=True)
        end(turns.begin_again(chat_id=chat.pk, reply_id=at(chat, 1).pk, by=events.PROCESS), "Good day.")

        saved = save(chat, 0, "Good morning")

        [view] = view_messages(chat, [at(chat, 1)])
        assert (saved.pinned, view.versions) == (True, 2)
        assert not chat.messages.get(content="Hello").pinned

    def test_the_same_text_saved_is_no_edit(self) -> None:
        chat = make_chat(None, "Hello", "Hi.")

        save(chat, 0, "Hello")

        assert chat.messages.count() == 2
        assert Chat.objects.get(pk=chat.pk).revision == chat.revision

    def test_a2_usage_of_later_replies_is_outdated_by_a_saved_text(self) -> None:
        chat = make_chat(None, *TALK)
        chat.messages.filter(role="assistant").update(prompt_tokens=50)

        save(chat, 2, "Less")

        outdated = chat.messages.filter(usage_outdated=True).values_list("position", flat=True)
        assert sorted(outdated) == [3, 5]

    @pytest.mark.parametrize(("pinned", "outdated"), [(False, []), (True, [3, 5])])
    def test_a2_usage_without_the_archived_text_still_tells_the_size(self, pinned: bool, outdated: list[int]) -> None:
        chat = make_chat(None, *TALK)
        chat.messages.filter(position=0).update(pinned=pinned)
        through = fold(chat, through=1).through_id
        chat.messages.filter(position__in=[3, 5]).update(prompt_tokens=50, request_through_id=through)

        save(chat, 0, "Good day")

        live = chat.messages.filter(usage_outdated=True, position__gt=1)
        assert list(live.values_list("position", flat=True)) == outdated

    def test_answer_is_for_the_message_that_ends_the_path_without_a_reply(self) -> None:
        chat = make_chat(None, "Hello", "Hi.", "More")
        with pytest.raises(NotPossible):
            editing.begin_answer(chat_id=chat.pk, message_id=at(chat, 0).pk, by=events.PROCESS)

        turn = editing.begin_answer(chat_id=chat.pk, message_id=at(chat, 2).pk, by=events.PROCESS)

        assert turn.run is not None
        assert path_of(chat) == ["Hello", "Hi.", "More", ""]


async def test_edited_message_is_sent_and_answered_in_place_of_the_old_turn(alice: Visitor) -> None:
    alice.endpoint.always(reply("Well."))
    chat = await in_database(make_chat, alice.user, *TALK, titled_by_hand=True)

    response = await post(alice, chat, await message_at(chat, 2), text="Less", how="answer", idempotency_key="k")
    await settled(chat)

    assert "foldline:edited" in response["HX-Trigger"]
    assert [each["content"] for each in alice.endpoint.payloads[-1]["messages"]] == ["Hello", "Hi.", "Less"]
    shown = articles(await alice.page(chat))
    assert len(shown) == 4


async def test_saved_text_is_shown_and_nothing_is_sent(alice: Visitor) -> None:
    chat = await in_database(make_chat, alice.user, *TALK)

    response = await post(alice, chat, await message_at(chat, 2), text="Less", how="save", htmx=False)

    assert response.status_code == 302
    assert not alice.endpoint.payloads
    page = await alice.page(chat)
    assert "Less" in page
    assert "2 / 2" in page
    assert len(articles(page)) == 6


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("how", ["answer", "save"])
async def test_every_refusal_keeps_what_was_typed_and_stores_nothing(alice: Visitor, how: str, htmx: bool) -> None:
    gate = Signal()
    alice.endpoint.will([head(), text("Thinking"), hold(gate), finish(), done()])
    chat = await long_chat(alice, turns=2, window=2_000)
    message = await message_at(chat, 0)
    much = "bread wants time " * 3_000

    empty = await post(alice, chat, message, text=" \n", how=how, htmx=htmx)
    large = await post(alice, chat, message, text=much, how=how, htmx=htmx)
    await alice.send(chat, "Go on")
    busy = await post(alice, chat, message, text="Another wording", how=how, htmx=htmx)
    gate.set()
    await settled(chat)

    assert [each.status_code for each in (empty, large, busy)] == [422, 422, 409]
    sentences = [each.content.decode() for each in (empty, large, busy)]
    assert "Write something first" in sentences[0]
    assert "more than this model can hold" in sentences[1]
    assert "still being written" in sentences[2]
    if not htmx:
        assert much.strip() in sentences[1]
        assert "Another wording" in sentences[2]
    assert not any("HX-Trigger" in each for each in (empty, large, busy))
    assert await in_database(chat.messages.filter(position=0).count) == 1


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("how", ["save", "answer"])
async def test_edit_in_a_tab_that_has_not_seen_another_edit_is_a_conflict(alice: Visitor, how: str, htmx: bool) -> None:
    chat = await long_chat(alice, turns=2, window=2_000)
    message = await message_at(chat, 0)
    await post(alice, chat, message, text="The first tab", how="save")

    late = await post(alice, chat, message, text="The second tab", how=how, htmx=htmx)

    assert late.status_code == 409
    assert "changed or deleted elsewhere" in late.content.decode()
    assert htmx or "The second tab" in late.content.decode()
    assert (await message_at(chat, 0)).content == "The first tab"
    assert not await in_database(chat.messages.filter(content="The second tab").exists)


async def test_j1_archived_message_is_edited_without_overflow(alice: Visitor) -> None:
    """A very long chat: the new path begins at its end, folds before it is sent, and no request exceeds the window."""
    window = 4_000
    alice.endpoint.always(summarising())
    chat = await long_chat(alice, turns=40, window=window)
    boundary = 77
    await in_database(fold, chat, through=boundary)
    message = await message_at(chat, 76)

    response = await post(alice, chat, message, text="What else?", how="answer")
    assert response.status_code == 200
    await settled(chat)

    after = await refreshed(chat)
    assert after.compacted_through is not None
    assert after.compacted_through.position < 76
    assert summary_calls(alice)
    for payload in alice.endpoint.payloads:
        assert sum(estimate_text(each["content"]) for each in payload["messages"]) <= window
    last = await in_database(lambda: list(chat.messages.on_path().values_list("content", flat=True))[-2:])
    assert last == ["What else?", "An answer."]


async def test_the_word_before_an_archived_message_is_edited(alice: Visitor) -> None:
    chat = await in_database(make_chat, alice.user, *TALK)
    await in_database(fold, chat, through=1)
    words = "The summary does not cover the new path; earlier turns will be folded anew."

    archived, live = [
        (await alice.client.get(f"/chats/{chat.pk}/messages/{message.pk}/edit/")).content.decode()
        for message in (await message_at(chat, 0), await message_at(chat, 2))
    ]

    assert words in archived
    assert words not in live
    assert await in_database(chat.messages.count) == 6


async def test_a_reply_or_another_chats_message_has_no_edit_form(alice: Visitor, charlie: Visitor) -> None:
    mine, other = [await in_database(make_chat, each.user, *TALK) for each in (alice, charlie)]

    for chat, message in ((mine, await message_at(mine, 1)), (mine, await message_at(other, 0))):
        assert (await alice.client.get(f"/chats/{chat.pk}/messages/{message.pk}/edit/")).status_code == 404


async def test_answer_writes_the_reply_that_is_missing(alice: Visitor) -> None:
    alice.endpoint.always(reply("Well."))
    chat = await in_database(make_chat, alice.user, "Hello", "Hi.", "More", titled_by_hand=True)
    message = await message_at(chat, 2)
    assert f"/messages/{message.pk}/answer/" in await alice.page(chat)

    await alice.post(f"/chats/{chat.pk}/messages/{message.pk}/answer/")
    await settled(chat)

    assert (await message_at(chat, 3)).content == "Well."
    assert "/answer/" not in await alice.page(chat)
