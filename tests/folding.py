"""What tests of compaction share: a long chat, a summariser, and the requests that came in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chatapp.database import in_database
from chatapp.models import Chat, Compaction, LanguageModel, Message
from chatapp.runs.titles import LONGEST_TITLE_TOKENS
from tests.factories import add_messages, make_chat
from tests.scripted import Answer, json_error, reply
from tests.visiting import Visitor, compactions_of, settled

SUMMARY = "The person asked about bread, and learned that the dough wants a warmer place and more time in winter."
WORDS = "Bread wants time, warmth and patience, and then some more of each. " * 12

TOO_LONG = json_error(
    400,
    {"error": {"message": "maximum context length is 2600 tokens", "code": "context_length_exceeded", "type": "x"}},
)


def is_summary_request(payload: dict[str, Any]) -> bool:
    return "max_tokens" in payload


def is_title_request(payload: dict[str, Any]) -> bool:
    return payload.get("max_tokens") == LONGEST_TITLE_TOKENS


def summarising(summary: str | Answer = SUMMARY, answer: str = "An answer.") -> Callable[[dict[str, Any]], Any]:
    """An endpoint that writes `summary` (a text or a script) when asked for one, and answers otherwise."""

    def script(payload: dict[str, Any]) -> Any:
        if not is_summary_request(payload):
            return reply(answer, usage=None)
        if callable(summary):
            return summary(payload)
        return reply(summary) if isinstance(summary, str) else summary

    return script


async def long_chat(visitor: Visitor, *, turns: int = 6, window: int = 0, **facts: Any) -> Chat:
    """A chat of `turns` long turns, about 170 tokens a message; its title is settled."""

    def make() -> Chat:
        LanguageModel.objects.update(window_reported=window)
        chat = make_chat(visitor.user, model=LanguageModel.objects.get(), titled_by_hand=True, **facts)
        add_messages(chat, *[f"{number}: {WORDS}" for number in range(2 * turns)])
        return chat

    return await in_database(make)


async def press(visitor: Visitor, chat: Chat, **wishes: Any) -> Compaction:
    response = await visitor.post(f"/chats/{chat.pk}/compact/", **wishes)
    assert response.status_code == 200, response.content.decode()
    await settled(chat)
    return (await compactions_of(chat))[-1]


async def message_at(chat: Chat, position: int) -> Message:
    return await in_database(chat.messages.on_path().get, position=position)


async def pin(visitor: Visitor, chat: Chat, position: int, *, pinned: bool = True) -> int:
    """The status of the answer."""
    message = await message_at(chat, position)
    response = await visitor.post(f"/chats/{chat.pk}/messages/{message.pk}/pin/", pinned=int(pinned))
    return response.status_code


def summary_calls(visitor: Visitor) -> list[dict[str, Any]]:
    return [payload for payload in visitor.endpoint.payloads if is_summary_request(payload)]


def sent(visitor: Visitor) -> list[dict[str, Any]]:
    """The messages of the newest request."""
    messages: list[dict[str, Any]] = visitor.endpoint.payloads[-1]["messages"]
    return messages
