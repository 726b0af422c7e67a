"""Which recorded usage still tells a chat's size: none of a request whose texts have changed since (rule A2)."""

from __future__ import annotations

from chatapp.models import Chat, Message


def outdate_usage(chat: Chat, *, since: int, through: int, was_sent: bool = False) -> None:
    """The messages between two positions were changed: requests that held them say nothing of the size any more.

    A request held what lay behind its boundary, and what was pinned before it (`was_sent`).
    """
    rows = chat.messages.filter(role=Message.Role.ASSISTANT, position__gte=since)
    if not was_sent:
        rows = rows.exclude(request_through_id__in=chat.messages.filter(position__gte=through).values("pk"))
    rows.update(usage_outdated=True)


def outdate_all(chat: Chat) -> None:
    """What every request begins with was changed: the system prompt. A reply that is being written has the former."""
    chat.messages.filter(role=Message.Role.ASSISTANT).update(usage_outdated=True)


def outdate_record(chat: Chat) -> None:
    """What is sent in place of the archived messages was changed, the boundary was not: a summary by hand, a pin."""
    chat.messages.filter(request_through_id=chat.compacted_through_id).update(usage_outdated=True)
