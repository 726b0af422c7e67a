"""PostgreSQL: its text search in the "simple" configuration, by GIN indexes on expressions."""

from __future__ import annotations

import string
from typing import TypeVar

from django.contrib.postgres.search import SearchQuery, SearchVectorExact, SearchVectorField
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func, Model, QuerySet

from chatapp.models import Message
from chatapp.searching.wording import Term, bare

Row = TypeVar("Row", bound=Model)

_INDEXED = {"chatapp_message": ("content",), "chatapp_chat": ("title", "summary")}
# What is being written or was deleted isn't in the index, as no search finds it: a reply's text is stored every second,
# and all of its words were looked for each time. In these very words, or the planner doesn't see that they hold.
_SETTLED = {"chatapp_message": "deleted_at IS NULL AND NOT (status IN ('queued', 'streaming'))"}
_BLANKS = str.maketrans(dict.fromkeys(string.punctuation, " "))

# Marks of ASCII part words, as in SQLite (the parser would keep paths, hosts and numbers whole); accents don't count.
# No vector may be larger than 1 MB, or storing the message would fail: what comes after 100,000 characters isn't found.
# Not in plain SQL, which the planner would put in its place and take for cheap: it then read a million messages
# backwards for a word of the first ones, for minutes. Told the cost it asks the index, or begins at the newest.
_WORDS = f"""
CREATE OR REPLACE FUNCTION foldline_words(text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 2000 AS $$ BEGIN
    RETURN to_tsvector('pg_catalog.simple'::regconfig, left(regexp_replace(normalize(
        translate($1, '{string.punctuation.replace("'", "''")}', repeat(' ', 32)), NFKD),
        '[\\u0300-\\u036f]', '', 'g'), 100000));
END $$
"""


class Words(Func):
    function = "foldline_words"
    output_field = SearchVectorField()


def make_function(connection: BaseDatabaseWrapper) -> None:
    """Anew where it is there already; what it gives is the same, so the indexes stay.

    A connection that has met one of them keeps its expression with the function's former body in it, and would not
    find it for the new one: changing nothing about the index lets every connection look again.
    """
    with connection.cursor() as cursor:
        cursor.execute(_WORDS)
        for name in _index_names():
            cursor.execute(f"ALTER INDEX IF EXISTS {name} RESET (fastupdate)")


def make_index(connection: BaseDatabaseWrapper) -> None:
    make_function(connection)
    with connection.cursor() as cursor:
        for table, columns in _INDEXED.items():
            for column in columns:
                cursor.execute(f"CREATE INDEX {_definition(table, column)}")


def _definition(table: str, column: str) -> str:
    settled = f" WHERE {_SETTLED[table]}" if table in _SETTLED else ""
    return f"{table}_{column}_words ON {table} USING gin (foldline_words({column})){settled}"


def narrow_index(connection: BaseDatabaseWrapper) -> None:
    """The index of messages' words made anew, of what is settled alone.

    Not "concurrently": a backup is restored, with the migrations behind it, in one transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX IF EXISTS chatapp_message_content_words")
        cursor.execute(f"CREATE INDEX {_definition('chatapp_message', 'content')}")


def _index_names() -> list[str]:
    return [f"{table}_{column}_words" for table, columns in _INDEXED.items() for column in columns]


def drop_index(connection: BaseDatabaseWrapper) -> None:
    with connection.cursor() as cursor:
        for name in _index_names():
            cursor.execute(f"DROP INDEX {name}")
        cursor.execute("DROP FUNCTION foldline_words(text)")


def matching(rows: QuerySet[Row], column: str, terms: list[Term]) -> QuerySet[Row]:
    """Those with all the terms in that column."""
    phrases = " & ".join(filter(None, map(_phrase, terms)))
    return rows.filter(SearchVectorExact(Words(column), SearchQuery(phrases, config="simple", search_type="raw")))


def narrowed(messages: QuerySet[Message], _literal: list[Term]) -> QuerySet[Message]:
    """Nothing knows the characters of messages here: those that hold the terms are looked for in all of them."""
    return messages


def newest_messages(messages: QuerySet[Message], terms: list[Term]) -> QuerySet[Message]:
    """Those with all the terms, the last ones first."""
    return matching(messages, "content", terms).order_by("-pk")


def _phrase(term: Term) -> str:
    """As to_tsquery reads it; without a mark of ASCII nothing in it can mean anything else."""
    words = bare(term.text).translate(_BLANKS).split()
    if not words:
        return ""
    return "(" + " <-> ".join(f"'{word}'" for word in words) + (":*" if term.is_prefix else "") + ")"
