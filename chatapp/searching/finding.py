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
from django.db.models.functions import StrIndex
from django.db.models.lookups import GreaterThan
from django.utils.safestring import SafeString

from chatapp.models import Chat, Message
from chatapp.models.chats import ChatQuerySet
from chatapp.searching import sqlite
from chatapp.searching.marking import snippet
from chatapp.searching.wording import Query, Term, read_query

MOST = 50
MOST_CHATS = 10
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

    Only in chats of the person's own; nothing deleted, nothing that is still being written.
    """
    query = read_query(text)
    chats = _titled(Chat.objects.for_user(user), query.title)
    hits = [] if query.only_archived else [*_titles(chats, query), *_summaries(chats, query)]
    return [*hits, *_messages(chats, query, most=MOST - len(hits))]


def find_chats(user: AbstractBaseUser | AnonymousUser, text: str, *, most: int = 12) -> list[Chat]:
    """Chats by their titles, the newest first; the newest of all where nothing is asked for."""
    return list(_titled(Chat.objects.for_user(user), read_query(text).terms).for_list().newest_first()[:most])


def _titled(chats: ChatQuerySet, terms: list[Term]) -> ChatQuerySet:
    literal, words = _parted(terms)
    found = _holding(chats, "title", literal)
    return chats.filter(pk__in=text_search().matching(found, "title", words).values("pk")) if words else found


def _titles(chats: ChatQuerySet, query: Query) -> Iterator[Hit]:
    terms = query.terms or query.title
    for chat in _ranked(chats, "title", terms, query, when="touched_at", most=MOST_CHATS):
        yield Hit("title", chat.pk, str(chat), snippet(chat.title, terms), chat.touched_at)


def _summaries(chats: ChatQuerySet, query: Query) -> Iterator[Hit]:
    for chat in _ranked(chats, "summary", query.terms, query, when="compacted_at", most=MOST_CHATS):
        yield Hit("summary", chat.pk, str(chat), snippet(chat.summary, query.terms), chat.compacted_at)


def _messages(chats: ChatQuerySet, query: Query, *, most: int) -> Iterator[Hit]:
    messages = Message.objects.filter(chat__in=chats, role__in=SAID, deleted_at=None)
    messages = messages.exclude(status__in=Message.LIVE_STATUSES)
    if query.only_archived:
        messages = messages.filter(active=True, position__lte=F("chat__compacted_through__position"))
    for message in _ranked(messages, "content", query.terms, query, when="created_at", most=most):
        boundary = message.chat.compacted_through
        yield Hit(
            "message",
            message.chat_id,
            str(message.chat),
            snippet(message.content, query.terms),
            message.created_at,
            role=message.role,
            message_id=message.pk,
            position=message.position,
            is_active=message.active,
            is_archived=message.active and boundary is not None and message.position <= boundary.position,
        )


def _ranked(
    rows: QuerySet[Row], column: str, terms: list[Term], query: Query, *, when: str, most: int
) -> QuerySet[Row]:
    """None without a term."""
    if not terms:
        return rows.none()
    if query.before:
        rows = rows.filter(**{f"{when}__lt": query.before})
    if query.after:
        rows = rows.filter(**{f"{when}__gte": query.after})
    literal, words = _parted(terms)
    rows = _holding(rows, column, literal)
    found = text_search().ranked(rows, column, words, when=when) if words else rows.order_by(f"-{when}")
    return found[:most]


def _parted(terms: list[Term]) -> tuple[list[Term], list[Term]]:
    """What is found by its very characters, and what by the database's text search."""
    return [term for term in terms if term.is_literal], [term for term in terms if not term.is_literal]


def _holding(rows: Rows, column: str, literal: list[Term]) -> Rows:
    return rows.filter(*[GreaterThan(StrIndex(F(column), Value(term.text)), 0) for term in literal])


def text_search() -> ModuleType:
    """What the database in use can do."""
    if connection.vendor == "postgresql":
        from chatapp.searching import postgres  # noqa: PLC0415 (needs that database's driver)

        return postgres
    return sqlite
