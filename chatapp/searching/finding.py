"""One question to titles, summaries and messages of a person's chats, whatever database they are in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any, Literal, TypeVar
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection
from django.db.models import F, Model, QuerySet, Value
from django.db.models.functions import Left, StrIndex
from django.db.models.lookups import GreaterThan
from django.utils.safestring import SafeString

from chatapp.models import Chat, Message
from chatapp.models.chats import ChatQuerySet
from chatapp.searching import postgres, sqlite
from chatapp.searching.marking import Marker
from chatapp.searching.wording import Query, Term, read_query

MOST = 50
MOST_CHATS = 10
# Relevance is worked out from the text itself, so for the newest alone: a common word is in every message.
JUDGED = 300
JUDGED_CHARACTERS = 20_000
SAID = (Message.Role.USER, Message.Role.ASSISTANT)

Row = TypeVar("Row", bound=Model)
Rows = TypeVar("Rows", bound=QuerySet[Any])


@dataclass(frozen=True, slots=True)
class Hit:
    """`message_id` and `position` belong to a message alone; `is_active`: it is on the path that the chat shows."""

    kind: Literal["title", "summary", "message"]
    chat_id: UUID
    title: str
    snippet: SafeString
    when: datetime | None
    role: str = ""
    message_id: int | None = None
    position: int | None = None
    is_active: bool = True
    is_archived: bool = False


def search(user: AbstractBaseUser | AnonymousUser, text: str) -> list[Hit]:
    """At most fifty: chats by their titles, then summaries, then messages, each by relevance, then the newest first.

    The relevance of the newest 300 of each is looked at.

    Only in chats of the person's own; nothing deleted, nothing that is still being written.
    """
    query = read_query(text)
    if not (query.terms or query.title):
        return []
    marker = Marker(query.terms or query.title)
    chats = _titled(Chat.objects.for_user(user), query.title)
    hits = [] if query.only_archived else [*_titles(chats, query, marker), *_summaries(chats, query, marker)]
    return [*hits, *_messages(chats, query, marker, most=MOST - len(hits))]


def find_chats(user: AbstractBaseUser | AnonymousUser, text: str, *, most: int = 12) -> list[Chat]:
    """Chats by their titles, the newest first; the newest of all where nothing is asked for."""
    return list(_titled(Chat.objects.for_user(user), read_query(text).terms).for_list().newest_first()[:most])


def _titled(chats: ChatQuerySet, terms: list[Term]) -> ChatQuerySet:
    literal, words = _parted(terms)
    found = _holding(chats, "title", literal)
    return chats.filter(pk__in=text_search().matching(found, "title", words).values("pk")) if words else found


def _titles(chats: ChatQuerySet, query: Query, marker: Marker) -> Iterator[Hit]:
    terms = query.terms or query.title
    found = _newest_chats(_in_time(chats, "touched_at", query), "title", terms, when="touched_at")
    for chat in _most_relevant(found, "title", marker, most=MOST_CHATS):
        yield Hit("title", chat.pk, str(chat), marker.snippet(chat.title), chat.touched_at)


def _summaries(chats: ChatQuerySet, query: Query, marker: Marker) -> Iterator[Hit]:
    if not query.terms:
        return
    found = _newest_chats(_in_time(chats, "compacted_at", query), "summary", query.terms, when="compacted_at")
    for chat in _most_relevant(found, "summary", marker, most=MOST_CHATS):
        yield Hit("summary", chat.pk, str(chat), marker.snippet(chat.summary), chat.compacted_at)


def _messages(chats: ChatQuerySet, query: Query, marker: Marker, *, most: int) -> Iterator[Hit]:
    if not query.terms:
        return
    messages = Message.objects.filter(chat__in=chats, role__in=SAID, deleted_at=None)
    messages = _in_time(messages.exclude(status__in=Message.LIVE_STATUSES), "created_at", query)
    if query.only_archived:
        messages = messages.filter(active=True, position__lte=F("chat__compacted_through__position"))
    literal, words = _parted(query.terms)
    messages = _holding(messages, "content", literal)
    found = text_search().newest_messages(messages, words) if words else messages.order_by("-pk")
    for message in _most_relevant(found, "content", marker, "chat__compacted_through", most=most):
        boundary = message.chat.compacted_through
        yield Hit(
            "message",
            message.chat_id,
            str(message.chat),
            marker.snippet(message.content),
            message.created_at,
            role=message.role,
            message_id=message.pk,
            position=message.position,
            is_active=message.active,
            is_archived=message.active and boundary is not None and message.position <= boundary.position,
        )


def _in_time(rows: Rows, when: str, query: Query) -> Rows:
    if query.before:
        rows = rows.filter(**{f"{when}__lt": query.before})
    return rows.filter(**{f"{when}__gte": query.after}) if query.after else rows


def _newest_chats(chats: ChatQuerySet, column: str, terms: list[Term], *, when: str) -> QuerySet[Chat]:
    literal, words = _parted(terms)
    found = _holding(chats, column, literal)
    return (text_search().matching(found, column, words) if words else found).order_by(f"-{when}")


def _most_relevant(found: QuerySet[Row], column: str, marker: Marker, *related: str, most: int) -> list[Row]:
    """Of the first of what was found; of two alike the first one comes first."""
    judged = list(found.values_list("pk", Left(column, JUDGED_CHARACTERS))[:JUDGED])
    best = sorted(judged, key=lambda row: -marker.relevance(row[1]))[:most]
    rows = found.model._default_manager.select_related(*related).in_bulk([pk for pk, _ in best])  # noqa: SLF001
    return [rows[pk] for pk, _ in best if pk in rows]


def _parted(terms: list[Term]) -> tuple[list[Term], list[Term]]:
    """What is found by its very characters, and what by the database's text search."""
    return [term for term in terms if term.is_literal], [term for term in terms if not term.is_literal]


def _holding(rows: Rows, column: str, literal: list[Term]) -> Rows:
    return rows.filter(*[GreaterThan(StrIndex(F(column), Value(term.text)), 0) for term in literal])


def text_search() -> ModuleType:
    """What the database in use can do."""
    return postgres if connection.vendor == "postgresql" else sqlite
