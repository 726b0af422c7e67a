"""The ASGI application: HTTP by Django, one socket an open chat by Channels."""

from django.core.asgi import get_asgi_application

application = get_asgi_application()
