"""A person's chats by day."""

from __future__ import annotations

from datetime import date, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone

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
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    if day > today - timedelta(days=7):
        return "Last seven days"
    return day.strftime("%B %Y") if day.year != today.year else day.strftime("%B")
