"""`manage.py serve`: Foldline's server in one process, with the demo engine beside it, until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
from collections.abc import Callable
from typing import Any

# First, before anything imports a reactor: Daphne installs Twisted's asyncio one.
from daphne.server import Server  # isort: skip

from daphne.endpoints import build_endpoint_description_strings
from daphne.http_protocol import HTTPFactory
from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse
from django.utils.module_loading import import_string
from twisted.internet import defer
from twisted.internet.error import CannotListenError
from twisted.python.failure import Failure

from chatapp import accounts, addresses, auditing, endpoints, engine, intake, metrics, readiness, runs
from chatapp.models import Endpoint

log = logging.getLogger("foldline.serve")

SOCKET_LIMIT = 64 * 1024  # bytes; the browser only says what it has seen
GOODBYE_SECONDS = 10


class PageProtocol(WebSocketProtocol):
    """A page's socket: the limit holds for what comes in alone. Autobahn would refuse to send more than that, too."""

    def sendMessage(self, payload: bytes, isBinary: bool = False, **_: Any) -> None:  # noqa: FBT001, FBT002, N802, N803
        if self.state == self.STATE_OPEN:
            self.sendFrame(self.MESSAGE_TYPE_BINARY if isBinary else self.MESSAGE_TYPE_TEXT, payload)


class FoldlineServer(Server):
    """Daphne's server, that judges bodies as they come, tells when it listens and remembers why it can't."""

    failure: Failure | None = None
    _intake: intake.Factory
    _sockets: WebSocketFactory

    @property
    def http_factory(self) -> intake.Factory:
        return self._intake

    @http_factory.setter
    def http_factory(self, _daphnes_own: HTTPFactory) -> None:
        self._intake = intake.Factory(self)

    @property
    def ws_factory(self) -> WebSocketFactory:
        return self._sockets

    @ws_factory.setter
    def ws_factory(self, daphnes_own: WebSocketFactory) -> None:
        daphnes_own.protocol = PageProtocol
        self._sockets = daphnes_own

    def __init__(self, *args: Any, on_listening: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.on_listening = on_listening

    def kill_all_applications(self) -> defer.Deferred[None]:
        """Daphne would cut off at once whatever is being answered, and let its clients wait for the process's end."""
        return say_goodbye().addBoth(lambda _: self.cut_off())

    def cut_off(self) -> defer.Deferred[None]:
        arriving = [protocol for protocol, of in self.connections.items() if "application_instance" not in of]
        for protocol in arriving:  # Daphne takes for granted that each request has come in whole
            del self.connections[protocol]
        ended: defer.Deferred[None] = super().kill_all_applications()
        return ended

    def listen_success(self, port: Any) -> None:
        super().listen_success(port)
        self.on_listening()

    def listen_error(self, failure: Failure) -> None:
        self.failure = failure
        self.stop()


class Command(BaseCommand):
    help = "Runs Foldline at HOST and PORT."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--prepare", action="store_true", help="Bring database and static files up to date first.")

    def handle(self, *, prepare: bool, **_: Any) -> None:
        engine.start_if_wanted()  # it loads its model while we do the rest
        try:
            if prepare:
                call_command("prepare", stdout=self.stdout)
            self.make_account()
            self.run(endpoints.sync_from_environment())
        finally:
            engine.stop()

    def make_account(self) -> None:
        try:
            user = accounts.make_unattended_superuser(os.environ)
        except accounts.BadUnattendedAccount as bad:
            raise CommandError(str(bad)) from bad
        if user:
            auditing.record(auditing.Action.ACCOUNT_MADE, target=f"user: {user.get_username()}")

    def run(self, endpoint: Endpoint | None) -> None:
        greeting = self.greeting()
        server = FoldlineServer(
            import_string(settings.ASGI_APPLICATION),  # after the preparation: WhiteNoise lists the files once
            endpoints=build_endpoint_description_strings(host=settings.HOST, port=settings.PORT),
            websocket_max_message_size=SOCKET_LIMIT,
            websocket_max_frame_size=SOCKET_LIMIT,
            ready_callable=lambda: begin(endpoint, self.say),
            on_listening=lambda: self.say(*greeting),
            server_name="Foldline",
            **(PROXY_HEADERS if settings.PUBLIC_URL else {}),
        )
        server.run()
        if server.failure is not None:
            raise CommandError(why_not_listening(server.failure))

    def greeting(self) -> list[str]:
        here, *elsewhere = addresses.to_print(settings.PUBLIC_URL, settings.HOST, settings.PORT)
        lines = [f"Foldline is at {here}", *(f"From other machines: {address}" for address in elsewhere)]
        if token := accounts.setup_link_token():
            lines.append(f"Make the first account: {here.rstrip('/')}{reverse('setup', args=[token])}")
        if not (settings.OPENAI_BASE_URL or settings.OPENAI_API_KEY) and (reason := engine.reason_unwanted()):
            lines.append(f"The demo model isn't running: {reason}. Connect an endpoint in the admin.")
        return lines

    def say(self, *lines: str) -> None:
        for line in lines:
            self.stdout.write(line)
        self.stdout.flush()


# What a proxy says of its client; intake.py sees to it that no client says so itself.
PROXY_HEADERS = {
    "proxy_forwarded_address_header": "X-Forwarded-For",
    "proxy_forwarded_port_header": "X-Forwarded-Port",
    "proxy_forwarded_proto_header": "X-Forwarded-Proto",
}


def begin(endpoint: Endpoint | None, say: Callable[[str], None]) -> None:
    """Once the loop is known: runs are taken up; an endpoint that is slow to answer keeps nobody waiting."""
    set_aside()
    loop = asyncio.get_event_loop()
    runs.start_up(loop)
    if settings.METRICS_TOKEN:
        keep(loop.create_task(metrics.watch_loop()))
    if endpoint is not None and endpoint.enabled:
        keep(loop.create_task(endpoints.look_into_when_up(endpoint)))
    if not settings.OPENAI_BASE_URL:
        keep(loop.create_task(offer_ollama(say)))


def set_aside() -> None:
    """What the start loaded stays to the end: no collection looks at it again, and the exit takes 0.07 s, not 0.9."""
    gc.collect()
    gc.freeze()


async def offer_ollama(say: Callable[[str], None]) -> None:
    if address := await endpoints.find_ollama():
        say(f"An Ollama answers at {address}; it can be connected in the admin, under Endpoints.")


_background: set[asyncio.Task[None]] = set()  # the loop itself keeps only weak references


def keep(task: asyncio.Task[None]) -> None:
    _background.add(task)
    task.add_done_callback(ended)


def ended(task: asyncio.Task[None]) -> None:
    _background.discard(task)
    if not task.cancelled() and (error := task.exception()):
        log.error("Looking for models failed", exc_info=error)


def say_goodbye() -> defer.Deferred[None]:
    """While the result is awaited the server still takes connections and answers them."""
    readiness.here.is_ending = True
    return defer.Deferred.fromFuture(asyncio.ensure_future(drain_and_end()))


async def drain_and_end() -> None:
    """First the proxy is given time to send people elsewhere, then partial texts are stored and runs closed."""
    await asyncio.sleep(settings.DRAIN_SECONDS)
    for task in _background:
        task.cancel()
    await asyncio.wait_for(runs.shut_down(), GOODBYE_SECONDS)


def why_not_listening(failure: Failure) -> str:
    error = failure.value
    where = f"{settings.HOST}:{settings.PORT}"
    if isinstance(error, CannotListenError) and getattr(error.socketError, "errno", 0) == errno.EADDRINUSE:
        return f"Something else already listens at {where}. Stop it, or choose another PORT."
    return f"Foldline can't listen at {where}: {failure.getErrorMessage()}"
