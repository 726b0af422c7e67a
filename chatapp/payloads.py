"""What goes out of a request: its messages as the API takes them, with the images that are read only now."""

from __future__ import annotations

from typing import Any

from chatapp.database import in_database
from chatapp.history.attaching import image_urls
from compaction.request import RequestMessage, as_payload


async def payload_of(request: tuple[RequestMessage, ...]) -> list[dict[str, Any]]:
    """A request without images costs no look at the database."""
    has_images = any(message.images for message in request)
    return as_payload(request, await in_database(image_urls, request) if has_images else None)
