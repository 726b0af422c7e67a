"""A person's list of chats: pinned ones, folders, then by day; a page of it, in as many queries whatever there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import F, Prefetch, Q, Window, prefetch_related_objects
from django.db.models.functions import RowNumber
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext

from chatapp.fields import number_in
from chatapp.history.texts import storable
from chatapp.models import Chat, Folder, Tag
from chatapp.models.chats import ChatQuerySet
from chatapp.presenting.values import ListPlace, OpenFolder, Sidebar, SidebarGroup

PAGE = 60
MOST_PINNED = 100
MOST_IN_FOLDER = 30
# As many as a page may ask for when it fetches anew what it shows already.
LARGEST_PAGE = 1_000


def place_asked(asked: Mapping[str, str], *, current_id: UUID | None = None) -> ListPlace:
    """What an address says of the list; nonsense counts as nothing said."""
    return ListPlace(
        older=asked.get("older", ""),
        under=asked.get("under", ""),
        tag=storable(asked.get("tag", "")),
        is_selecting="select" in asked,
        current_id=current_id,
        most=min(max(PAGE, number_in(asked.get("most")) or 0), LARGEST_PAGE),
    )


def read_sidebar(user: AbstractBaseUser, place: ListPlace | None = None) -> Sidebar:
    """Never a message's text; what lies beyond a page is behind a link."""
    place = place or ListPlace()
    listed = Chat.objects.for_user(user).unarchived()
    is_whole = not place.older and not place.tag
    pinned = _pinned(listed) if is_whole else []
    folders: list[Folder] = list(Folder.objects.for_user(user).by_name())
    opened = _opened(folders, listed) if is_whole else []
    by_day = listed.filter(tags__name__iexact=place.tag) if place.tag else listed.filter(pinned_at=None, folder=None)
    rows = list(_before(by_day, place.older).for_list().newest_first()[: place.most + 1])
    shown = rows[: place.most]
    _with_tags([*pinned, *shown, *(chat for each in opened for chat in each.chats)])
    groups = _by_day(shown)
    return Sidebar(
        pinned=pinned[:MOST_PINNED],
        has_more_pinned=len(pinned) > MOST_PINNED,
        folders=opened,
        groups=groups,
        older=_cursor(shown[-1]) if len(rows) > place.most else "",
        last_label=groups[-1].label if groups else "",
        place=place,
        folder_choices=folders,
        known_tags=list(Tag.objects.for_user(user).in_use().by_name()) if place.is_selecting else [],
    )


def _pinned(listed: ChatQuerySet) -> list[Chat]:
    """The last pinned one first; one more than is shown, to know whether there are more."""
    return list(listed.filter(pinned_at__isnull=False).for_list().order_by("-pinned_at")[: MOST_PINNED + 1])


def _opened(folders: list[Folder], listed: ChatQuerySet) -> list[OpenFolder]:
    """Every folder, the chats of the open ones in one query."""
    open_ids = [folder.pk for folder in folders if folder.is_open]
    chats = _newest_in(open_ids, listed) if open_ids else {}
    return [
        OpenFolder(folder, found[:MOST_IN_FOLDER], has_more=len(found) > MOST_IN_FOLDER)
        for folder in folders
        for found in [chats.get(folder.pk, [])]
    ]


def _newest_in(folder_ids: list[int], listed: ChatQuerySet) -> dict[int | None, list[Chat]]:
    newest = Window(RowNumber(), partition_by="folder_id", order_by=[F("touched_at").desc(), F("pk").desc()])
    filed = listed.filter(pinned_at=None, folder__in=folder_ids)
    rows = filed.for_list().annotate(place=newest).filter(place__lte=MOST_IN_FOLDER + 1).order_by("folder_id", "place")
    chats: dict[int | None, list[Chat]] = defaultdict(list)
    for chat in rows:
        chats[chat.folder_id].append(chat)
    return chats


def _before(chats: ChatQuerySet, cursor: str) -> ChatQuerySet:
    """Those after the one that the cursor names, in the list's order; all of them where it names none."""
    moment, _separator, name = cursor.partition("_")
    try:
        told, pk = datetime.fromisoformat(moment), UUID(name)
        at = told.astimezone(UTC)  # a database may not hold what lies before the year 1
    except (ValueError, OverflowError):
        return chats
    if timezone.is_naive(told):
        return chats
    # The first condition is the one that an index answers.
    return chats.filter(touched_at__lte=at).filter(Q(touched_at__lt=at) | Q(pk__lt=pk))


def _cursor(chat: Chat) -> str:
    return f"{chat.touched_at.isoformat()}_{chat.pk}"


def _with_tags(chats: Iterable[Chat]) -> None:
    tags = Prefetch("tags", queryset=Tag.objects.by_name(), to_attr="listed_tags")
    prefetch_related_objects(list(chats), tags)


def _by_day(chats: list[Chat]) -> list[SidebarGroup]:
    today = timezone.localdate()
    days = groupby(chats, key=lambda chat: _day_label(timezone.localdate(chat.touched_at), today))
    return [SidebarGroup(label, list(each)) for label, each in days]


def _day_label(day: date, today: date) -> str:
    if day >= today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    if day > today - timedelta(days=8):
        return gettext("Previous 7 days")
    return capfirst(date_format(day, "YEAR_MONTH_FORMAT" if day.year != today.year else "F"))
