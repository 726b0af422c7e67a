"""Rows for the admin's tests, made by keyword; what isn't said is small and plain."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from chatapp.models import Chat, Compaction, Endpoint, LanguageModel, Message


def make_endpoint(
    *,
    name: str = "Box",
    kind: Endpoint.Kind = Endpoint.Kind.ADMIN,
    base_url: str = "http://box.example/v1",
    key: str = "",
) -> Endpoint:
    endpoint = Endpoint(name=name, kind=kind, base_url=base_url)
    endpoint.set_key(key)
    endpoint.save()
    return endpoint


def make_model(*, name: str = "qwen3-8b", endpoint: Endpoint | None = None, **columns: Any) -> LanguageModel:
    endpoint = endpoint or Endpoint.objects.filter(name="Box").first() or make_endpoint()
    return LanguageModel.objects.create(name=name, endpoint=endpoint, **columns)


def make_compacted_chat(*, owner: User, title: str, text: str, summary: str) -> Chat:
    chat = Chat.objects.create(owner=owner, title=title)
    message = Message.objects.create(chat=chat, position=0, role=Message.Role.USER, content=text)
    make_compaction(chat=chat, through=message, summary=summary)
    Chat.objects.filter(pk=chat.pk).update(summary=summary, compacted_through=message, compacted_at=timezone.now())
    return chat


def make_compaction(*, chat: Chat, **columns: Any) -> Compaction:
    told = {
        "trigger": Compaction.Trigger.SEND,
        "status": Compaction.Status.APPLIED,
        "tokens_before": 100,
        "tokens_after": 40,
        "calls": 1,
        "prompt_tokens": 90,
        "completion_tokens": 10,
        "model_name": "qwen3-8b",
        "ended_at": timezone.now(),
    }
    return Compaction.objects.create(chat=chat, **(told | columns))
