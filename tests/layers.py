"""A channel layer that behaves as badly as one was seen to."""

from __future__ import annotations

import asyncio
from typing import Any

from channels.layers import BaseChannelLayer


class SwallowingLayer(BaseChannelLayer):
    """Turns a cancellation in mid-send into an error of its own, as a Redis client in the middle of a reply may."""

    def __init__(self, **_: Any) -> None:
        super().__init__()

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as lost:
            raise ConnectionError("closed in mid-send") from lost
