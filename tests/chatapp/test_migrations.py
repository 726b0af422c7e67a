"""Migrations run on a database with data in it: what was there before is there afterwards."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

FIRST = [("chatapp", "0001_initial")]


@pytest.fixture
def migrate_to():
    """migrate_to(targets) gives the models as they were then; the newest ones are back at the end."""

    def migrate(targets):
        executor = MigrationExecutor(connection)
        executor.migrate(targets)
        return executor.loader.project_state(targets).apps

    yield migrate
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.django_db(transaction=True)
def test_folded_chat_of_the_first_release_is_whole_after_every_migration(migrate_to):
    before = migrate_to(FIRST)
    user = before.get_model("auth", "User").objects.create(username="early")
    chat = before.get_model("chatapp", "Chat").objects.create(owner=user, title="From the first release")
    messages = before.get_model("chatapp", "Message").objects
    asked = messages.create(chat=chat, position=0, role="user", content="Hello")
    reply = messages.create(
        chat=chat, parent=asked, position=1, role="assistant", content="Hello, too", prompt_tokens=9
    )
    compactions = before.get_model("chatapp", "Compaction").objects
    undone = compactions.create(chat=chat, trigger="button", status="undone", through=reply, summary="Undone.")
    applied = compactions.create(
        chat=chat,
        previous=undone,
        trigger="idle",
        status="applied",
        through=reply,
        through_position=1,
        summary="They met.",
    )
    chat.summary, chat.compacted_through, chat.compacted_at = "They met.", reply, timezone.now()
    chat.save()

    after = migrate_to(MigrationExecutor(connection).loader.graph.leaf_nodes())

    kept = after.get_model("chatapp", "Chat").objects.get(title="From the first release")
    assert (kept.summary, kept.compacted_through_id) == ("They met.", reply.pk)
    assert list(kept.messages.order_by("position").values_list("content", "deleted_at", "usage_outdated")) == [
        ("Hello", None, False),
        ("Hello, too", None, False),
    ]
    assert kept.messages.get(position=1).prompt_tokens == 9
    assert after.get_model("chatapp", "Compaction").objects.get(pk=applied.pk).trigger == "idle"
