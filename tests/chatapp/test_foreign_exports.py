"""Exports of other programs: their branches are our versions, with times, model names and reasoning."""

import json
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User

from chatapp.archives.openwebui import without_work
from chatapp.archives.reading import read_chats, usable_models
from chatapp.history.candidates import Candidate, import_chat
from chatapp.models import Chat
from chatapp.requesting import read_request
from tests.factories import make_model, make_user
from tests.foreign_exports import as_json, chatgpt, chatgpt_node, libre_message, librechat, openwebui, webui_message

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return make_user("alice")


def read(owner: User, *chats: Any) -> list[Candidate]:
    return list(read_chats([as_json(list(chats))], owner_id=owner.pk, usable=usable_models()))


def bring_in(owner: User, raw: Any) -> Chat:
    [candidate] = read(owner, raw)
    assert candidate.original, candidate.problem
    chat = import_chat(candidate.original, key=candidate.key, state=candidate.state)
    assert chat
    return Chat.objects.get(pk=chat.pk)


def path(chat: Chat) -> list[tuple[str, str]]:
    return list(chat.messages.on_path().values_list("role", "content"))


def test_chatgpt_branches_are_versions_with_times_and_models(alice: User) -> None:
    model = make_model("o4-mini")

    chat = bring_in(alice, chatgpt())

    assert path(chat) == [("user", "How do I roll back?"), ("assistant", "Run `helm rollback`.")]
    other = chat.messages.get(active=False)
    assert (other.content, other.model_name, other.position) == ("Use `helm`.", "gpt-4o", 1)
    assert (chat.title, chat.titled_by_hand, chat.model) == ("Rolling back", True, model)
    assert chat.created_at.timestamp() == 1_756_000_000.5
    assert chat.touched_at.timestamp() == 1_756_000_400.5


def test_chatgpt_steps_of_one_reply_are_one_reply_with_its_reasoning(alice: User) -> None:
    call = chatgpt_node("t", "assistant", kind="code", text="print(1)", language="python")
    call["message"]["recipient"] = "python"
    nodes = {
        "u": chatgpt_node("ctx", "user", "One?"),
        "t": chatgpt_node("u", "assistant", kind="thoughts", thoughts=[{"summary": "Ask", "content": "Python knows."}]),
        "c": call,
        "o": chatgpt_node("c", "tool", kind="execution_output", text="1"),
        "r": chatgpt_node("o", "assistant", kind="reasoning_recap", content="Thought for 8s"),
        "a": chatgpt_node(
            "r", "assistant", "It is 1.\ue200cite\ue202turn0search0\ue201", metadata={"model_slug": "o3"}
        ),
    }

    chat = bring_in(alice, chatgpt(nodes, current_node="a"))

    assert path(chat) == [("user", "One?"), ("assistant", "It is 1.")]
    reply = chat.messages.get(position=1)
    assert reply.model_name == "o3"
    assert reply.reasoning == "**Ask**\n\nPython knows.\n\n```python\nprint(1)\n```\n\n```\n1\n```\n\nThought for 8s"


def test_chatgpt_files_are_named_and_hidden_words_are_not_there(alice: User) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-abc"}
    nodes = {
        "u": chatgpt_node(
            "ctx",
            "user",
            picture,
            "What is it?",
            kind="multimodal_text",
            metadata={"attachments": [{"name": "../a.png"}]},
        ),
        "p": chatgpt_node("u", "user", kind="user_editable_context", user_profile="A spy."),
        "a": chatgpt_node(
            "p", "assistant", {**picture, "asset_pointer": "sediment://file-xyz"}, kind="multimodal_text"
        ),
    }

    chat = bring_in(alice, chatgpt(nodes, current_node="a"))

    assert path(chat) == [("user", "What is it?\n\n[Attached: ../a.png]"), ("assistant", "[Attached: file-xyz]")]


def test_chatgpt_what_has_no_place_is_counted(alice: User) -> None:
    [candidate] = read(alice, chatgpt(gizmo_id="g-1"))

    assert candidate.dropped > 2


def test_openwebui_tree_with_reasoning(alice: User) -> None:
    chat = bring_in(alice, openwebui(system="Be exact."))

    assert path(chat) == [("user", "What is 15 * 17?"), ("assistant", "255")]
    assert chat.messages.get(position=1).reasoning == "15 * 10 + 75"
    assert chat.messages.get(position=1).model_name == "deepseek-r1"
    assert chat.messages.get(active=False).content == "What is 15 * 71?"
    assert chat.system_prompt == "Be exact."


def test_openwebui_old_list_and_single_chat(alice: User) -> None:
    told = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}]
    single = openwebui()["chat"]

    assert path(bring_in(alice, {"id": "old", "chat": {"title": "Old", "messages": told}})) == [
        ("user", "Hello"),
        ("assistant", "Hi."),
    ]
    assert path(bring_in(alice, single))[1] == ("assistant", "255")


def test_openwebui_details_that_never_end_are_read_once() -> None:
    assert without_work("<details " * 50_000)[1] == ""
    assert (
        without_work("a <details><summary>x</summary>y</details> b")[0]
        == "a <details><summary>x</summary>y</details> b"
    )


@pytest.mark.parametrize("is_nested", [True, False])
def test_librechat_nested_or_flat_is_the_same_tree(alice: User, is_nested: bool) -> None:
    chat = bring_in(alice, librechat(is_nested=is_nested))

    assert path(chat) == [("user", "How much fuel?"), ("assistant", "Nine litres."), ("user", "And empty?")]
    assert chat.messages.get(active=False).content == "Eight litres."
    assert chat.messages.get(content="Nine litres.").reasoning == "The van is full."
    assert (chat.title, chat.system_prompt) == ("Fuel", "Be brief.")


def test_librechat_long_talk_nests_by_thousands(alice: User) -> None:
    inner: list[Any] = []
    for number in reversed(range(2_000)):
        inner = [libre_message(f"m{number}", "", text=f"Word {number}", isCreatedByUser=not number % 2, children=inner)]
    text = nested_json(inner)

    [candidate] = list(read_chats([text], owner_id=alice.pk, usable={}))

    assert candidate.original, candidate.problem
    assert len(candidate.original.messages) == 2_000
    assert candidate.original.messages[2_000].active


def nested_json(messages: list[Any]) -> bytes:
    """json.dumps would need as many levels itself."""
    opening, closing = [], []
    while messages:
        [message] = messages
        messages = message.pop("children")
        opening.append(as_json(message)[:-1] + b', "children": [')
        closing.append(b"]}")
    return b'{"conversationId": "deep", "messagesTree": [' + b"".join(opening + closing) + b"]}"


def test_imported_chat_makes_a_request_that_every_endpoint_takes(alice: User) -> None:
    nodes = {
        "a0": chatgpt_node("ctx", "assistant", "Welcome."),
        "u1": chatgpt_node("a0", "user", "First."),
        "u2": chatgpt_node("u1", "user", "Second."),
        "a1": chatgpt_node("u2", "assistant", "Yes."),
    }
    make_model()

    chat = bring_in(alice, chatgpt(nodes, current_node="a1"))

    roles = [message["role"] for message in json.loads(read_request(chat.pk).raw_json)["messages"]]
    assert all(one != other for one, other in pairwise(roles))


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (chatgpt({"u": chatgpt_node("u", "user", "My own parent.")}), "broken_links"),
        (
            chatgpt({"u": chatgpt_node("a", "user", "Round"), "a": chatgpt_node("u", "assistant", "and")}),
            "broken_links",
        ),
        (chatgpt({}), "no_messages"),
        (chatgpt(mapping={"u": 5, "v": None, "w": {"message": "x", "parent": 7}}), "no_messages"),
        (openwebui(history={"messages": {"a": 1}, "currentId": {}}), "no_messages"),
        (librechat(messagesTree=[libre_message("a", "b", text="x"), libre_message("a", "b", text="y")]), "same_id"),
        (librechat(messagesTree=[libre_message("a", "a", text="x")]), "broken_links"),
        (librechat(messagesTree=["x", None, 5]), "no_messages"),
        ({"title": "no chat"}, "no_chat"),
        (7, "no_chat"),
    ],
)
def test_conversation_that_is_broken_is_left_out_with_its_reason(alice: User, raw: Any, code: str) -> None:
    broken, good = read(alice, raw, openwebui())

    assert (broken.original, broken.problem) == (None, code)
    assert good.original


def test_parent_that_is_not_there_begins_the_talk(alice: User) -> None:
    chat = bring_in(alice, chatgpt({"u": chatgpt_node("gone", "user", "Hello")}, current_node="nowhere"))

    assert path(chat) == [("user", "Hello")]


def test_hostile_values_are_harmless(alice: User) -> None:
    script = "<script>alert(1)</script>\0\ud800"
    nodes = {
        "u": chatgpt_node("ctx", "user", script, metadata={"attachments": [{"name": 5}, "x"]}),
        "a": chatgpt_node("u", "assistant", script, {"text": ["no text"]}, metadata={"model_slug": "m" * 900}),
    }
    nodes["u"]["message"]["create_time"] = 1e300
    nodes["a"]["message"]["create_time"] = -5e14
    raw = chatgpt(nodes, name=12345, title="T" * 10_240, current_node=99, create_time="0001-01-01", update_time=[])

    chat = bring_in(alice, raw)

    assert len(chat.title) == 200
    assert chat.messages.get(position=0).content == "<script>alert(1)</script>\ufffd\ufffd"
    assert len(chat.messages.get(position=1).model_name) == 200
    assert 1970 <= chat.created_at.year <= 2100


def test_conversation_keeps_its_key_when_it_has_grown(alice: User) -> None:
    grown = chatgpt()
    grown["mapping"]["u9"] = chatgpt_node("a2", "user", "And then?")

    before, after = read(alice, chatgpt(update_time=5), grown)

    assert before.key == after.key
    assert before.state != after.state
    assert read(alice, chatgpt(update_time=6, safe_urls=[]))[0].state == before.state


def test_webui_message_of_a_system_is_a_step_that_nobody_saw(alice: User) -> None:
    messages = {
        "s": webui_message(None, "system", "Secret", ["u"]),
        "u": webui_message("s", "user", [{"type": "text", "text": "Hello"}], [], files=[{"name": "plan.pdf"}]),
    }

    chat = bring_in(alice, openwebui(history={"messages": messages, "currentId": "u"}))

    assert path(chat) == [("user", "Hello\n\n[Attached: plan.pdf]")]
