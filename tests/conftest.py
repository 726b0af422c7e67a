"""Fixtures for every test: the real demo engine, the real server, and a header that says what they run on."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import hypothesis
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection, connections
from django.db.models.signals import post_migrate
from django.test import override_settings
from django.utils import translation

from chatapp import engine as demo
from tests import shapes
from tests.live import ROOT, LiveServer, bare_environment
from tests.shapes import SHAPES

ENGINE_CONTEXT = 2048
CREATE_PERMISSIONS = "django.contrib.auth.management.create_permissions"

# A shell ignores SIGINT in what it runs in the background, and a server that is started from there would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time, so that a red run is red again; `pytest --hypothesis-profile=hunt` looks for new ones.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.register_profile("hunt", max_examples=2_000, deadline=None)
hypothesis.settings.load_profile("steady")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shape", choices=SHAPES, default="one", help="what the browser tests visit (tests/shapes.py)")


def pytest_report_header(config: pytest.Config) -> list[str]:
    database = settings.DATABASES["default"]["ENGINE"].rpartition(".")[2]
    layer = settings.CHANNEL_LAYERS["default"]["BACKEND"].rpartition(".")[2]
    return [
        f"foldline: database {database}, channel layer {layer}",
        f"the browser visits {shapes.describe(config.getoption('--shape'))}",
    ]


def pytest_runtest_teardown() -> None:
    """No test speaks the language of the last page of another."""
    translation.deactivate()


def empty_what_is_full(_style: object, tables: Sequence[str], **_: object) -> list[str]:
    """In Django's place: TRUNCATE makes the files of each table and index anew, ten times the work of a few DELETEs.

    The lock waits for what a thread of the test has not committed yet, as TRUNCATE does.
    """
    names = ", ".join(f'"{table}"' for table in tables)
    each = ", ".join(f"'{table}'" for table in tables)
    return [
        f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE",
        "SET LOCAL session_replication_role = replica",  # no foreign key is to be looked after
        f"""DO $$ DECLARE name text; is_full boolean; BEGIN
            FOREACH name IN ARRAY ARRAY[{each}] LOOP
                EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO is_full;
                IF is_full THEN EXECUTE format('DELETE FROM %I', name); END IF;
            END LOOP; END $$""",
    ]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """Nothing is made anew behind each flush of the tables: permissions alone took half of a test of the pages.

    The one thread that AsyncClient's requests share keeps its connection open, which no request of a test closes.
    """
    post_migrate.disconnect(dispatch_uid=CREATE_PERMISSIONS)
    post_migrate.disconnect(create_contenttypes)
    if connection.vendor == "postgresql":
        connection.ops.sql_flush = empty_what_is_full  # type: ignore[method-assign, assignment]
    yield
    asyncio.run(sync_to_async(connections.close_all)())


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[demo.Engine]:
    """One real engine for the session, with a window of 2,048 tokens; `engine.base_url()` is its address."""
    folder = tmp_path_factory.mktemp("engine")
    with override_settings(LOCAL_MODEL_CONTEXT=ENGINE_CONTEXT, FOLDLINE_DATA=folder):
        running = demo.make_engine()
    running.start()
    assert running.wait_ready(30), (folder / "engine.log").read_text()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an empty database and the static files, to be copied: preparing one takes four seconds."""
    folder = tmp_path_factory.mktemp("prepared")
    environment = bare_environment(FOLDLINE_DATA=str(folder))
    subprocess.run([sys.executable, "manage.py", "prepare"], cwd=ROOT, env=environment, check=True, capture_output=True)
    return folder


@pytest.fixture
def start_server(tmp_path: Path, prepared: Path) -> Iterator[Callable[..., LiveServer]]:
    """start_server(NAME="value", …) runs the real server with that environment; it ends with the test.

    Its data folder is a prepared one, or `data` as it is.
    """
    started: list[LiveServer] = []

    def start(*, data: Path | None = None, **environment: str) -> LiveServer:
        folder = data or shutil.copytree(prepared, tmp_path / f"data{len(started)}")
        server = LiveServer(folder, environment)
        started.append(server)
        return server.start()

    yield start
    for server in started:
        if server.process is not None:
            server.stop()
