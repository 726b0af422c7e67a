"""A chat forked at a message: the path up to there with what speaks for it, in a chat of its own (rule J3)."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chatapp import events
from chatapp.admin.compactions import totals_of
from chatapp.admin.figures import read_periods
from chatapp.history import compactions, editing, turns
from chatapp.history.errors import ChatBusy, NotPossible
from chatapp.history.forking import fork
from chatapp.models import Chat, Compaction, Message
from chatapp.requesting import read_request
from tests.factories import fold, make_chat, make_model, make_user
from tests.timing import processor_seconds

pytestmark = pytest.mark.django_db

TALK = ("Hello", "Hi.", "More", "Here.", "And?", "That.", "So?", "Yes.")
NO_RECORD = {"summary": "", "compacted_through_id": None, "compacted_at": None}


@pytest.fixture
def chat() -> Chat:
    """Folded twice, the second time through position 3."""
    chat = make_chat(make_user("alice"), *TALK, model=make_model(window=8_000), system_prompt="Be kind.")
    first = fold(chat, through=1, summary="They greeted.")
    second = fold(chat, through=3, summary="They went on.")
    segments = [
        {**first.segments[0], "compaction_id": first.pk},
        {**second.segments[0], "compaction_id": second.pk, "from_position": 2},
    ]
    Compaction.objects.filter(pk=first.pk).update(segments=segments[:1])
    Compaction.objects.filter(pk=second.pk).update(segments=segments)
    Chat.objects.filter(pk=chat.pk).update(summary="They greeted.\n\n[Later]\nThey went on.")
    replies = chat.messages.filter(position__in=[5, 7])
    replies.update(prompt_tokens=60, completion_tokens=9, model_name="small", request_through_id=second.through_id)
    chat.refresh_from_db()
    return chat


def fork_at(chat: Chat, position: int) -> Chat:
    copy = fork(chat_id=chat.pk, message_id=chat.messages.get(active=True, position=position).pk)
    return Chat.objects.select_related("compacted_through").get(pk=copy.pk)


def path_of(chat: Chat) -> list[str]:
    return [message.content for message in chat.messages.on_path()]


def sent(chat: Chat) -> str:
    return read_request(chat.pk).raw_json


def undo(chat: Chat) -> None:
    newest = chat.compactions.applied().order_by("-through_position")[0]
    compactions.undo_compaction(chat_id=chat.pk, compaction_id=newest.pk)


def test_j3_fork_after_the_boundary_carries_a_copy_of_the_record(chat: Chat) -> None:
    copy = fork_at(chat, 7)

    assert path_of(copy) == list(TALK)
    assert (copy.summary, copy.compacted_at) == (chat.summary, chat.compacted_at)
    assert copy.compacted_through == copy.messages.get(position=3)
    assert sent(copy) == sent(chat)
    assert read_request(copy.pk).meter == read_request(chat.pk).meter
    assert read_request(copy.pk).meter.source == "measured"


def test_j3_figures_of_what_a_fork_copied_are_shown_there_and_counted_once(chat: Chat) -> None:
    Compaction.objects.update(calls=2, prompt_tokens=900, completion_tokens=80, cost="0.25", unfinished_key="k")
    before = (read_periods(), totals_of(Compaction.objects.all()))

    copy = fork_at(chat, 7)

    assert (read_periods(), totals_of(Compaction.objects.all())) == before
    assert list(copy.compactions.values_list("is_copy", "prompt_tokens", "unfinished_key")) == [(True, 900, "")] * 2
    client = Client()
    client.force_login(chat.owner)
    assert "2 calls, 900 prompt tokens" in (page := client.get(f"/chats/{copy.pk}/").content.decode())
    assert "copied with the chat" in page
    assert "Copied with the chat." in client.get(f"/chats/{copy.pk}/compactions/").content.decode()
    assert "opied with the chat" not in client.get(f"/chats/{chat.pk}/compactions/").content.decode()


def test_j3_undo_in_a_fork_leads_back_as_in_the_original_byte_for_byte(chat: Chat) -> None:
    copy = fork_at(chat, 7)

    for _ in range(2):
        undo(chat)
        undo(copy)
        assert sent(copy) == sent(chat)

    copy.refresh_from_db()
    assert copy.record() == NO_RECORD
    assert chat.compactions.applied().count() == 0


def test_j3_fork_before_every_boundary_carries_no_summary(chat: Chat) -> None:
    copy = fork_at(chat, 0)

    assert copy.record() == NO_RECORD
    assert not copy.compactions.exists()


def test_j3_fork_between_two_boundaries_carries_the_earlier_record(chat: Chat) -> None:
    copy = fork_at(chat, 2)

    assert (copy.summary, copy.compacted_through) == ("They greeted.", copy.messages.get(position=1))
    assert [each.summary for each in copy.compactions.all()] == ["They greeted."]


def test_j3_segments_name_the_compactions_of_the_fork(chat: Chat) -> None:
    copy = fork_at(chat, 7)

    newest = copy.compactions.get(through_position=3)
    own = list(copy.compactions.order_by("pk").values_list("pk", flat=True))
    assert [segment["compaction_id"] for segment in newest.segments] == own


def test_fork_keeps_every_column_of_a_message_but_its_references(chat: Chat) -> None:
    message = chat.messages.get(position=1)
    Message.objects.filter(pk=message.pk).update(
        pinned=True, reasoning="Think.", left_out=[chat.messages.get(position=0).pk], status="stopped"
    )
    ours = {"id", "chat_id", "parent_id", "request_through_id", "left_out", "revision", "shown_revision"}

    copy = fork_at(chat, 7)

    for old, new in zip(chat.messages.on_path().values(), copy.messages.on_path().values(), strict=True):
        assert {name: old[name] for name in old.keys() - ours} == {name: new[name] for name in new.keys() - ours}
    ids = list(copy.messages.on_path().values_list("pk", flat=True))
    assert list(copy.messages.on_path().values_list("parent_id", flat=True)) == [None, *ids[:-1]]
    assert copy.messages.get(position=1).left_out == ids[:1]


def test_fork_holds_the_active_path_alone_and_leaves_the_original_as_it_was(chat: Chat) -> None:
    editing.begin_edited(
        chat_id=chat.pk,
        message_id=chat.messages.get(position=6).pk,
        text="Then?",
        idempotency_key="k",
        by=events.PROCESS,
    )
    before = list(chat.messages.values()), Chat.objects.filter(pk=chat.pk).values().get()

    copy = fork_at(chat, 6)

    assert path_of(copy) == [*TALK[:6], "Then?"]
    assert copy.messages.count() == 7
    assert (list(chat.messages.values()), Chat.objects.filter(pk=chat.pk).values().get()) == before


def test_fork_never_copies_a_reply_that_is_being_written(chat: Chat) -> None:
    turns.begin_turn(chat_id=chat.pk, text="Go on", idempotency_key="", by=events.PROCESS)

    with pytest.raises(ChatBusy, match="run_live"):
        fork_at(chat, 9)

    assert path_of(fork_at(chat, 8))[-1] == "Go on"


def test_message_off_the_path_or_of_another_chat_is_no_place_for_a_fork(chat: Chat) -> None:
    other = make_chat(None, "Hello").messages.get()

    with pytest.raises(NotPossible):
        fork(chat_id=chat.pk, message_id=other.pk)

    assert Chat.objects.count() == 2


@pytest.mark.parametrize(
    ("title", "expected"), [("Bread", "Fork of Bread"), ("Fork of Bread", "Fork of Bread"), ("", "")]
)
def test_title_says_that_it_is_a_fork(chat: Chat, title: str, expected: str) -> None:
    Chat.objects.filter(pk=chat.pk).update(title=title, titled_by_hand=True, policy="window", parameters={"top_p": 1})

    copy = fork_at(chat, 1)

    assert (copy.title, copy.titled_by_hand, copy.policy, copy.parameters) == (expected, True, "window", {"top_p": 1})
    assert (copy.owner, copy.model, copy.system_prompt) == (chat.owner, chat.model, "Be kind.")


def test_longest_title_still_fits(chat: Chat) -> None:
    Chat.objects.filter(pk=chat.pk).update(title="x" * 200)

    assert len(fork_at(chat, 1).title) == 200


def test_fork_takes_as_many_queries_whatever_the_length() -> None:
    counts = []
    for length in (4, 30):
        chat = make_chat(None, *map(str, range(length)))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            fork_at(chat, length - 1)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_ten_thousand_messages_are_forked_in_seconds() -> None:
    chat = make_chat()
    rows = [
        Message(chat=chat, position=at, role="assistant" if at % 2 else "user", content="Bread and time. " * 40)
        for at in range(10_000)
    ]
    Message.objects.bulk_create(rows)
    last = chat.messages.get(position=9_999)
    copies = []

    took = processor_seconds(lambda: copies.append(fork(chat_id=chat.pk, message_id=last.pk)))

    assert took < 10, took
    assert copies[0].messages.exclude(parent=None).count() == 9_999


def test_fork_leads_to_the_new_chat_where_the_last_message_can_be_answered(chat: Chat) -> None:
    client = Client()
    client.force_login(chat.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    address = f"/chats/{chat.pk}/messages/{chat.messages.get(position=6).pk}/fork/"

    plain = client.post(address)
    live = client.post(address, headers={"HX-Request": "true"})

    page = client.get(plain["Location"]).content.decode()
    assert "/answer/" in page
    assert "2 earlier message" not in page
    assert "They went on." in page
    assert live["HX-Redirect"].startswith("/chats/")
    assert Chat.objects.filter(owner=chat.owner).count() == 3
