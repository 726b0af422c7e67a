"""Moving the active path between versions; whatever leaves it stays stored and can be shown again."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from chatapp.history.boundary import record_for_path
from chatapp.history.errors import ChatBusy, NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.models import Chat, Message, Run

Parents = Mapping[int, int | None]


def branch_at(chat: Chat, position: int) -> int:
    """Take everything from `position` on off the active path, with the boundary if it lay there (rule J1)."""
    chat.messages.filter(active=True, position__gte=position).update(active=False)
    return number_change(chat, touched=True, path_changed=True, **record_for_path(chat))


@transaction.atomic
def show_version(*, chat_id: UUID, message_id: int) -> Chat:
    """Make the path through `message_id` active, down to its newest leaf. Raises ChatBusy, NotPossible."""
    chat = lock_chat(chat_id)
    if Run.objects.live().filter(chat=chat).exists():
        raise ChatBusy("run_live")
    rows = list(chat.messages.values_list("pk", "parent_id", "active"))
    parents: Parents = {pk: parent for pk, parent, _ in rows}
    if message_id not in parents:
        raise NotPossible("no_such_message")
    path = {*ancestors(parents, message_id), *_newest_descendants(parents, message_id)}
    _set_active([pk for pk, _, active in rows if active and pk not in path], active=False)
    _set_active([pk for pk, _, active in rows if not active and pk in path], active=True)
    number_change(chat, path_changed=True, **record_for_path(chat))
    return chat


def _set_active(ids: list[int], *, active: bool) -> None:
    """What leaves the path or comes onto it; what stays is not written, however long it is."""
    for start in range(0, len(ids), 500):
        Message.objects.filter(pk__in=ids[start : start + 500]).update(active=active)


def ancestors(parents: Parents, message_id: int) -> list[int]:
    """From the root to the message itself."""
    path: list[int] = []
    here: int | None = message_id
    while here is not None:
        path.append(here)
        here = parents[here]
    return path[::-1]


def _newest_descendants(parents: Parents, message_id: int) -> list[int]:
    newest: dict[int, int] = {}
    for pk, parent in parents.items():
        if parent is not None:
            newest[parent] = max(pk, newest.get(parent, 0))
    path = []
    here = message_id
    while here in newest:
        here = newest[here]
        path.append(here)
    return path


def versions_of(chat: Chat, shown: list[Message]) -> dict[int, list[int]]:
    """Ids of the versions at the position of each of `shown`, which are on the path, oldest first.

    A version that failed without a word, or was erased, has nothing to show and isn't counted.
    """
    # By parent, which has an index: by position every message of the chat was looked at (10 ms at 10,000), and where
    # the parents were asked for in the same question, every message there is (1.9 s at a million).
    positions = {message.position for message in shown}
    parents = {message.parent_id for message in shown if message.position}
    rows = _shown_versions(Message.objects.filter(parent_id__in=parents)) if parents else []
    if 0 in positions:
        rows += _shown_versions(chat.messages.filter(position=0))
    parent_at = {position: parent for _, parent, position, active in rows if active}
    versions: dict[int, list[int]] = {}
    for pk, parent, position, _ in rows:
        if position in parent_at and parent == parent_at[position]:
            versions.setdefault(position, []).append(pk)
    return versions


def _shown_versions(messages: QuerySet[Message]) -> list[tuple[int, int | None, int, bool]]:
    return list(
        messages.exclude(content="", reasoning="", active=False, status__in=[*_WORDLESS])
        .exclude(content="", file_count=0, active=False, deleted_at__isnull=False)
        .values_list("pk", "parent_id", "position", "active")
        .order_by("pk")
    )


_WORDLESS = (Message.Status.FAILED, Message.Status.INTERRUPTED, Message.Status.STOPPED)
