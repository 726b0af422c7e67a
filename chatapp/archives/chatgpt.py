"""ChatGPT's export: a `mapping` of nodes with `parent`, and the `current_node` that was shown.

One reply is often a row of nodes there: thoughts, code for a tool, the tool's output, at last the text. All that isn't
the text is kept as the reply's reasoning. Hidden nodes are steps that nobody saw.
"""

from __future__ import annotations

import re
from typing import Any

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

KIND = "chatgpt"
# Marks of citations, in the private use area: what they point at isn't in the export.
_CITATION = re.compile("\ue200[^\ue201]{0,500}\ue201")
_HIDDEN = frozenset({"user_editable_context", "model_editable_context"})
_USED_OF_CHAT = frozenset(
    ["title", "id", "conversation_id", "create_time", "update_time", "mapping", "current_node", "default_model_slug"]
)
_USED_OF_MESSAGE = frozenset(["id", "author", "create_time", "content", "recipient"])
_USED_OF_METADATA = frozenset(["model_slug", "attachments", "is_visually_hidden_from_conversation"])


def is_chat(raw: dict[str, Any]) -> bool:
    return isinstance(raw.get("mapping"), dict)


def read(raw: dict[str, Any]) -> Conversation:
    dropped = count_dropped(raw, _USED_OF_CHAT)
    nodes = {}
    for key, value in raw["mapping"].items():
        node = dict_of(value)
        message = dict_of(node.get("message"))
        nodes[key] = _node(key_of(node.get("parent")), message)
        dropped += count_dropped(message, _USED_OF_MESSAGE)
        dropped += count_dropped(dict_of(message.get("metadata")), _USED_OF_METADATA)
    return Conversation(
        KIND,
        key_of(raw.get("conversation_id")) or key_of(raw.get("id")) or "",
        text_of(raw.get("title")),
        nodes,
        current=key_of(raw.get("current_node")),
        model=text_of(raw.get("default_model_slug")),
        created=time_of(raw.get("create_time")),
        changed=time_of(raw.get("update_time")),
        dropped=dropped,
    )


def _node(parent: str | None, message: dict[str, Any]) -> Node:
    metadata, content = dict_of(message.get("metadata")), dict_of(message.get("content"))
    author = dict_of(message.get("author")).get("role")
    kind = text_of(content.get("content_type"))
    if author not in {USER, ASSISTANT, "tool"} or kind in _HIDDEN:
        return Node(parent)
    if metadata.get("is_visually_hidden_from_conversation"):
        return Node(parent)
    said, files = _said(kind, content)
    names = [text_of(dict_of(one).get("name")) for one in list_of(metadata.get("attachments"))]
    is_work = author == "tool" or kind in {"thoughts", "reasoning_recap"}
    is_work = is_work or (author == ASSISTANT and message.get("recipient") not in {None, "all"})
    shown = [] if is_work else [said]
    return Node(
        parent,
        USER if author == USER else ASSISTANT,
        content=paragraphs([*shown, attached(names or files)]),
        reasoning=said if is_work else "",
        model="" if author == USER else text_of(metadata.get("model_slug")),
        created=time_of(message.get("create_time")),
    )


def _said(kind: str, content: dict[str, Any]) -> tuple[str, list[str]]:
    """The text, and what files it shows."""
    text = text_of(content.get("text"))
    if kind == "thoughts":
        return paragraphs([_thought(dict_of(one)) for one in list_of(content.get("thoughts"))]), []
    if kind == "reasoning_recap":
        return text_of(content.get("content")) or text, []
    if kind in {"code", "execution_output"}:
        language = text_of(content.get("language"))
        return (fenced(text, "" if language == "unknown" else language) if text.strip() else ""), []
    texts, files = [text, text_of(content.get("result"))], []
    for part in list_of(content.get("parts")):
        if isinstance(part, str):
            texts.append(text_of(part))
            continue
        inner = dict_of(part)
        texts.append(text_of(inner.get("text")))
        if "asset_pointer" in inner:
            files.append(text_of(inner["asset_pointer"]).rpartition("/")[2] or "a file")
    return _CITATION.sub("", paragraphs(texts)), files


def _thought(one: dict[str, Any]) -> str:
    summary, said = text_of(one.get("summary")), text_of(one.get("content"))
    return paragraphs([f"**{summary.strip()}**" if summary.strip() and said.strip() else summary, said])
