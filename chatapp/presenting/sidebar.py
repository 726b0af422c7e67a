"""A person's chats by day."""

from __future__ import annotations

from datetime import date, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext

from chatapp.models import Chat
from chatapp.presenting.values import SidebarGroup


def read_sidebar(user: AbstractBaseUser, *, most: int = 200) -> list[SidebarGroup]:
    """The person's chats by the day they were last touched, newest first; never a message's text."""
    today = timezone.localdate()
    groups: dict[str, list[Chat]] = {}
    for chat in Chat.objects.for_user(user).for_list().newest_first()[:most]:
        groups.setdefault(_day_label(timezone.localdate(chat.touched_at), today), []).append(chat)
    return [SidebarGroup(label, chats) for label, chats in groups.items()]


def _day_label(day: date, today: date) -> str:
    if day >= today:
        return gettext("Today")
    if day == today - timedelta(days=1):
        return gettext("Yesterday")
    if day > today - timedelta(days=7):
        return gettext("Last seven days")
    return capfirst(date_format(day, "YEAR_MONTH_FORMAT" if day.year != today.year else "F"))
