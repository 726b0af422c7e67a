"""LibreChat's export: one conversation, its messages flat with `parentMessageId` or nested by `children`."""

from __future__ import annotations

from typing import Any

from chatapp.archives.checking import BadChat
from chatapp.archives.foreign import (
    ASSISTANT,
    USER,
    Conversation,
    Node,
    attached,
    count_dropped,
    dict_of,
    fenced,
    key_of,
    list_of,
    paragraphs,
    text_of,
    time_of,
)

KIND = "librechat"
NO_PARENT = "00000000-0000-0000-0000-000000000000"
_USED_OF_CHAT = frozenset(
    ["conversationId", "title", "options", "messages", "messagesTree", "branches", "recursive", "exportAt"]
)
_USED_OF_MESSAGE = frozenset(
    [
        "messageId",
        "parentMessageId",
        "children",
        "text",
        "content",
        "isCreatedByUser",
        "sender",
        "model",
        "createdAt",
        "files",
        "attachments",
    ]
)


def is_chat(raw: dict[str, Any]) -> bool:
    return "conversationId" in raw and isinstance(raw.get("messagesTree", raw.get("messages")), list)


def read(raw: dict[str, Any]) -> Conversation:
    options = dict_of(raw.get("options"))
    nodes: dict[str, Node] = {}
    dropped = count_dropped(raw, _USED_OF_CHAT)
    for parent, message in _flat(list_of(raw.get("messagesTree", raw.get("messages")))):
        key = key_of(message.get("messageId")) or f"#{len(nodes)}"
        if key in nodes:
            raise BadChat("same_id")
        nodes[key] = _node(parent, message)
        dropped += count_dropped(message, _USED_OF_MESSAGE)
    times = [node.created for node in nodes.values() if node.created]
    return Conversation(
        KIND,
        key_of(raw.get("conversationId")) or "",
        text_of(raw.get("title")) or text_of(options.get("title")),
        nodes,
        system_prompt=text_of(options.get("promptPrefix")) or text_of(options.get("system")),
        model=text_of(options.get("model")),
        created=min(times, default=None),
        changed=max(times, default=None),
        dropped=dropped,
    )


def _flat(messages: list[Any]) -> list[tuple[str | None, dict[str, Any]]]:
    """Each message behind its parent's key, in the file's order, without recursion: a long talk nests deeply."""
    found: list[tuple[str | None, dict[str, Any]]] = []
    waiting: list[tuple[str | None, Any]] = [(None, one) for one in reversed(messages)]
    while waiting:
        above, value = waiting.pop()
        message = dict_of(value)
        own = key_of(message.get("parentMessageId"))
        found.append((above or (own if own != NO_PARENT else None), message))
        key = key_of(message.get("messageId"))
        waiting += [(key, child) for child in reversed(list_of(message.get("children")))]
    return found


def _node(parent: str | None, message: dict[str, Any]) -> Node:
    is_user = message.get("isCreatedByUser")
    if not isinstance(is_user, bool):
        is_user = text_of(message.get("sender")).lower() == "user"
    said, thought = _parts(list_of(message.get("content")))
    files = [dict_of(one) for one in [*list_of(message.get("files")), *list_of(message.get("attachments"))]]
    return Node(
        parent,
        USER if is_user else ASSISTANT,
        content=paragraphs([said or text_of(message.get("text")), attached([_file_name(one) for one in files])]),
        reasoning=thought,
        model="" if is_user else text_of(message.get("model")) or text_of(message.get("sender")),
        created=time_of(message.get("createdAt")),
    )


def _file_name(file: dict[str, Any]) -> str:
    return text_of(file.get("filename")) or "a file"


def _parts(parts: list[Any]) -> tuple[str, str]:
    """Text, and what was thought and done for it."""
    said, thought = [], []
    for value in parts:
        part = dict_of(value)
        kind = part.get("type")
        if kind == "think":
            thought.append(_value(part.get("think")))
        elif kind == "tool_call":
            call = dict_of(part.get("tool_call"))
            thought.append(text_of(call.get("name")))
            thought += [
                fenced(text) for text in (text_of(call.get("args")), text_of(call.get("output"))) if text.strip()
            ]
        else:
            said.append(_value(part.get(kind)) if isinstance(kind, str) else "")
    return paragraphs(said), paragraphs(thought)


def _value(value: Any) -> str:
    """A text, or an object that holds it as `value`."""
    return text_of(dict_of(value).get("value")) or text_of(value)
