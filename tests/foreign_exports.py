"""Small exports in the shape that other programs give theirs; every value in them can be named."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

BEGAN = 1_756_000_000.5


def chatgpt_node(
    parent: str | None, role: str, *parts: Any, kind: str = "text", metadata: Any = None, **content: Any
) -> dict[str, Any]:
    """`content` beyond the parts: text, thoughts, language."""
    told = {"content_type": kind, **({"parts": list(parts)} if parts else {}), **content}
    message = {
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": BEGAN + 1,
        "content": told,
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": metadata or {},
        "recipient": "all",
        "channel": None,
    }
    return {"parent": parent, "children": [], "message": message}


def chatgpt(
    nodes: dict[str, Any] | None = None, *, name: Any = "c-1", title: Any = "Rolling back", **facts: Any
) -> dict[str, Any]:
    """One conversation: a hidden beginning, a question, and two versions of its answer of which the second is shown."""
    if nodes is None:
        nodes = {
            "u1": chatgpt_node("ctx", "user", "How do I roll back?"),
            "a1": chatgpt_node("u1", "assistant", "Use `helm`.", metadata={"model_slug": "gpt-4o"}),
            "a2": chatgpt_node("u1", "assistant", "Run `helm rollback`.", metadata={"model_slug": "o4-mini"}),
        }
        facts = {"current_node": "a2"} | facts
    hidden = chatgpt_node("root", "system", "", metadata={"is_visually_hidden_from_conversation": True})
    mapping = {"root": {"parent": None, "children": ["ctx"], "message": None}, "ctx": hidden, **nodes}
    for key, node in mapping.items():
        node["id"] = key
        if node["message"]:
            node["message"]["id"] = key
    return {
        "title": title,
        "create_time": BEGAN,
        "update_time": BEGAN + 400,
        "mapping": mapping,
        "moderation_results": [],
        "conversation_id": name,
        "id": name,
        "default_model_slug": "gpt-5-thinking",
        "is_archived": False,
        "safe_urls": ["https://example.org"],
        **facts,
    }


def openwebui(*, name: str = "w-1", title: str = "Fifteen times", **chat: Any) -> dict[str, Any]:
    """One chat with reasoning in its reply, and a first version of the question."""
    thought = (
        '<details type="reasoning" done="true"><summary>Thought for 3 seconds</summary>\n&gt; 15 * 10 + 75\n</details>'
    )
    messages = {
        "m0": webui_message(None, "user", "What is 15 * 71?", ["m3"]),
        "m1": webui_message(None, "user", "What is 15 * 17?", ["m2"]),
        "m2": webui_message("m1", "assistant", f"{thought}\n255", [], model="deepseek-r1", done=True),
    }
    for key, message in messages.items():
        message["id"] = key
    told = {"title": title, "models": ["deepseek-r1"], "history": {"currentId": "m2", "messages": messages}} | chat
    return {
        "id": name,
        "user_id": "u1",
        "title": title,
        "chat": told,
        "created_at": 1_700_000_000,
        "updated_at": 1_700_000_010,
        "share_id": None,
        "archived": False,
        "meta": {"tags": ["maths"]},
    }


def webui_message(parent: str | None, role: str, content: Any, children: list[str], **facts: Any) -> dict[str, Any]:
    told = {"parentId": parent, "childrenIds": children, "role": role, "content": content, "timestamp": 1_700_000_000}
    return told | facts


def librechat(*, is_nested: bool = True, name: str = "l-1", **facts: Any) -> dict[str, Any]:
    """One conversation: a question, two answers, and what was said to the second."""
    question = libre_message("q", "00000000-0000-0000-0000-000000000000", text="How much fuel?", isCreatedByUser=True)
    first = libre_message("a1", "q", text="Eight litres.", sender="GPT-3.5", isCreatedByUser=False)
    parts = [
        {"type": "think", "think": "The van is full."},
        {"type": "text", "text": {"value": "Nine litres."}},
    ]
    second = libre_message("a2", "q", content=parts, text="", model="gpt-4o", isCreatedByUser=False, minute=2)
    further = libre_message("q2", "a2", text="And empty?", isCreatedByUser=True, minute=3)
    told = {"conversationId": name, "endpoint": "openAI", "title": "Fuel", "exportAt": "16:33:32", "branches": True}
    told["options"] = {"model": "gpt-3.5-turbo", "promptPrefix": "Be brief.", "temperature": 1}
    if is_nested:
        second["children"], question["children"] = [further], [first, second]
        return told | {"recursive": True, "messagesTree": [question]} | facts
    return told | {"recursive": False, "messages": [question, first, second, further]} | facts


def libre_message(key: str, parent: str, *, minute: int = 1, **facts: Any) -> dict[str, Any]:
    made = f"2024-04-09T14:{minute:02d}:05.230Z"
    return {
        "messageId": key,
        "parentMessageId": parent,
        "createdAt": made,
        "unfinished": False,
        "error": False,
        **facts,
    }


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def as_zip(files: dict[str, bytes], *, packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packed) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()
