"""SQLite: FTS5 tables, kept by triggers whoever writes; what is being written or was deleted isn't in them."""

from __future__ import annotations

from typing import TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL

from chatapp.models import Message
from chatapp.searching.wording import Term

Row = TypeVar("Row", bound=Model)

_TOKENS = 'tokenize = "unicode61 remove_diacritics 2", prefix = "2 3"'
_MESSAGES = (
    "CREATE VIRTUAL TABLE chatapp_message_words USING"
    f" fts5(content, content = 'chatapp_message', content_rowid = 'id', {_TOKENS})"
)
_CHATS = f"CREATE VIRTUAL TABLE chatapp_chat_words USING fts5(chat_id, title, summary, {_TOKENS})"


def _settled(row: str) -> str:
    return f"{row}.deleted_at IS NULL AND {row}.status NOT IN ('queued', 'streaming')"


_ADD = "INSERT INTO chatapp_message_words(rowid, content) SELECT new.id, new.content WHERE " + _settled("new")
_TAKE = (
    "INSERT INTO chatapp_message_words(chatapp_message_words, rowid, content)"
    " SELECT 'delete', old.id, old.content WHERE " + _settled("old")
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
    "DELETE FROM chatapp_chat_words",
    "INSERT INTO chatapp_chat_words SELECT id, title, summary FROM chatapp_chat",
)
_TRIGGERS = {
    "message_words_added": f"AFTER INSERT ON chatapp_message BEGIN {_ADD}; END",
    "message_words_removed": f"AFTER DELETE ON chatapp_message BEGIN {_TAKE}; END",
    "message_words_changed": "AFTER UPDATE OF content, status, deleted_at ON chatapp_message"
    " WHEN old.content IS NOT new.content OR old.status IS NOT new.status OR old.deleted_at IS NOT new.deleted_at"
    f" BEGIN {_TAKE}; {_ADD}; END",
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
        cursor.execute(_CHATS)
    keep_index(connection)


def keep_index(connection: BaseDatabaseWrapper) -> None:
    """A migration that remakes one of the two tables takes its triggers with it: here they come back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        missing = _TRIGGERS.keys() - {name for (name,) in cursor.fetchall()}
        if not missing or "chatapp_message_words" not in connection.introspection.table_names(cursor):
            return
        for name in missing:
            cursor.execute(f"CREATE TRIGGER {name} {_TRIGGERS[name]}")
        for statement in _FILLING:
            cursor.execute(statement)


def drop_index(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name in _TRIGGERS:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        cursor.execute("DROP TABLE chatapp_message_words")
        cursor.execute("DROP TABLE chatapp_chat_words")


def matching(rows: QuerySet[Row], column: str, terms: list[Term]) -> QuerySet[Row]:
    """Those with all the terms in that column."""
    table = rows.model._meta.db_table  # noqa: SLF001 (Django's documented API)
    key = "rowid" if table == "chatapp_message" else "chat_id"
    found = f"SELECT {key} FROM {table}_words WHERE {table}_words MATCH %s"  # noqa: S608
    return rows.filter(pk__in=RawSQL(found, [_match(column, terms)]))  # noqa: S611


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
