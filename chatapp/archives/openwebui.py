"""Open WebUI's export: `chat.history.messages` by id with `parentId`, and the `currentId`; in old ones a plain list.

A reply holds its reasoning and the calls of tools as `<details>` in its text.
"""

from __future__ import annotations

import html
from typing import Any

from chatapp.archives.foreign import (
    ASSISTANT,
    USER,
    Conversation,
    Node,
    attached,
    count_dropped,
    dict_of,
    key_of,
    list_of,
    paragraphs,
    text_of,
    time_of,
)

KIND = "openwebui"
_OPENING, _CLOSING = "<details", "</details>"
_WORK = ('type="reasoning"', 'type="tool_calls"', 'type="code_interpreter"')
_USED_OF_CHAT = frozenset(
    [
        "id",
        "title",
        "chat",
        "created_at",
        "updated_at",
        "history",
        "messages",
        "models",
        "system",
        "timestamp",
        "params",
    ]
)
_USED_OF_MESSAGE = frozenset(
    ["id", "parentId", "childrenIds", "role", "content", "model", "timestamp", "files", "output"]
)


def is_chat(raw: dict[str, Any]) -> bool:
    chat = raw.get("chat") if isinstance(raw.get("chat"), dict) else raw
    history = dict_of(dict_of(chat).get("history"))
    if isinstance(history.get("messages"), dict):
        return True
    return chat is not raw and isinstance(dict_of(chat).get("messages"), list)


def read(raw: dict[str, Any]) -> Conversation:
    chat = raw["chat"] if isinstance(raw.get("chat"), dict) else raw
    history = dict_of(chat.get("history"))
    messages = dict_of(history.get("messages"))
    listed = _of_list(list_of(chat.get("messages"))) if not messages else None
    nodes = {key: _node(key_of(dict_of(one).get("parentId")), dict_of(one)) for key, one in messages.items()}
    models = [text_of(name) for name in list_of(chat.get("models"))]
    system = text_of(chat.get("system")) or text_of(dict_of(chat.get("params")).get("system"))
    dropped = sum(count_dropped(dict_of(one), _USED_OF_MESSAGE) for one in messages.values())
    return Conversation(
        KIND,
        key_of(raw.get("id")) or "",
        text_of(raw.get("title")) or text_of(chat.get("title")),
        nodes or listed or {},
        current=key_of(history.get("currentId")),
        system_prompt=system,
        model=models[0] if models else "",
        created=time_of(raw.get("created_at")) or time_of(chat.get("timestamp")),
        changed=time_of(raw.get("updated_at")),
        dropped=dropped
        + count_dropped(chat, _USED_OF_CHAT)
        + (0 if chat is raw else count_dropped(raw, _USED_OF_CHAT)),
    )


def _of_list(messages: list[Any]) -> dict[str, Node]:
    """One after the other, whatever they say of themselves: this layout had no versions."""
    nodes: dict[str, Node] = {}
    before = None
    for number, one in enumerate(messages):
        nodes[str(number)] = _node(before, dict_of(one))
        before = str(number)
    return nodes


def _node(parent: str | None, message: dict[str, Any]) -> Node:
    role = message.get("role")
    if role not in {USER, ASSISTANT}:
        return Node(parent)
    said = _text(message.get("content")) or _text_of_output(message.get("output"))
    content, reasoning = (said, "") if role == USER else without_work(said)
    files = [dict_of(one) for one in list_of(message.get("files"))]
    names = [text_of(one.get("name")) or text_of(dict_of(one.get("file")).get("filename")) for one in files]
    return Node(
        parent,
        str(role),
        content=paragraphs([content, attached([name or "a file" for name in names])]),
        reasoning=reasoning,
        model="" if role == USER else text_of(message.get("model")),
        created=time_of(message.get("timestamp")),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return paragraphs([text_of(dict_of(part).get("text")) for part in content])
    return text_of(content)


def _text_of_output(output: Any) -> str:
    spoken = [dict_of(one) for one in list_of(output)]
    return paragraphs([_text(one.get("content")) for one in spoken if one.get("type") == "message"])


def without_work(text: str) -> tuple[str, str]:
    """A reply's text, and what stood in it as `<details>` of reasoning and tools. Each character is looked at once."""
    said, work, at = [], [], 0
    while (start := text.find(_OPENING, at)) >= 0:
        head = text.find(">", start)
        end = text.find(_CLOSING, start)
        if head < 0 or end < 0:
            break
        if any(kind in text[start : min(head, start + 2000)] for kind in _WORK):
            said.append(text[at:start])
            work.append(_plain(text[head + 1 : end]))
        else:
            said.append(text[at : end + len(_CLOSING)])
        at = end + len(_CLOSING)
    said.append(text[at:])
    return "".join(said).strip(), paragraphs(work)


def _plain(inner: str) -> str:
    """Without the summary ("Thought for 3 seconds") and the marks of a quotation."""
    if "</summary>" in inner:
        inner = inner.partition("</summary>")[2]
    lines = html.unescape(inner).strip().splitlines()
    return "\n".join(line.removeprefix("> ").removeprefix(">") for line in lines)
