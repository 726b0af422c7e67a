"""What makes a whole chat of rows that came from elsewhere: their references are turned into those of the new rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.db.models import Case, OuterRef, Subquery, Value, When

from chatapp.history.boundary import as_stored, record_for_path, segments_of
from chatapp.history.locking import number_change
from chatapp.models import Attachment, Chat, Compaction, File, Message

FIRST_REVISION = 1
BATCH = 300


@dataclass(frozen=True, slots=True)
class Original:
    """Rows that aren't stored yet, by the number that each had; every reference in them is such a number.

    `attached`: the files of each message that has any. Folder and tags are names.

    Whoever makes it has checked that all references lead to rows of the same original.
    """

    chat: Chat
    messages: dict[int, Message]
    compactions: dict[int, Compaction]
    files: dict[int, File] = field(default_factory=dict)
    attached: dict[int, list[int]] = field(default_factory=dict)
    folder: str = ""
    tags: tuple[str, ...] = ()


def store_copy(original: Original) -> Chat:
    """The chat with new ids. Inside a transaction."""
    chat, messages = original.chat, original.messages
    chat.revision = FIRST_REVISION
    chat.save(force_insert=True)
    parents = {number: message.parent_id for number, message in messages.items()}
    for message in messages.values():
        message.chat, message.parent_id = chat, None
        message.shown_revision = message.revision = FIRST_REVISION
    Message.objects.bulk_create(messages.values())
    ids = {number: message.pk for number, message in messages.items()}
    branches = []
    for number, message in messages.items():
        parent = parents[number]
        if parent is not None and not message.active:
            message.parent_id = ids[parent]
            branches.append(message)
    Message.objects.bulk_update(branches, ["parent"], batch_size=BATCH)
    File.objects.bulk_create(original.files.values())
    Attachment.objects.bulk_create(
        Attachment(message_id=ids[number], file=original.files[file])
        for number, files in original.attached.items()
        for file in files
    )
    if original.compactions or any(message.request_through_id or message.left_out for message in messages.values()):
        connect_copy(chat, ids, original.compactions)
    else:  # another program's chat: a third of the queries, of thousands of chats
        _link_path(chat)
        number_change(chat, path_changed=True)
    return chat


def connect_copy(chat: Chat, ids: Mapping[int, int], compactions: Mapping[int, Compaction]) -> None:
    """The stored messages of a copy that refer to each other by the numbers they had, and its compactions.

    `ids`: the new id of each number. The record in force is derived from the compactions.
    """
    _link_path(chat)
    _renumber_requests(chat, ids)
    _store_compactions(chat, compactions, ids)
    number_change(chat, path_changed=True, **record_for_path(chat))


def _link_path(chat: Chat) -> None:
    """On the active path the parent is the message one position before."""
    before = Message.objects.filter(chat=chat, active=True, position=OuterRef("position") - 1)
    later = chat.messages.filter(active=True, position__gt=0)
    later.update(parent_id=Subquery(before.values("pk")[:1]))


def _renumber_requests(chat: Chat, ids: Mapping[int, int]) -> None:
    """What a reply's request was built with: its boundary, and what was left out of it."""
    built = chat.messages.exclude(request_through_id=None)
    boundaries = {number for number in built.values_list("request_through_id", flat=True).distinct() if number}
    # A boundary that isn't among the messages was another path's: that usage tells nothing here.
    built.filter(request_through_id__in=boundaries - ids.keys()).update(usage_outdated=True)
    known = [When(request_through_id=number, then=Value(ids[number])) for number in boundaries & ids.keys()]
    if boundaries:
        built.update(request_through_id=Case(*known, default=Value(None)))
    shrunk = list(chat.messages.exclude(left_out=[]))
    for message in shrunk:
        message.left_out = [ids[number] for number in message.left_out if number in ids]
    Message.objects.bulk_update(shrunk, ["left_out"], batch_size=BATCH)


def _store_compactions(chat: Chat, compactions: Mapping[int, Compaction], ids: Mapping[int, int]) -> None:
    """As copies: what they took is counted where they were made, and what a try left unfinished stays there."""
    for compaction in compactions.values():
        compaction.chat, compaction.is_copy, compaction.rebuilt_by = chat, True, None
        compaction.unfinished_key = compaction.unfinished_summary = ""
        compaction.through_id = ids[compaction.through_id] if compaction.through_id else None
    Compaction.objects.bulk_create(compactions.values())
    written = {number: compaction.pk for number, compaction in compactions.items()}
    for compaction in compactions.values():
        own = [replace(one, compaction_id=written.get(one.compaction_id, 0)) for one in segments_of(compaction)]
        compaction.segments = as_stored(tuple(own))
    Compaction.objects.bulk_update(compactions.values(), ["segments"], batch_size=BATCH)
