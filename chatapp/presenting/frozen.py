"""A shared copy as its readers see it: the same rendering as in a chat, with numbers in the place of ids."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from chatapp.history.sharing import time_of
from chatapp.models import Message, Share
from chatapp.presenting.messages import view_message
from chatapp.presenting.values import MessageView

MESSAGES_ON_A_PAGE = 100


@dataclass(frozen=True, slots=True)
class FrozenPage:
    """Some of a copy's messages; `earlier` and `later`: where the pages beside it begin, None where there is none."""

    messages: list[MessageView]
    earlier: int | None
    later: int | None


def read_frozen(share: Share, *, start: int) -> FrozenPage:
    start = min(start, max(0, share.message_count - 1))
    end = start + MESSAGES_ON_A_PAGE
    shown = [_view(number, said) for number, said in enumerate(share.messages[start:end], start=start)]
    earlier = max(0, start - MESSAGES_ON_A_PAGE) if start else None
    return FrozenPage(shown, earlier, end if end < share.message_count else None)


def _view(number: int, said: dict[str, Any]) -> MessageView:
    row = Message(pk=number, position=number, **(said | {"created_at": time_of(said)}))
    return replace(view_message(row), can_edit=False)
