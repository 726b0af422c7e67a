"""A PostgreSQL database with as many messages as are asked for, made within it: what an old, busy Foldline would hold.

A person for each hundred messages, in ten chats; every reply has its run and its row in the ledger. Beside them two
people whose lists and chats are as long as any may be.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import connection

from bench.filling import WIDE_WINDOW
from chatapp.models import Chat, Folder, LanguageModel
from tests.factories import fold, make_chat, make_model, make_user

MESSAGES_A_CHAT, CHATS_A_PERSON = 10, 10
FOLDS_A_LONG_CHAT = 500
# Tables that grow with what people do; the others stay small.
LARGE = {
    f"chatapp_{name}" for name in ("message", "chat", "run", "usagerecord", "compaction", "attachment", "file",
                                   "dailyuse", "auditentry", "signin")
} | {"auth_user", "django_session"}  # fmt: skip
WORDS_A_SENTENCE, SENTENCES, VOCABULARY = 10, 1_000, 5_000


@dataclass(frozen=True, slots=True)
class Crowd:
    """`chats` by name: of 10, 1,000 and 100,000 messages."""

    ordinary: User
    busy: User
    filer: User
    model: LanguageModel
    chats: dict[str, Chat]


def fill(messages: int, *, longest: int = 100_000, listed: int = 10_000) -> Crowd:
    """`longest`: messages of the longest chats, which come beside; `listed`: chats of those who have many."""
    model = make_model("scripted", window=WIDE_WINDOW)
    with _without_indexes():
        _crowd(messages // (MESSAGES_A_CHAT * CHATS_A_PERSON), model)
        crowd = _special(model, longest, listed)
        _beside_messages()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
    return crowd


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Made behind the rows they are made in a tenth of the time. No foreign key is looked after meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s)"
            " AND indexname NOT IN (SELECT conname FROM pg_constraint)",
            [list(LARGE)],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        try:
            yield
        finally:
            for _, definition in indexes:
                cursor.execute(definition)
            cursor.execute("SET session_replication_role = DEFAULT")


def _crowd(people: int, model: LanguageModel) -> None:
    """Message number n of every chat is written before number n + 1 of any: a chat's rows lie far apart."""
    chats = people * CHATS_A_PERSON
    _insert("auth_user", "generate_series(1, %s) n", [people], username="'person of the crowd ' || n",
            password="'!'", email="n || '@example.org'", **_PERSON)  # fmt: skip
    owners = "(SELECT id, row_number() OVER () - 1 AS n FROM auth_user WHERE username LIKE 'person of the crowd%%')"
    _insert(
        "chatapp_chat",
        f"{owners} u, generate_series(0, {CHATS_A_PERSON - 1}) g",
        [],
        id=f"md5('chat ' || (u.n * {CHATS_A_PERSON} + g))::uuid",
        owner_id="u.id",
        title=f"'Chat ' || {_sentence('u.n + g')}",
        model_id=str(model.pk),
        touched_at=f"now() - interval '1 minute' * (u.n * {CHATS_A_PERSON} + g)",
        **_CHAT,
    )
    for position in range(MESSAGES_A_CHAT):
        _insert_messages(
            f"(SELECT n, md5('chat ' || n)::uuid AS chat FROM generate_series(0, {chats - 1}) n) c",
            position=str(position),
            chat="c.chat",
            number="c.n",
            parent=f"c.n + 1 + {(position - 1) * chats}" if position else "NULL",
            id=f"c.n + 1 + {position * chats}",
            created_at=f"now() - interval '1 minute' * (c.n - {position})",
        )
    _sync_ids()


def _special(model: LanguageModel, longest: int, listed: int) -> Crowd:
    ordinary = User.objects.filter(username__startswith="person of").order_by("pk")[40]
    busy, filer = make_user("busy"), make_user("filer")
    folder = Folder.objects.create(owner=filer, name="All of it")
    for owner, folder_id in ((busy, "NULL"), (filer, str(folder.pk))):
        _insert(
            "chatapp_chat",
            f"generate_series(1, {listed}) n",
            [],
            id=f"md5('{owner.username} ' || n)::uuid",
            owner_id=str(owner.pk),
            title=f"'Chat ' || {_sentence('n')}",
            model_id=str(model.pk),
            touched_at="now() - interval '1 hour' * n",
            **_CHAT | {"folder_id": folder_id},
        )
    _insert_messages(
        f"(SELECT n, md5('busy ' || (1 + n / 10))::uuid AS chat, n %% 10 AS position"
        f" FROM generate_series(0, {10 * listed - 1}) n) c",
        position="c.position",
        chat="c.chat",
        number="c.n",
        parent="NULL",
    )
    lengths = {"short": 10, "long": 1_000, "longest": longest, "longest, brought from elsewhere": longest}
    chats = {name: _long_chat(busy, model, name, length) for name, length in lengths.items()}
    return Crowd(ordinary=ordinary, busy=busy, filer=filer, model=model, chats=chats)


def _long_chat(owner: User, model: LanguageModel, name: str, length: int) -> Chat:
    """All but its last messages are folded; one that was brought from elsewhere has neither usage nor a summary."""
    chat = make_chat(owner, model=model)
    is_own = "elsewhere" not in name
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM chatapp_message")
        (first,) = cursor.fetchone()
    _insert_messages(
        f"generate_series(0, {length - 1}) n",
        position="n",
        chat=f"'{chat.pk}'::uuid",
        number="n",
        id=f"n + {first + 1}",
        parent=f"CASE WHEN n > 0 THEN n + {first} END",
        **{} if is_own else {"prompt_tokens": "NULL", "completion_tokens": "NULL"},
    )
    _sync_ids()
    if is_own and length > 100:
        force = fold(chat, through=length - 21)
        connection.cursor().execute("UPDATE chatapp_message SET request_through_id = %s WHERE chat_id = %s AND position > %s", [force.through_id, chat.pk, length - 21])  # fmt: skip  # noqa: E501
        columns = ["chat_id", "trigger", "mode", "message_count", "segments", "values_left_out", "started_at",
                   "tokens_before", "tokens_after"]  # fmt: skip
        same = {name: name for name in columns}
        _insert(
            "chatapp_compaction",
            f"chatapp_compaction, generate_series(1, {min(FOLDS_A_LONG_CHAT, length // 20)}) n WHERE id = %s",
            [force.pk],
            status="'applied'",
            summary="repeat('What was said before that. ', 40)",
            through_id=f"{first + 1} + 2 * n",
            through_position="2 * n",
            from_position="0",
            ended_at="ended_at",
            **same,
        )
    chat.refresh_from_db()
    return chat


def _beside_messages() -> None:
    """What is stored with each reply, each chat and each person."""
    replies = "chatapp_message m WHERE role = 'assistant' AND prompt_tokens IS NOT NULL"  # nobody wrote the others here
    _insert("chatapp_run", replies, [], chat_id="chat_id", reply_id="m.id", status="'complete'", owner="'gone:1:a'",
            lease_until="created_at", heartbeat_at="created_at", started_at="created_at", ended_at="created_at",
            attempt="1")  # fmt: skip
    _insert("chatapp_usagerecord", replies, [], chat_id="chat_id", kind="'reply'", model_name="'scripted'",
            prompt_tokens="400", completion_tokens="60", created_at="m.created_at", measured="true")  # fmt: skip
    _insert("chatapp_compaction", "chatapp_message m WHERE position = 9 AND id %% 10 = 0", [], chat_id="chat_id",
            trigger="'idle'", mode="'transcript'", status="'applied'", through_id="m.id", from_position="0",
            through_position="9", message_count="10", summary="repeat('It was about the harbour. ', 30)",
            segments="'[]'::jsonb", values_left_out="'[]'::jsonb", started_at="created_at",
            ended_at="created_at + interval '3 seconds'", model_name="'scripted'", tokens_before="9000",
            tokens_after="900")  # fmt: skip
    _insert("chatapp_file", "chatapp_message m WHERE id %% 100 = 0", [], id="md5('file ' || m.id)::uuid",
            owner_id="(SELECT min(id) FROM auth_user)", name="'a.txt'", kind="'text'", text="repeat('A line. ', 50)",
            created_at="created_at")  # fmt: skip
    _insert("chatapp_attachment", "chatapp_message m WHERE id %% 100 = 0", [], message_id="m.id",
            file_id="md5('file ' || m.id)::uuid")  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("UPDATE chatapp_message SET file_count = 1 WHERE id % 100 = 0")
        cursor.execute(
            "UPDATE chatapp_message SET deleted_at = created_at, content = ''"
            " WHERE id % 97 = 0 AND position BETWEEN 1 AND 9"
        )
    _insert("chatapp_dailyuse", "auth_user u, generate_series(0, 9) n", [], owner_id="u.id",
            day="current_date - n::int", tokens="4600")  # fmt: skip
    _insert("chatapp_auditentry", "auth_user u, generate_series(0, 9) n", [], created_at="now() - interval '1 day' * n",
            action="'signed_in'", actor="u.username", actor_id="u.id")  # fmt: skip
    for n in range(2):
        _insert("django_session", "auth_user u", [], session_key=f"md5('session {n} ' || u.id)",
                session_data="repeat('x', 200)", expire_date="now() + interval '9 days'")  # fmt: skip
        _insert("chatapp_signin", "auth_user u", [], user_id="u.id", session_key=f"md5('session {n} ' || u.id)",
                device="'a browser'", created_at="now()", last_seen_at="now()")  # fmt: skip


_PERSON = {"is_active": "true", "date_joined": "now()"}
_CHAT = {
    "policy": "'compact'",
    "parameters": "'{}'::jsonb",
    "compaction_memory": "'{}'::jsonb",
    "created_at": "now()",
    "revision": "12",
}


def _insert_messages(source: str, *, number: str, chat: str, position: str, parent: str, **given: str) -> None:
    is_reply = f"({position}) %% 2 = 1"
    values = {
        "chat_id": chat,
        "parent_id": parent,
        "position": position,
        "active": "true",
        "role": f"CASE WHEN {is_reply} THEN 'assistant' ELSE 'user' END",
        "status": "'complete'",
        "content": f"{_sentence(number)} || ' ' || {_sentence(f'{number} * 7 + {position}')} || ' ' ||"
        f" {_sentence(f'{number} * 13 + 5 * ({position})')} || ' n' || (({number}) %% 100000)",
        "idempotency_key": f"CASE WHEN {is_reply} THEN '' ELSE md5({chat} || ' ' || ({position})) END",
        "prompt_tokens": f"CASE WHEN {is_reply} THEN 60 + 60 * ({position}) END",
        "completion_tokens": f"CASE WHEN {is_reply} THEN 60 END",
        "model_name": f"CASE WHEN {is_reply} THEN 'scripted' ELSE '' END",
        "created_at": "now() - interval '2 days'",
        "revision": f"({position}) + 1",
        "shown_revision": f"({position}) + 1",
        **dict.fromkeys(("tool_calls", "left_out"), "'[]'::jsonb"),
        "request_extras": "'{}'::jsonb",
    }
    _insert("chatapp_message", source, [], **values | given)


def _insert(table: str, source: str, params: list[object], **values: str) -> None:
    """`values`: of each column its expression over `source`; what isn't named is as an empty column is."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s"
            " AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'",
            [table],
        )
        empty = {column: _EMPTY.get(kind, "''") for column, kind in cursor.fetchall()}
        columns = empty | values
        names = ", ".join(f'"{name}"' for name in columns)
        cursor.execute(
            f"INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE SELECT {', '.join(columns.values())} FROM {source}",
            params,
        )


_EMPTY = {"boolean": "false", "integer": "0", "bigint": "0", "smallint": "0", "numeric": "0", "bytea": "''::bytea"}


def _sync_ids() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT setval(pg_get_serial_sequence('chatapp_message', 'id'), (SELECT max(id) FROM chatapp_message))"
        )


def _sentence(number: str) -> str:
    """One of a thousand, by an expression; common words are common in them and rare ones rare."""
    return f"(foldline_bench_sentences())[1 + (({number})::bigint * 7919) %% {SENTENCES}]"


def make_sentences(*, seed: int = 6) -> None:
    """A function of the database gives them."""
    chosen = random.Random(seed)
    words = [f"w{n}" for n in range(VOCABULARY)]
    weights = [1 / (n + 1) for n in range(VOCABULARY)]
    sentences = [" ".join(chosen.choices(words, weights, k=WORDS_A_SENTENCE)) for _ in range(SENTENCES)]
    quoted = ", ".join(f"'{sentence}'" for sentence in sentences)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE OR REPLACE FUNCTION foldline_bench_sentences() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE"
            f" AS $$ SELECT ARRAY[{quoted}] $$"
        )
