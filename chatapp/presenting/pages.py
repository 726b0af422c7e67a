"""A chat's page, whole or what changed since a revision: the one way for page, command, socket and poll."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser
from django.template.loader import render_to_string
from django.utils import translation

from chatapp import events
from chatapp.database import AWAY
from chatapp.fields import number_in
from chatapp.history import allowing, chats, loading, metering, queueing
from chatapp.models import Chat, LanguageModel, Message, Run, SiteSettings
from chatapp.models.messages import MessageQuerySet
from chatapp.presenting.fold import folds_next, is_resting, notable_compaction, view_divider, view_meter
from chatapp.presenting.messages import view_messages
from chatapp.presenting.once import once
from chatapp.presenting.values import ChatPage, MessageView, OlderPage

MESSAGES_ON_A_PAGE = 40
MESSAGES_BEFORE_A_LINKED = 8


@dataclass(frozen=True, slots=True)
class Place:
    """Which page of messages: the one before or after a position, or around one; the newest where nothing is said.

    None of them is at `until` or behind it: that is on the page already.
    """

    before: int | None = None
    after: int | None = None
    at: int | None = None
    until: int | None = None


def revision_in(text: str) -> int:
    """The revision that a page says it has seen; 0, and so everything, where it says nonsense."""
    return number_in(text) or 0


def may_see(user: AbstractBaseUser, chat_id: UUID | None) -> bool:
    """A chat, or the page without one."""
    if chat_id is None:
        return user.is_authenticated
    return Chat.objects.for_user(user).filter(pk=chat_id).exists()


def live_run_of(chat_id: UUID) -> Run | None:
    return Run.objects.live().filter(chat_id=chat_id).first()


def read_page(chat_id: UUID) -> ChatPage:
    """One chat as its page shows it: the newest forty live messages, whatever the length of its history."""
    page = _page_of(Chat.objects.as_it_stands().get(pk=chat_id))
    _show_newest(page)
    page.divider = view_divider(page.chat)
    page.models = list(LanguageModel.objects.usable())
    return page


def _page_of(chat: Chat) -> ChatPage:
    """What can change with every revision, of a chat as it stands; messages, divider and models are still to come."""
    site = SiteSettings.get_solo()
    model = loading.model_of(chat, site)
    meter = metering.load_meter(chat, site, model)
    run_live = chat.is_writing
    queued = list(chat.queued.in_order().with_files()) if chat.has_queue else []
    when_idle = run_live and site.compacts_when_idle and not queued  # what waits is sent before anything is folded
    rests = bool(queued) and not run_live and queueing.next_of(chat) is None
    is_due = folds_next(chat, meter, model, when_idle=when_idle)
    return ChatPage(
        chat=chat,
        seen=chat.revision,
        messages=[],
        divider=None,
        compaction=notable_compaction(chat),
        meter=view_meter(meter),
        models=[],
        current_model=model,
        earlier_before=None,
        run_live=run_live,
        queued=queued,
        queue_rests=rests,
        queue_held=allowing.reached_by(chat.owner_id, is_run=True) if queued and not (run_live or rests) else None,
        is_resting=is_resting(chat, model),
        folds_next="" if not is_due else "end" if when_idle else "send",
    )


def _show_newest(page: ChatPage) -> None:
    live = page.chat.messages.on_path().after_boundary(page.chat.compacted_through)
    rows = list(live.reverse()[: MESSAGES_ON_A_PAGE + 1])[::-1]
    shown = rows[-MESSAGES_ON_A_PAGE:]
    page.messages = view_messages(page.chat, shown, last_id=shown[-1].pk if shown else None)
    page.earlier_before = shown[0].position if len(rows) > MESSAGES_ON_A_PAGE else None


def _show_changed(page: ChatPage, rows: list[Message], seen: int) -> None:
    """Only these live messages, which changed since; the last of the chat is known by its position."""
    live = page.chat.messages.on_path().after_boundary(page.chat.compacted_through)
    last = live.values_list("pk", flat=True).last()
    new = {row.pk for row in rows if row.shown_revision > seen}
    views = view_messages(page.chat, rows, last_id=last)
    page.messages = [replace(view, is_new=view.id in new) for view in views]


def read_changes(user: AbstractBaseUser, chat_id: UUID, seen: int, *, is_shown: bool = True) -> tuple[int, str]:
    """The chat's revision now, and the fragments that bring a page that has seen `seen` up to it.

    The one way a page is changed, whether the answer to a command, a push over the socket or a poll. Where it
    `is_shown` the chat is no longer unread. Raises Chat.DoesNotExist for a stranger.
    """
    chat = Chat.objects.for_user(user).as_it_stands().get(pk=chat_id)
    with suppress(*AWAY):  # on a full disk all can still be read
        if is_shown and chats.mark_read(chat):
            events.wake_list(chat.owner_id)
    if seen >= chat.revision:
        return chat.revision, ""
    key = (user.pk, chat.pk, seen, chat.revision, translation.get_language())
    return chat.revision, once(key, partial(_render_changes, user, chat, seen))


def _render_changes(user: AbstractBaseUser, chat: Chat, seen: int) -> str:
    page = _page_of(chat)
    fold_changed = chat.fold_revision > seen
    whole = fold_changed or chat.path_revision > seen or not seen
    live = chat.messages.on_path().after_boundary(chat.compacted_through)
    rows = [] if whole else _changed(live, seen)
    # One that has missed more than is sent one by one would show a gap.
    whole = whole or sum(not row.is_deleted for row in rows) > MESSAGES_ON_A_PAGE
    if whole:
        _show_newest(page)
    else:
        _show_changed(page, rows, seen)
    if fold_changed:
        page.divider = view_divider(chat)
    context = page.context() | {"since": seen, "revision": chat.revision, "user": user}
    context["changed_archived"] = _changed_archived(chat, seen) if seen else []
    context |= {"whole": whole, "fold_changed": fold_changed}
    context["is_listed"] = chat.listed_revision > seen
    return render_to_string("chat/changes.html", context)


def _changed_archived(chat: Chat, seen: int) -> list[MessageView]:
    """Pins and deletions are all that changes behind the divider; a page may have opened it."""
    if not chat.is_compacted:
        return []
    archived = chat.messages.on_path().up_to_boundary(chat.compacted_through)
    return view_messages(chat, _changed(archived, seen))


def _changed(rows: MessageQuerySet, seen: int) -> list[Message]:
    """The newest that changed since, one more than a page shows, and whatever was deleted: a page must lose it."""
    changed = rows.filter(revision__gt=seen)
    newest = changed.filter(deleted_at=None).reverse()[: MESSAGES_ON_A_PAGE + 1]
    return sorted([*changed.deleted(), *newest], key=lambda row: row.position)


def read_archived(chat: Chat, place: Place) -> OlderPage:
    """What lies behind the divider, the newest page first."""
    return _older(chat, chat.messages.on_path().up_to_boundary(chat.compacted_through), place)


def read_earlier(chat: Chat, place: Place) -> OlderPage:
    """Live messages that weren't on the first paint."""
    return _older(chat, chat.messages.on_path().after_boundary(chat.compacted_through), place)


def read_linked(chat: Chat, position: int, *, first_shown: int | None) -> dict[str, OlderPage]:
    """What a page needs beside its first paint so that a linked message is on it: a page of either side, or nothing.

    `first_shown`: the position at which the first paint begins, None where it holds every live message.
    """
    if chat.compacted_through and position <= chat.compacted_through.position:
        return {"archived": read_archived(chat, Place(at=position))}
    if first_shown is None or position >= first_shown:
        return {}
    return {"earlier": read_earlier(chat, Place(at=position, until=first_shown))}


def read_whole(chat_id: UUID) -> ChatPage:
    """Every message of the path, to be printed; the divider stands where the boundary is."""
    chat = Chat.objects.as_it_stands().get(pk=chat_id)
    page = _page_of(chat)
    page.messages = view_messages(chat, list(chat.messages.on_path()))
    page.divider = view_divider(chat)
    return page


def _older(chat: Chat, rows: MessageQuerySet, place: Place) -> OlderPage:
    """Read in the direction that is asked for; of a page around a message most is what comes after it."""
    if place.until is not None:
        rows = rows.filter(position__lt=place.until)
    if place.after is not None or place.at is not None:
        since = place.at - MESSAGES_BEFORE_A_LINKED if place.at is not None else (place.after or 0) + 1
        found = list(rows.filter(position__gte=since)[: MESSAGES_ON_A_PAGE + 1])
        shown = found[:MESSAGES_ON_A_PAGE]
        before = shown[0].position if place.at is not None and shown and shown[0].position > _first(rows) else None
        after = shown[-1].position if len(found) > MESSAGES_ON_A_PAGE else None
        return OlderPage(view_messages(chat, shown), before, after, place.until)
    if place.before is not None:
        rows = rows.filter(position__lt=place.before)
    newest = list(rows.reverse()[: MESSAGES_ON_A_PAGE + 1])[::-1]
    has_more = len(newest) > MESSAGES_ON_A_PAGE
    shown = newest[-MESSAGES_ON_A_PAGE:]
    return OlderPage(view_messages(chat, shown), shown[0].position if has_more else None)


def _first(rows: MessageQuerySet) -> int:
    return rows.values_list("position", flat=True)[0]


def empty_page() -> dict[str, Any]:
    """The context of a page without a chat: the place where a new one begins."""
    site = SiteSettings.get_solo()
    model = loading.default_model(site)
    limits = loading.limits_of(model, site)
    return {
        "chat": None,
        "seen": 0,
        "messages": [],
        "divider": None,
        "compaction": None,
        "meter": view_meter(metering.measure_new_chat(site.system_prompt, limits)),
        "models": list(LanguageModel.objects.usable()),
        "current_model": model,
        "earlier_before": None,
        "run_live": False,
        "queued": [],
        "queue_rests": False,
        "queue_held": None,
        "is_resting": False,
        "folds_next": "",
        "temporary_hours": site.temporary_hours,
    }
