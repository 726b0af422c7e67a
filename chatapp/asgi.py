"""The ASGI application: a body limit before anything else, HTTP by Django, one socket an open chat by Channels."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "chatapp.settings")
http = get_asgi_application()

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402 (models can be imported from here on)
from django.urls import path  # noqa: E402

from chatapp import runs  # noqa: E402
from chatapp.consumers import TRY_AGAIN_LATER, PageConsumer  # noqa: E402
from chatapp.database import AWAY  # noqa: E402
from chatapp.events import LAYER_AWAY  # noqa: E402
from chatapp.gates import come_back_later, limit_body, own_site, same_origin  # noqa: E402
from chatapp.hello import greeting  # noqa: E402

SOCKETS = ("ws/chats/<uuid:chat_id>/", "ws/chats/")

routed = ProtocolTypeRouter(
    {
        "http": limit_body(own_site(http)),
        "websocket": same_origin(
            come_back_later(
                greeting(URLRouter([path(address, PageConsumer.as_asgi()) for address in SOCKETS])),
                away=(*AWAY, *LAYER_AWAY),
                code=TRY_AGAIN_LATER,
            ),
            public_url=settings.PUBLIC_URL,
        ),
    }
)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Whatever server runs it: the first connection brings the runs up (`serve` has done so before)."""
    runs.start_up(asyncio.get_running_loop())
    await routed(scope, receive, send)
