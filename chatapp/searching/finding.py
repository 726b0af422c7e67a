"""One question to titles, summaries and messages of a person's chats, whatever database they are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any, Literal, TypeVar
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import connection
from django.db.models import F, Model, Q, QuerySet, Value
from django.db.models.functions import Left, StrIndex
from django.db.models.lookups import GreaterThan
from django.utils.safestring import SafeString

from chatapp.models import Chat, Message
from chatapp.models.chats import ChatQuerySet
from chatapp.models.messages import TEXTS
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
    """`message_id` and `position` belong to a message alone; `is_active`: it is on the path that the chat shows.

    `is_folded`: the message is behind the divider; `is_put_away`: its chat is archived.
    """

    kind: Literal["title", "summary", "message"]
    chat_id: UUID
    title: str
    snippet: SafeString
    when: datetime | None
    role: str = ""
    message_id: int | None = None
    position: int | None = None
    is_active: bool = True
    is_folded: bool = False
    is_put_away: bool = False


def search(user: AbstractBaseUser | AnonymousUser, text: str) -> list[Hit]:
    """At most fifty: chats by their titles, then summaries, then messages, each by relevance, then the newest first.

    The relevance of the newest 300 of each is looked at. Where only chats are described, those are what is found.

    Only in chats of the person's own; nothing deleted, nothing that is still being written.
    """
    query = read_query(text)
    if not (query.terms or query.asks_for_chats):
        return []
    marker = Marker(query.terms or query.title)
    chats = _described(_titled(Chat.objects.for_user(user).kept(), query.title), query)
    hits = [] if query.folded is not None else [*_titles(chats, query, marker), *_summaries(chats, query, marker)]
    return [*hits, *_messages(chats, query, marker, most=MOST - len(hits))]


def find_chats(user: AbstractBaseUser | AnonymousUser, text: str, *, most: int = 12) -> list[Chat]:
    """Chats by their titles, the newest first; the newest of the list where nothing is asked for."""
    terms = read_query(text).terms
    chats = Chat.objects.for_user(user).kept()
    return list(_titled(chats if terms else chats.unarchived(), terms).for_list().newest_first()[:most])


def find_in_chat(chat: Chat, text: str) -> list[int]:
    """Where on the path the chat shows it is said: positions in their order, in folded messages too."""
    terms = read_query(text, has_filters=False).terms
    if not terms:
        return []
    literal, words = _parted(terms)
    said = chat.messages.filter(active=True, role__in=SAID, deleted_at=None).exclude(status__in=Message.LIVE_STATUSES)
    found = _holding(text_search().narrowed(said, literal), "content", literal)
    found = text_search().matching(found, "content", words) if words else found
    return list(found.order_by("position").values_list("position", flat=True))


def _described(chats: ChatQuerySet, query: Query) -> ChatQuerySet:
    """What the query says of chats other than their titles."""
    if query.pinned is not None:
        chats = chats.filter(pinned_at__isnull=not query.pinned)
    if query.archived is not None:
        chats = chats.filter(archived_at__isnull=not query.archived)
    if query.folder:
        chats = chats.filter(**_named("folder__name", query.folder))
    for tag in query.tags:
        chats = chats.filter(pk__in=Chat.objects.filter(**_named("tags__name", tag)).values("pk"))
    return chats


def _named(column: str, term: Term) -> dict[str, str]:
    return {f"{column}__{'istartswith' if term.is_prefix else 'iexact'}": term.text}


def _titled(chats: ChatQuerySet, terms: list[Term]) -> ChatQuerySet:
    literal, words = _parted(terms)
    found = _holding(chats, "title", literal)
    return chats.filter(pk__in=text_search().matching(found, "title", words).values("pk")) if words else found


def _titles(chats: ChatQuerySet, query: Query, marker: Marker) -> Iterator[Hit]:
    terms = query.terms or query.title
    found = _newest_chats(_in_time(chats, "touched_at", query), "title", terms, when="touched_at")
    for chat in _most_relevant(found, "title", marker, unread=_UNSHOWN, most=MOST_CHATS if query.terms else MOST):
        away = chat.archived_at is not None
        yield Hit("title", chat.pk, str(chat), marker.snippet(str(chat)), chat.touched_at, is_put_away=away)


def _summaries(chats: ChatQuerySet, query: Query, marker: Marker) -> Iterator[Hit]:
    if not query.terms:
        return
    found = _newest_chats(_in_time(chats, "compacted_at", query), "summary", query.terms, when="compacted_at")
    for chat in _most_relevant(found, "summary", marker, unread=("system_prompt",), most=MOST_CHATS):
        away = chat.archived_at is not None
        yield Hit("summary", chat.pk, str(chat), marker.snippet(chat.summary), chat.compacted_at, is_put_away=away)


def _messages(chats: ChatQuerySet, query: Query, marker: Marker, *, most: int) -> Iterator[Hit]:
    if not query.terms:
        return
    messages = Message.objects.filter(chat__in=chats, role__in=SAID, deleted_at=None)
    messages = _in_time(messages.exclude(status__in=Message.LIVE_STATUSES), "created_at", query)
    is_folded = Q(active=True, position__lte=F("chat__compacted_through__position"))
    if query.folded is not None:
        messages = messages.filter(is_folded) if query.folded else messages.exclude(is_folded)
    literal, words = _parted(query.terms)
    messages = _holding(text_search().narrowed(messages, literal), "content", literal)
    found = text_search().newest_messages(messages, words) if words else messages.order_by("-pk")
    for message in _most_relevant(found, "content", marker, "chat__compacted_through", unread=_BESIDE, most=most):
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
            is_folded=message.active and boundary is not None and message.position <= boundary.position,
            is_put_away=message.chat.archived_at is not None,
        )


def _in_time(rows: Rows, when: str, query: Query) -> Rows:
    if query.before:
        rows = rows.filter(**{f"{when}__lt": query.before})
    return rows.filter(**{f"{when}__gte": query.after}) if query.after else rows


def _newest_chats(chats: ChatQuerySet, column: str, terms: list[Term], *, when: str) -> QuerySet[Chat]:
    literal, words = _parted(terms)
    found = _holding(chats, column, literal)
    return (text_search().matching(found, column, words) if words else found).order_by(f"-{when}")


# Of a chat that is found by its title, and of what stands beside a message, nobody sees the texts.
_UNSHOWN = ("summary", "system_prompt")
_BESIDE = (
    *(name for name in TEXTS if name != "content"),
    *(f"chat__{name}" for name in _UNSHOWN),
    *(f"chat__compacted_through__{name}" for name in TEXTS),
)


def _most_relevant(
    found: QuerySet[Row], column: str, marker: Marker, *related: str, unread: Sequence[str], most: int
) -> list[Row]:
    """Of the first of what was found; of two alike the first one comes first. `unread`: columns left out."""
    judged = list(found.values_list("pk", Left(column, JUDGED_CHARACTERS))[:JUDGED])
    best = sorted(judged, key=lambda row: -marker.relevance(row[1]))[:most]
    rows = found.model._default_manager.select_related(*related).defer(*unread).in_bulk([pk for pk, _ in best])  # noqa: SLF001
    return [rows[pk] for pk, _ in best if pk in rows]


def _parted(terms: list[Term]) -> tuple[list[Term], list[Term]]:
    """What is found by its very characters, and what by the database's text search."""
    return [term for term in terms if term.is_literal], [term for term in terms if not term.is_literal]


def _holding(rows: Rows, column: str, literal: list[Term]) -> Rows:
    return rows.filter(*[GreaterThan(StrIndex(F(column), Value(term.text)), 0) for term in literal])


def text_search() -> ModuleType:
    """What the database in use can do."""
    return postgres if connection.vendor == "postgresql" else sqlite
