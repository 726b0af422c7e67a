"""How a person keeps their chats: pinned, archived, in a folder, under tags; one of them, or many at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Count, F
from django.utils import timezone

from chatapp.history.errors import NotPossible
from chatapp.history.locking import lock_chat, number_change
from chatapp.history.texts import storable
from chatapp.models import Chat, Folder, Tag
from chatapp.models.chats import ChatQuerySet

LONGEST_FOLDER = 80
LONGEST_TAG = 40
MOST_TAGS = 20


@transaction.atomic
def pin_chat(*, chat_id: UUID, pinned: bool) -> None:
    """To the top of the list, under a heading of its own."""
    number_change(lock_chat(chat_id), pinned_at=timezone.now() if pinned else None)


@transaction.atomic
def archive_chats(*, owner_id: int, chat_ids: Collection[UUID], archived: bool) -> int:
    """Out of the list, or back into it; how many they were."""
    return _change(_lock_chats(owner_id, chat_ids), archived_at=timezone.now() if archived else None)


@transaction.atomic
def move_chats(*, owner_id: int, chat_ids: Collection[UUID], folder_id: int | None) -> int:
    """Into a folder of the same person, or out of any. Raises NotPossible for one that isn't there."""
    chats = _lock_chats(owner_id, chat_ids)
    if folder_id is not None and not Folder.objects.filter(owner_id=owner_id, pk=folder_id).exists():
        raise NotPossible("no_such_folder")
    return _change(chats, folder_id=folder_id)


@transaction.atomic
def tag_chats(*, owner_id: int, chat_ids: Collection[UUID], name: str) -> int:
    """Under one more tag, which is made where the person has none of that name. Raises NotPossible."""
    chats = _lock_chats(owner_id, chat_ids)
    name = tag_name(name)
    _refuse_more_tags(chats, name)
    tag = Tag.objects.filter(owner_id=owner_id).named(name).first()
    tag = tag or Tag.objects.create(owner_id=owner_id, name=name)
    under = Chat.tags.through
    ids = chats.values_list("pk", flat=True)
    under.objects.bulk_create([under(chat_id=pk, tag_id=tag.pk) for pk in ids], ignore_conflicts=True)
    return _change(chats)


@transaction.atomic
def untag_chat(*, chat_id: UUID, name: str) -> None:
    """A tag that is on no other chat goes with it."""
    chat = lock_chat(chat_id)
    for tag in Tag.objects.filter(chats=chat).named(storable(name)):
        chat.tags.remove(tag)
        if not Chat.objects.filter(tags=tag).exists():
            tag.delete()
    number_change(chat, listed=True)


@transaction.atomic
def make_folder(*, owner_id: int, name: str) -> Folder:
    """Raises NotPossible where the name can't be used."""
    _lock_person(owner_id)
    return Folder.objects.create(owner_id=owner_id, name=_free_name(owner_id, name))


@transaction.atomic
def folder_of(*, owner_id: int, name: str) -> Folder:
    """The person's folder of that name, made where there is none."""
    found: Folder | None = Folder.objects.filter(owner_id=owner_id).named(name).first()
    return found or make_folder(owner_id=owner_id, name=name)


@transaction.atomic
def rename_folder(*, owner_id: int, folder_id: int, name: str) -> None:
    """Raises NotPossible where the name can't be used."""
    _lock_person(owner_id)
    name = _free_name(owner_id, name, besides=folder_id)
    Folder.objects.filter(owner_id=owner_id, pk=folder_id).update(name=name)


@transaction.atomic
def open_folder(*, owner_id: int, folder_id: int, is_open: bool) -> None:
    Folder.objects.filter(owner_id=owner_id, pk=folder_id).update(is_open=is_open)


@transaction.atomic
def delete_folder(*, owner_id: int, folder_id: int) -> None:
    """The folder alone: its chats stay, in no folder."""
    chats = Chat.objects.filter(owner_id=owner_id, folder_id=folder_id)
    _change(_lock_chats(owner_id, list(chats.values_list("pk", flat=True))), folder_id=None)
    Folder.objects.filter(owner_id=owner_id, pk=folder_id).delete()


def tag_name(typed: str) -> str:
    """As it is stored. Raises NotPossible."""
    name = " ".join(storable(typed).replace(",", " ").replace('"', " ").split())
    if not name:
        raise NotPossible("tag_without_name")
    if len(name) > LONGEST_TAG:
        raise NotPossible("tag_too_long")
    return name


def folder_name(typed: str) -> str:
    """As it is stored. Raises NotPossible."""
    name = " ".join(storable(typed).replace('"', " ").split())
    if not name:
        raise NotPossible("folder_without_name")
    if len(name) > LONGEST_FOLDER:
        raise NotPossible("folder_name_too_long")
    return name


def _free_name(owner_id: int, typed: str, *, besides: int | None = None) -> str:
    name = folder_name(typed)
    if Folder.objects.filter(owner_id=owner_id).named(name).exclude(pk=besides or 0).exists():
        raise NotPossible("folder_there")
    return name


def _refuse_more_tags(chats: ChatQuerySet, name: str) -> None:
    others = chats.exclude(tags__name__iexact=name).annotate(count=Count("tags"))
    if others.filter(count__gte=MOST_TAGS).exists():
        raise NotPossible("too_many_tags")


def _lock_person(owner_id: int) -> None:
    get_user_model().objects.select_for_update().get(pk=owner_id)


def _lock_chats(owner_id: int, chat_ids: Collection[UUID]) -> ChatQuerySet:
    """The person's own among them, locked until the transaction ends; in one order, so that none waits in a ring."""
    _lock_person(owner_id)  # two at once would make the same tag
    chats = Chat.objects.filter(owner_id=owner_id, pk__in=chat_ids)
    list(chats.select_for_update().order_by("pk").values_list("pk", flat=True))
    return chats


def _change(chats: ChatQuerySet, **changes: Any) -> int:
    """What `number_change` does to one, in one statement for all of them."""
    next_one = F("revision") + 1
    return chats.update(revision=next_one, listed_revision=next_one, **changes)
