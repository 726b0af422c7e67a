"""Chats as files: whole and without secrets on the way out, checked to the last reference on the way in (rule J3)."""

import copy
import io
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient

from chatapp import events
from chatapp.archives import chat_json, chat_markdown, file_name, stream_json, stream_markdown_zip
from chatapp.archives.reading import Unreadable, read_chats, usable_models
from chatapp.database import in_database
from chatapp.gates import limit_body
from chatapp.history import compactions, deleting, editing, ordering, turns
from chatapp.history.candidates import Candidate, import_chat
from chatapp.models import Chat, Compaction, Message
from chatapp.requesting import read_request
from tests.factories import fold, make_chat, make_model, make_user
from tests.people import signed_in
from tests.visiting import BACKEND

pytestmark = pytest.mark.django_db

TALK = ("Hello", "Hi.", "More", "Here.", "And?", "That.", "So?", "Yes.")


@pytest.fixture
def alice() -> User:
    return make_user("alice")


@pytest.fixture
def chat(alice: User) -> Chat:
    """Two folds, an undone one, branches at two places, pins, usage, every kind of column filled."""
    chat = make_chat(
        alice, *TALK, model=make_model(window=8_000), system_prompt="Be kind.", parameters={"temperature": 0.5}
    )
    first = fold(chat, through=1, summary="They greeted.")
    undone = fold(chat, through=5, summary="Undone.")
    second = fold(chat, through=3, summary="They went on.")
    own = {**first.segments[0], "rank": 0, "compaction_id": first.pk}
    Compaction.objects.filter(pk=first.pk).update(segments=[own])
    Compaction.objects.filter(pk=undone.pk).update(status="undone")
    Compaction.objects.filter(pk=second.pk).update(
        segments=[own, {**own, "text": "They went on.", "compaction_id": second.pk, "from_position": 2}],
        values_found=2,
        values_left_out=[{"value": "42", "clause": "the answer is 42"}],
        model_summary="The model’s own.",
        cost="0.001200",
    )
    Chat.objects.filter(pk=chat.pk).update(summary="They greeted.\n\n[Later]\nThey went on.")
    replies = chat.messages.filter(position__in=[5, 7])
    replies.update(prompt_tokens=60, completion_tokens=9, model_name="small", request_through_id=second.through_id)
    chat.messages.filter(position=2).update(pinned=True, reasoning="Think.")
    shrunk = chat.messages.filter(position=7)
    shrunk.update(left_out=[chat.messages.get(position=4).pk], finish_reason="length", request_extras={"top_p": 0.9})
    branch(chat, "So what?")
    deleting.delete_message(chat_id=chat.pk, message_id=chat.messages.get(active=True, position=6).pk)
    chat.refresh_from_db()
    return chat


def branch(chat: Chat, text: str) -> None:
    """Another wording of the last question, answered; the old one stays as it was."""
    asked = chat.messages.filter(active=True, role="user").order_by("-position")[0]
    turn = editing.begin_edited(chat_id=chat.pk, message_id=asked.pk, text=text, idempotency_key="k", by=events.PROCESS)
    assert turn.run is not None
    status = Message.Status.COMPLETE
    turns.finish_turn(run_id=turn.run.pk, attempt=1, status=status, content="Well.", reasoning="")


def exported(chat: Chat) -> dict[str, Any]:
    return json.loads("".join(chat_json(chat.pk)))


def archive(*chats: Any, **changes: Any) -> bytes:
    return json.dumps({"format": "foldline-chats", "version": 1, "chats": chats} | changes).encode()


def read_archive(data: bytes, *, owner_id: int) -> list[Candidate]:
    return list(read_chats([data], owner_id=owner_id, usable=usable_models()))


def bring_in(owner: User, *chats: Any) -> list[Chat | None]:
    found = read_archive(archive(*chats), owner_id=owner.pk)
    return [import_chat(each.original, key=each.key) for each in found if each.original]


def only_candidate(chat: Chat, raw: Any) -> Any:
    [candidate] = read_archive(archive(raw), owner_id=chat.owner_id)
    return candidate


def imported(owner: User, raw: dict[str, Any]) -> Chat:
    [chat] = bring_in(owner, raw)
    assert chat is not None
    return Chat.objects.select_related("compacted_through").get(pk=chat.pk)


def problem(owner: User, raw: Any) -> str:
    [candidate] = read_archive(archive(raw), owner_id=owner.pk)
    return candidate.problem


def sent(chat: Chat) -> str:
    return read_request(chat.pk).raw_json


def test_j3_own_export_imported_and_exported_again_is_equal(chat: Chat) -> None:
    copied = imported(make_user(), exported(chat))

    assert set(copied.compactions.values_list("is_copy", flat=True)) == {True}
    assert "".join(chat_json(copied.pk)) == "".join(chat_json(chat.pk))
    assert copied.messages.count() == chat.messages.count() == 10


def test_j3_import_carries_segments_and_boundary_and_sends_the_same(chat: Chat) -> None:
    copied = imported(make_user(), exported(chat))

    assert copied.summary == chat.summary == "They greeted.\n\n[Later]\nThey went on."
    assert copied.compacted_through == copied.messages.get(active=True, position=3)
    assert copied.compacted_at == chat.compacted_at
    own = list(copied.compactions.applied().order_by("pk").values_list("pk", flat=True))
    newest = copied.compactions.applied().get(through_position=3)
    assert [segment["compaction_id"] for segment in newest.segments] == own
    assert sent(copied) == sent(chat)


def test_j3_undo_after_import_is_byte_equal(chat: Chat) -> None:
    copied = imported(make_user(), exported(chat))

    for _ in range(2):
        for each in (chat, copied):
            force = each.compactions.applied().order_by("-through_position")[0]
            compactions.undo_compaction(chat_id=each.pk, compaction_id=force.pk)
        assert sent(copied) == sent(chat)

    copied.refresh_from_db()
    assert not copied.is_compacted


def test_how_a_chat_was_kept_comes_along_by_name(chat: Chat) -> None:
    folder = ordering.make_folder(owner_id=chat.owner_id, name="Bread")
    ordering.move_chats(owner_id=chat.owner_id, chat_ids=[chat.pk], folder_id=folder.pk)
    for name in ("winter", "rye"):
        ordering.tag_chats(owner_id=chat.owner_id, chat_ids=[chat.pk], name=name)
    ordering.archive_chats(owner_id=chat.owner_id, chat_ids=[chat.pk], archived=True)
    ordering.pin_chat(chat_id=chat.pk, pinned=True)
    bob = make_user("bob")
    theirs = ordering.make_folder(owner_id=bob.pk, name="BREAD")

    copied = imported(bob, exported(chat))

    assert exported(copied) == exported(chat) | {"folder": "BREAD"}
    assert copied.folder == theirs
    assert {tag.owner_id for tag in copied.tags.all()} == {bob.pk}
    assert copied.pinned_at
    assert copied.archived_at


def test_file_of_before_folders_and_tags_still_imports(chat: Chat) -> None:
    raw = exported(chat)
    for name in ("pinned_at", "archived_at", "folder", "tags"):
        del raw[name]

    copied = imported(make_user(), raw)

    assert (copied.pinned_at, copied.archived_at, copied.folder, copied.tags.count()) == (None, None, None, 0)


@pytest.mark.parametrize(
    "bad",
    [
        {"folder": 7},
        {"folder": "x" * 81},
        {"tags": "winter"},
        {"tags": [""]},
        {"tags": ["x" * 41]},
        {"tags": [[]]},
        {"tags": [str(number) for number in range(21)]},
        {"pinned_at": "yesterday"},
        {"archived_at": 1},
    ],
)
def test_bad_folder_or_tag_leaves_the_chat_out(chat: Chat, bad: dict[str, Any]) -> None:
    assert only_candidate(chat, exported(chat) | bad).problem == "malformed"


def test_branches_and_versions_come_along(chat: Chat) -> None:
    copied = imported(make_user(), exported(chat))

    for old, new in zip(chat.messages.order_by("pk"), copied.messages.order_by("pk"), strict=True):
        assert (old.position, old.active, old.pinned) == (new.position, new.active, new.pinned)
        assert (old.parent and old.parent.position) == (new.parent and new.parent.position)
        assert new.parent is None or new.parent.chat_id == copied.pk
    assert copied.messages.filter(active=False, content="So?").exists()


def test_the_text_of_a_deleted_message_is_in_no_file(chat: Chat) -> None:
    assert "So what?" not in "".join(chat_json(chat.pk))
    assert "So what?" not in "".join(chat_markdown(chat.pk))

    copied = imported(make_user(), exported(chat))

    gone = copied.messages.filter(deleted_at__isnull=False)
    assert gone.exists()
    assert not any(deleting.is_restorable(message) for message in gone)


def test_no_owner_key_or_address_is_in_a_file(chat: Chat) -> None:
    endpoint = chat.model.endpoint
    chat.messages.filter(position=1).update(failure_detail="refused by http://10.0.0.9 for sk-secret")

    text = "".join(chat_json(chat.pk))

    for secret in ("alice", endpoint.base_url, endpoint.name, "sk-secret", "10.0.0.9", str(chat.pk)):
        assert secret not in text


def test_live_reply_and_running_compaction_are_exported_as_what_will_be_left_of_them(alice: User) -> None:
    chat = make_chat(alice, "Hello", "Hi.")
    turns.begin_turn(chat_id=chat.pk, text="More", idempotency_key="", by=events.PROCESS)
    Compaction.objects.create(chat=chat, trigger="button")

    told = exported(chat)

    assert (told["messages"][-1]["status"], told["compactions"]) == ("interrupted", [])
    assert problem(alice, told) == ""


def test_the_same_file_twice_adds_nothing_the_second_time(alice: User, chat: Chat) -> None:
    raw = exported(chat)
    bob = make_user("bob")

    assert bring_in(bob, raw, raw)[1] is None
    assert bring_in(bob, raw) == [None]
    assert bring_in(alice, raw) != [None]

    assert Chat.objects.filter(owner=bob).count() == 1


def test_owner_is_the_importer_and_texts_are_storable(chat: Chat) -> None:
    raw = exported(chat) | {"owner": chat.owner_id, "owner_id": chat.owner_id, "id": str(chat.pk)}
    raw["title"] = "<script>alert(1)</script>\0"
    raw["messages"][0]["content"] = "a\0b \ud800"
    raw["parameters"] = {"model": "another", "messages": [], "stop": ["\0"]}
    bob = make_user("bob")

    copied = imported(bob, raw)

    assert (copied.owner, copied.title) == (bob, "<script>alert(1)</script>\ufffd")
    assert copied.messages.get(position=0).content == "a\ufffdb \ufffd"
    assert copied.parameters == {"stop": ["\ufffd"]}
    page = signed_in(bob).get(f"/chats/{copied.pk}/").content.decode()
    assert "<script>alert" not in page


def test_model_that_is_not_here_is_left_to_choose(chat: Chat) -> None:
    copied = imported(make_user(), exported(chat) | {"model": "elsewhere"})

    assert copied.model is None


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        (b"\xff\xfe", "not_json"),
        (b"[" * 100_000, "breaks_off"),
        (b"1" * 10_000, "not_json"),
        (archive(format="chatgpt"), "not_ours"),
        (archive(version="1"), "not_ours"),
        (archive(version=0), "not_ours"),
        (archive(version=2), "newer_version"),
    ],
)
def test_file_that_cannot_be_used_is_told_why(alice: User, data: bytes, code: str) -> None:
    with pytest.raises(Unreadable) as told:
        read_archive(data, owner_id=alice.pk)

    assert told.value.code == code


def message(number: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw["messages"][number].update(changes)


def compaction(number: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw["compactions"][number].update(changes)


def chat_with(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda raw: raw.update(changes)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (message(0, role="system"), "unknown_role"),
        (message(0, role=["user"]), "unknown_role"),
        (message(2, parent=4), "broken_links"),
        (message(2, parent=3), "broken_links"),
        (message(2, parent=None), "broken_links"),
        (message(2, parent=999), "broken_links"),
        (message(2, position=7), "broken_links"),
        (message(1, id=1), "broken_links"),
        (message(2, active=False), "broken_links"),
        (message(6, active=True), "two_active"),
        (message(7, request_through=999), "broken_links"),
        (message(7, left_out=[999]), "broken_links"),
        (message(0, content=None), "malformed"),
        (message(0, content={"html": "<b>"}), "malformed"),
        (message(0, status="streaming"), "malformed"),
        (message(0, status="unheard of"), "malformed"),
        (message(0, active=1), "malformed"),
        (message(1, prompt_tokens=2**40), "malformed"),
        (message(1, prompt_tokens=-1), "malformed"),
        (message(0, created_at="yesterday"), "malformed"),
        (message(0, created_at="2026-11-30T10:00:00"), "malformed"),
        (message(0, created_at="0001-01-01T00:00:00+14:00"), "malformed"),
        (message(1, tool_calls=[{"name": "x"}]), "malformed"),
        (message(1, model_name="x" * 201), "malformed"),
        (message(0, id=0), "malformed"),
        (compaction(0, through=999), "broken_links"),
        (compaction(0, through=None), "wrong_boundary"),
        (compaction(0, through_position=2), "wrong_boundary"),
        (compaction(0, ended_at=None), "wrong_boundary"),
        (compaction(0, segments=[]), "malformed"),
        (compaction(0, segments=[{"text": 1}]), "malformed"),
        (compaction(0, status="running"), "malformed"),
        (compaction(0, trigger="a whim"), "malformed"),
        (compaction(0, cost="dear"), "malformed"),
        (compaction(0, values_left_out=["42"]), "malformed"),
        (chat_with(boundary=1), "wrong_boundary"),
        (chat_with(boundary=None), "wrong_boundary"),
        (chat_with(boundary=999), "wrong_boundary"),
        (chat_with(messages={}), "malformed"),
        (chat_with(compactions=[1]), "malformed"),
        (chat_with(policy="never"), "malformed"),
        (chat_with(title="x" * 201), "malformed"),
        (chat_with(parameters=[]), "malformed"),
    ],
)
def test_chat_that_is_broken_is_left_out_with_its_reason(chat: Chat, spoil: Any, code: str) -> None:
    raw = exported(chat)
    good = copy.deepcopy(raw)
    spoil(raw)

    assert problem(chat.owner, raw) == code
    assert len(bring_in(make_user(), raw, good)) == 1


def test_import_brings_no_options_but_those_that_the_settings_offer(chat: Chat) -> None:
    foreign = {"models": ["dear"], "plugins": [{"id": "web"}], "service_tier": "priority", "best_of": 20, "grammar": ""}
    own = {"temperature": 0.5, "stop": ["User:"], "seed": -7, "reasoning_effort": "minimal"}
    raw = exported(chat) | {"parameters": {**own, **foreign, "top_p": 7, "max_tokens": "many"}}

    (copied,) = bring_in(make_user(), raw)

    assert copied.parameters == own


@pytest.mark.parametrize("raw", [None, 1, "chat", [], {}, {"title": 5}])
def test_what_is_no_chat_at_all_is_left_out(alice: User, raw: Any) -> None:
    assert problem(alice, raw) == "malformed"


async def test_bodies_have_a_limit_of_their_own_where_files_come_in() -> None:
    sent: list[Any] = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        sent.append(scope["path"])

    async def refuse(message: Any) -> None:
        sent.append(message.get("status"))

    limited = limit_body(answer, most=lambda path: 100 if path == "/import/" else 10)
    for path, length in (("/import/", b"100"), ("/chats/", b"100"), ("/import/", b"101")):
        await limited({"path": path, "headers": [(b"content-length", length)]}, None, refuse)

    assert [each for each in sent if each] == ["/import/", 413, 413]


def test_markdown_holds_the_whole_path_with_the_divider_in_its_place(chat: Chat) -> None:
    text = "".join(chat_markdown(chat.pk))

    assert text.startswith("# A chat\n\n## You\n\nHello\n")
    before, rule, after = text.partition("\n---\n")
    assert rule
    assert "Here." in before
    assert "> They greeted.\n>\n> [Later]\n> They went on.\n" in after
    assert "## small\n\nThat.\n" in after
    assert "So?" not in text


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Bread & time", "foldline-Bread-time.json"),
        ("../../etc/passwd", "foldline-etc-passwd.json"),
        ('a"; filename="b\r\nSet-Cookie: x', "foldline-a-filename-b-Set-Cookie-x.json"),
        ("", "foldline-chat.json"),
        ("パン" * 50, f"foldline-{'パン' * 30}.json"),
    ],
)
def test_file_name_misleads_nobody(title: str, name: str) -> None:
    assert file_name(title, "json") == name


def test_thousands_of_messages_go_out_and_in_again(alice: User) -> None:
    chat = make_chat(alice)
    rows = [
        Message(chat=chat, position=at, role="assistant" if at % 2 else "user", content="Bread. " * 40)
        for at in range(3_000)
    ]
    Message.objects.bulk_create(rows)
    parts = exported(chat)
    for number, raw in enumerate(parts["messages"]):
        raw["parent"] = number or None

    copied = imported(make_user(), parts)

    assert copied.messages.exclude(parent=None).count() == 2_999


class TestDownloads:
    pytestmark = pytest.mark.django_db(transaction=True)

    async def test_everything_of_a_person_is_one_file_and_nobody_elses(self) -> None:
        alice, bob = await in_database(make_user, "alice"), await in_database(make_user, "bob")
        for owner, text in ((alice, "one"), (alice, "two"), (bob, "a secret")):
            await in_database(make_chat, owner, text)

        text = await download(alice, "/export/")

        told = json.loads(text)
        assert (told["format"], told["version"]) == ("foldline-chats", 1)
        assert [chat["messages"][0]["content"] for chat in told["chats"]] == ["one", "two"]

    async def test_one_chat_is_downloaded_under_a_safe_name(self) -> None:
        alice = await in_database(make_user, "alice")
        chat = await in_database(make_chat, alice, "Hello", "Hi.")
        client = AsyncClient()
        await client.aforce_login(alice, backend=BACKEND)

        for address, name in (("json", "foldline-A-chat.json"), ("markdown", "foldline-A-chat.md")):
            response = await client.get(f"/chats/{chat.pk}/export/{address}/")
            assert response["Content-Disposition"] == f'attachment; filename="{name}"'
            assert "Hello" in await body(response)

    async def test_everything_as_markdown_is_a_zip_with_a_file_a_chat(self) -> None:
        alice = await in_database(make_user, "alice")
        for text in ("one", "../two"):
            await in_database(make_chat, alice, text)
        client = AsyncClient()
        await client.aforce_login(alice, backend=BACKEND)

        response = await client.get("/export/markdown/")
        archive = zipfile.ZipFile(io.BytesIO(b"".join([piece async for piece in response.streaming_content])))

        assert archive.testzip() is None
        assert archive.namelist() == ["0001-A-chat.md", "0002-A-chat.md"]
        assert b"../two" in archive.read("0002-A-chat.md")

    async def test_markdown_of_everything_holds_one_chat_at_a_time(self) -> None:
        alice = await in_database(make_user, "alice")
        chats = [await in_database(make_chat, alice, os.urandom(20_000).hex()) for _ in range(8)]

        sizes = [len(piece) async for piece in stream_markdown_zip([chat.pk for chat in chats])]

        assert len(sizes) == 9
        assert max(sizes) < 60_000

    async def test_a_chat_deleted_meanwhile_leaves_the_file_whole(self) -> None:
        alice = await in_database(make_user, "alice")
        chats = [await in_database(make_chat, alice, text) for text in ("one", "two", "three")]
        await in_database(chats[1].delete)

        text = "".join([piece async for piece in stream_json([chat.pk for chat in chats])])

        assert len(json.loads(text)["chats"]) == 2


async def download(user: User, address: str) -> str:
    client = AsyncClient()
    await client.aforce_login(user, backend=BACKEND)
    return await body(await client.get(address))


async def body(response: Any) -> str:
    return b"".join([piece async for piece in response.streaming_content]).decode()
