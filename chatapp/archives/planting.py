"""A foreign conversation as rows: its branches become our versions, and a row of its nodes our one reply."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from chatapp.archives.checking import BadChat
from chatapp.archives.foreign import ASSISTANT, Conversation, Node, paragraphs
from chatapp.history.copying import Original
from chatapp.models import Chat, LanguageModel, Message

MOST_MESSAGES = 100_000


@dataclass(slots=True)
class _Place:
    """A node on its way: under which row it comes, and whether it is the only thing that follows it."""

    key: str
    parent: int | None
    is_alone: bool


def plant(conversation: Conversation, *, owner_id: int, usable: Mapping[str, LanguageModel]) -> Original:
    """The rows, unstored. Raises BadChat: broken_links for a circle, no_messages, too_many."""
    messages, row_of = _rows(conversation)
    if not messages:
        raise BadChat("no_messages")
    _activate(messages, _last(conversation, messages, row_of))
    created = conversation.created or min(message.created_at for message in messages.values())
    chat = Chat(
        owner_id=owner_id,
        title=" ".join(conversation.title.split())[:200],
        titled_by_hand=bool(conversation.title.strip()),
        model=_model(conversation, messages, usable),
        system_prompt=conversation.system_prompt,
        created_at=created,
        touched_at=max(created, conversation.changed or created),
    )
    return Original(chat, messages, {})


def state_of(original: Original) -> str:
    """The same for the same messages: a conversation that has grown or changed since has another."""
    said = [(each.parent_id, each.role, each.content, each.reasoning) for each in original.messages.values()]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _rows(conversation: Conversation) -> tuple[dict[int, Message], dict[str, int | None]]:
    """Numbered from 1, parents and older versions first; and which row each node has become a part of."""
    nodes, children = conversation.nodes, _children(conversation.nodes)
    messages: dict[int, Message] = {}
    row_of: dict[str, int | None] = {}
    roots = children.pop(None, [])
    waiting = [_Place(key, None, is_alone=len(roots) == 1) for key in reversed(roots)]
    while waiting:
        place = waiting.pop()
        node = nodes[place.key]
        row = place.parent
        if not node.is_hidden:
            above = messages[row] if row else None
            if row and above and place.is_alone and above.role == node.role == ASSISTANT:
                _append(above, node)
            else:
                row = len(messages) + 1
                messages[row] = _row(node, place.parent, above, conversation)
        row_of[place.key] = row
        below = children.pop(place.key, [])
        is_alone = len(below) == 1 and (place.is_alone or not node.is_hidden)
        waiting += [_Place(key, row, is_alone=is_alone) for key in reversed(below)]
        if len(messages) > MOST_MESSAGES:
            raise BadChat("too_many")
    if children:  # reached from no beginning: they go round in a circle
        raise BadChat("broken_links")
    return messages, row_of


def _children(nodes: Mapping[str, Node]) -> dict[str | None, list[str]]:
    """By parent; what hangs on a node that isn't there begins the talk."""
    children: dict[str | None, list[str]] = {}
    for key, node in nodes.items():
        children.setdefault(node.parent if node.parent in nodes else None, []).append(key)
    return children


def _row(node: Node, parent: int | None, above: Message | None, conversation: Conversation) -> Message:
    return Message(
        parent_id=parent,
        position=above.position + 1 if above else 0,
        active=False,
        role=node.role,
        content=node.content,
        reasoning=node.reasoning,
        model_name=node.model[:200],
        created_at=node.created or (above.created_at if above else conversation.created) or timezone.now(),
    )


def _append(row: Message, node: Node) -> None:
    row.content = paragraphs([row.content, node.content])
    row.reasoning = paragraphs([row.reasoning, node.reasoning])
    row.model_name = node.model[:200] or row.model_name


def _last(conversation: Conversation, messages: Mapping[int, Message], row_of: Mapping[str, int | None]) -> int:
    """The row at which the path ends that was shown; the newest one where the file doesn't say."""
    said = row_of.get(conversation.current) if conversation.current is not None else None
    return said or max(messages, key=lambda number: (messages[number].created_at, number))


def _activate(messages: Mapping[int, Message], last: int) -> None:
    here: int | None = last
    while here is not None:
        messages[here].active = True
        here = messages[here].parent_id


def _model(
    conversation: Conversation, messages: Mapping[int, Message], usable: Mapping[str, LanguageModel]
) -> LanguageModel | None:
    """The one that wrote last, where it is here, too."""
    names = [each.model_name for each in messages.values() if each.active and each.model_name]
    return usable.get(names[-1] if names else conversation.model)
