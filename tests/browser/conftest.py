"""A real browser at the real server with a scripted endpoint; every complaint of the browser fails the test."""

from __future__ import annotations

import itertools
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from chatapp.models import LanguageModel
from tests.browser.acting import Script, Visit
from tests.browser.server_rows import ServerRows
from tests.scripted import ScriptedEndpoint
from tests.shapes import SHAPES, Served

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
PATIENCE_MS = 20_000
WINDOW = 8_000
_names = itertools.count(1)

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def endpoint() -> Iterator[ScriptedEndpoint]:
    models = [{"id": name, "object": "model", "max_model_len": WINDOW} for name in ("scripted", "other")]
    with ScriptedEndpoint.in_thread(models) as scripted:
        yield scripted


@pytest.fixture(scope="session")
def server(
    request: pytest.FixtureRequest, endpoint: ScriptedEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """One for all browser tests, of the shape that --shape names; each test is a person of its own there."""
    environment = {
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_MODEL": "scripted",
        "SECRET_KEY": settings.SECRET_KEY,  # sessions are made here, beside the server
    }
    start = SHAPES[request.config.getoption("--shape")]
    with start(tmp_path_factory.mktemp("served"), environment) as served:
        yield served


@pytest.fixture(scope="session")
def rows(server: Served, django_db_blocker: DjangoDbBlocker) -> Iterator[ServerRows]:
    with django_db_blocker.unblock():
        beside = ServerRows(server.database)
        beside(_know_three_models)
        yield beside
        beside.close()


def _know_three_models() -> None:
    """The server asks the endpoint for its models in the background; three with a window are wanted from the start."""
    scripted = LanguageModel.objects.get(name="scripted")
    facts = {"window_reported": WINDOW, "enabled": True}
    LanguageModel.objects.update_or_create(endpoint=scripted.endpoint, name="scripted", defaults=facts)
    LanguageModel.objects.update_or_create(endpoint=scripted.endpoint, name="other", defaults=facts)
    LanguageModel.objects.create(endpoint=scripted.endpoint, name="vast", window_set=1_000_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A module's and no longer: while Playwright is up, its loop would be in the way of every asynchronous test."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def script(endpoint: ScriptedEndpoint) -> Script:
    """What the model says in this test; titles and summaries are asked for in between and answered apart."""
    told = Script(endpoint, deque())
    endpoint.always(told.answer)
    return told


@pytest.fixture
def visit(browser: Browser, server: Served, rows: ServerRows, script: Script) -> Iterator[Callable[..., Visit]]:
    """visit() opens a browser of a new person; visit(name="…") of one of that name; options go to the context."""
    opened: list[Visit] = []

    def arrive(*, name: str = "", is_staff: bool = False, **options: Any) -> Visit:
        name = name or f"alice{next(_names)}"
        # What a service worker has in its hands no test can hold up or answer.
        context = browser.new_context(base_url=server.url, **{"service_workers": "block"} | options)
        context.set_default_timeout(PATIENCE_MS)
        key = rows.sign_in(name, is_staff=is_staff)
        context.add_cookies([{"name": "sessionid", "value": key, "url": server.url}])
        opened.append(Visit(context, name, rows, allowed=["Service Worker registration blocked"]))
        return opened[-1]

    yield arrive
    for each in opened:
        each.context.close()
    complaints = [complaint for each in opened for complaint in each.complaints]
    assert not complaints, complaints


@pytest.fixture
def alice(visit: Callable[..., Visit]) -> Visit:
    return visit()


@pytest.fixture
def page(alice: Visit) -> Page:
    """alice's home page."""
    return alice.open("/")
