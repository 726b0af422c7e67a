"""Rows for tests, made with as few words as the test needs; every default can be named."""

from __future__ import annotations

from itertools import count
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.models import Chat, Compaction, Endpoint, LanguageModel, Message

_numbers = count(1)


def make_user(name: str = "", *, password: str = "", **facts: Any) -> User:
    name = name or f"person{next(_numbers)}"
    user = get_user_model().objects.create_user(username=name, email=f"{name}@example.org", **facts)
    if password:
        user.set_password(password)
        user.save()
    return user


def make_model(
    name: str = "small", *, base_url: str = "http://127.0.0.1:9/v1", window: int = 0, **facts: Any
) -> LanguageModel:
    endpoint, _ = Endpoint.objects.get_or_create(name=f"endpoint at {base_url}", defaults={"base_url": base_url})
    return LanguageModel.objects.create(endpoint=endpoint, name=name, window_reported=window, **facts)


def make_chat(owner: User | None = None, *texts: str, model: LanguageModel | None = None, **facts: Any) -> Chat:
    """A chat whose messages are `texts`, user and assistant in turns, all complete."""
    chat = Chat.objects.create(owner=owner or make_user(), model=model, title="A chat", **facts)
    add_messages(chat, *texts)
    return chat


def add_messages(chat: Chat, *texts: str, **facts: Any) -> list[Message]:
    last = chat.messages.filter(active=True).order_by("-position").first()
    added = []
    for text in texts:
        position = last.position + 1 if last else 0
        role = Message.Role.ASSISTANT if position % 2 else Message.Role.USER
        last = Message.objects.create(
            chat=chat, parent=last, position=position, role=role, content=text, **(facts if position % 2 else {})
        )
        added.append(last)
    return added


def fold(chat: Chat, *, through: int, summary: str = "What was said before.") -> Compaction:
    """An applied compaction up to and with the position `through`, as history would have recorded it."""
    boundary = chat.messages.get(active=True, position=through)
    now = timezone.now()
    compaction = Compaction.objects.create(
        chat=chat,
        trigger=Compaction.Trigger.BUTTON,
        status=Compaction.Status.APPLIED,
        through=boundary,
        from_position=0,
        through_position=through,
        message_count=through + 1,
        summary=summary,
        segments=[{"text": summary, "compaction_id": 0, "from_position": 0, "through_position": through}],
        tokens_before=1000,
        tokens_after=200,
        ended_at=now,
    )
    Chat.objects.filter(pk=chat.pk).update(summary=summary, compacted_through=boundary, compacted_at=now)
    chat.refresh_from_db()
    return compaction
