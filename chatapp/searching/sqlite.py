"""SQLite: FTS5 tables, kept by triggers whoever writes; what is being written or was deleted isn't in them."""

from __future__ import annotations

from typing import TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL

from chatapp.models import Message
from chatapp.searching.wording import UNPARTED, Term

Row = TypeVar("Row", bound=Model)

SIGNS_TOGETHER = 3
MOST_THREES = 20
LAST_SIGN = "\U0010ffff"
_TOKENS = 'tokenize = "unicode61 remove_diacritics 2", prefix = "2 3"'
_MESSAGES = (
    "CREATE VIRTUAL TABLE chatapp_message_words USING"
    f" fts5(content, content = 'chatapp_message', content_rowid = 'id', {_TOKENS})"
)
_CHATS = f"CREATE VIRTUAL TABLE chatapp_chat_words USING fts5(chat_id, title, summary, {_TOKENS})"

# What no tokenizer takes into words is found by its characters: every three of them that follow each other, of those
# messages alone in which there are such signs. Two blanks at the end, so that the last sign begins three as well.
_SIGNS = (
    "CREATE VIRTUAL TABLE chatapp_message_signs USING fts5(content, content = '', tokenize = 'trigram', detail = none)"
)
_PLACES = "CREATE VIRTUAL TABLE chatapp_message_sign_places USING fts5vocab(chatapp_message_signs, instance)"
_TABLES = {
    "chatapp_message_words": _MESSAGES,
    "chatapp_chat_words": _CHATS,
    "chatapp_message_signs": _SIGNS,
    "chatapp_message_sign_places": _PLACES,
}


def _settled(row: str) -> str:
    return f"{row}.deleted_at IS NULL AND {row}.status NOT IN ('queued', 'streaming')"


def _signed(row: str) -> str:
    return f"{_settled(row)} AND {row}.content GLOB '*[{UNPARTED}]*'"


_ADD = "INSERT INTO chatapp_message_words(rowid, content) SELECT new.id, new.content WHERE " + _settled("new")
_TAKE = (
    "INSERT INTO chatapp_message_words(chatapp_message_words, rowid, content)"
    " SELECT 'delete', old.id, old.content WHERE " + _settled("old")
)
_ADD_SIGNS = "INSERT INTO chatapp_message_signs(rowid, content) SELECT new.id, new.content || '  ' WHERE " + _signed(
    "new"
)
_TAKE_SIGNS = (
    "INSERT INTO chatapp_message_signs(chatapp_message_signs, rowid, content)"
    " SELECT 'delete', old.id, old.content || '  ' WHERE " + _signed("old")
)
_ADD_CHAT = "INSERT INTO chatapp_chat_words(chat_id, title, summary) VALUES (new.id, new.title, new.summary)"
_TAKE_CHAT = (
    "DELETE FROM chatapp_chat_words WHERE rowid IN"
    " (SELECT rowid FROM chatapp_chat_words WHERE chatapp_chat_words MATCH 'chat_id:\"' || old.id || '\"')"
)
_FILLING = (
    "INSERT INTO chatapp_message_words(chatapp_message_words) VALUES ('delete-all')",
    "INSERT INTO chatapp_message_words(rowid, content) SELECT id, content FROM chatapp_message AS new WHERE "  # noqa: S608
    + _settled("new"),
    "INSERT INTO chatapp_message_signs(chatapp_message_signs) VALUES ('delete-all')",
    "INSERT INTO chatapp_message_signs(rowid, content) SELECT id, content || '  ' FROM chatapp_message AS new WHERE "  # noqa: S608
    + _signed("new"),
    "DELETE FROM chatapp_chat_words",
    "INSERT INTO chatapp_chat_words SELECT id, title, summary FROM chatapp_chat",
)
_CHANGED = (
    "AFTER UPDATE OF content, status, deleted_at ON chatapp_message"
    " WHEN old.content IS NOT new.content OR old.status IS NOT new.status OR old.deleted_at IS NOT new.deleted_at"
)
_TRIGGERS = {
    "message_words_added": f"AFTER INSERT ON chatapp_message BEGIN {_ADD}; END",
    "message_words_removed": f"AFTER DELETE ON chatapp_message BEGIN {_TAKE}; END",
    "message_words_changed": f"{_CHANGED} BEGIN {_TAKE}; {_ADD}; END",
    "message_signs_added": f"AFTER INSERT ON chatapp_message BEGIN {_ADD_SIGNS}; END",
    "message_signs_removed": f"AFTER DELETE ON chatapp_message BEGIN {_TAKE_SIGNS}; END",
    "message_signs_changed": f"{_CHANGED} BEGIN {_TAKE_SIGNS}; {_ADD_SIGNS}; END",
    "chat_words_added": f"AFTER INSERT ON chatapp_chat BEGIN {_ADD_CHAT}; END",
    "chat_words_removed": f"AFTER DELETE ON chatapp_chat BEGIN {_TAKE_CHAT}; END",
    "chat_words_changed": "AFTER UPDATE OF title, summary ON chatapp_chat"
    " WHEN old.title IS NOT new.title OR old.summary IS NOT new.summary"
    f" BEGIN {_TAKE_CHAT}; {_ADD_CHAT}; END",
}


def make_index(connection: BaseDatabaseWrapper) -> None:
    """The tables, the triggers, and in them all that is there already."""
    with connection.cursor() as cursor:
        cursor.execute(_MESSAGES)
    keep_index(connection)


def keep_index(connection: BaseDatabaseWrapper) -> None:
    """A migration that remakes one of the two tables takes its triggers with it: here they come back.

    A table that this version of Foldline is the first to have comes with them, and is filled like the others.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'table')")
        there = {name for (name,) in cursor.fetchall()}
        missing = _TRIGGERS.keys() - there
        if not missing or "chatapp_message_words" not in there:
            return
        for name in _TABLES.keys() - there:
            cursor.execute(_TABLES[name])
        for name in missing:
            cursor.execute(f"CREATE TRIGGER {name} {_TRIGGERS[name]}")
        for statement in _FILLING:
            cursor.execute(statement)


def drop_index(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name in _TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        for name in reversed(_TABLES):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")


def matching(rows: QuerySet[Row], column: str, terms: list[Term]) -> QuerySet[Row]:
    """Those with all the terms in that column."""
    table = rows.model._meta.db_table  # noqa: SLF001 (Django's documented API)
    key = "rowid" if table == "chatapp_message" else "chat_id"
    found = f"SELECT {key} FROM {table}_words WHERE {table}_words MATCH %s"  # noqa: S608
    return rows.filter(pk__in=RawSQL(found, [_match(column, terms)]))  # noqa: S611


def narrowed(messages: QuerySet[Message], literal: list[Term]) -> QuerySet[Message]:
    """Those that may hold the terms, as far as their signs tell; whether they do is still to be looked at.

    Three signs or more are in the index as they are, fewer are the beginning of some that are.
    """
    for term in literal:
        signs = term.signs
        if len(signs) >= SIGNS_TOGETHER:
            threes = [signs[at : at + SIGNS_TOGETHER] for at in range(len(signs) - SIGNS_TOGETHER + 1)]
            match = " AND ".join(f'"{three}"' for three in threes[:MOST_THREES])
            found = RawSQL("SELECT rowid FROM chatapp_message_signs WHERE chatapp_message_signs MATCH %s", [match])
            messages = messages.filter(pk__in=found)
        elif signs:
            begun = "SELECT doc FROM chatapp_message_sign_places WHERE term >= %s AND term <= %s"
            messages = messages.filter(pk__in=RawSQL(begun, [signs, signs + LAST_SIGN]))  # noqa: S611
    return messages


def newest_messages(messages: QuerySet[Message], terms: list[Term]) -> QuerySet[Message]:
    """Those with all the terms, the last ones first: the index goes backwards and is read no further than needed."""
    return messages.extra(
        tables=["chatapp_message_words"],
        # The plus keeps the planner from asking the index once for every message of the person's.
        where=["+chatapp_message_words.rowid = chatapp_message.id", "chatapp_message_words MATCH %s"],
        params=[_match("content", terms)],
        order_by=["-chatapp_message_words.rowid"],
    )


def _match(column: str, terms: list[Term]) -> str:
    return f"{{{column}}} : ({' AND '.join(map(_phrase, terms))})"


def _phrase(term: Term) -> str:
    quoted = term.text.replace('"', " ")
    return f'"{quoted}"{" *" if term.is_prefix else ""}'
