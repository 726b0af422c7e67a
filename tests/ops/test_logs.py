"""No line of the log holds what a person wrote, or what opens a door."""

import io
import json
import logging
import logging.config

import pytest
import structlog
from django.conf import settings
from django.db import IntegrityError

from chatapp.logs import logging_settings

CHAT = "0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.fixture
def lines(monkeypatch):
    """What has been logged as JSON at INFO, parsed."""
    yield from _logging_to(monkeypatch, level="INFO")


@pytest.fixture
def lines_in_full(monkeypatch):
    yield from _logging_to(monkeypatch, level="DEBUG")


def _logging_to(monkeypatch, *, level):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    logging.config.dictConfig(logging_settings(form="json", level=level))
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    monkeypatch.undo()
    logging.config.dictConfig(settings.LOGGING)


def fail(error: Exception) -> None:
    """Told twice, as an argument and as what was raised."""
    try:
        raised(error)
    except type(error):
        log = logging.getLogger("foldline.runs")
        log.warning("Not stored: %s", error)
        log.exception("A run failed.")


def raised(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    "error",
    [
        ValueError("my secret diary"),
        KeyError("my secret diary"),
        IntegrityError("null value in column\nDETAIL:  Failing row contains (1, my secret diary)."),
    ],
)
def test_exception_is_told_without_words_that_may_be_a_person_s(lines, error):
    fail(error)
    said, told = lines()
    assert "secret diary" not in f"{said} {told}"
    assert type(error).__name__ in said["event"]
    assert "in raised" in told["exception"]


def test_words_of_the_system_and_of_the_cause_stay(lines):
    error = OSError(28, "No space left on device")
    error.__cause__ = ValueError("my secret diary")
    fail(error)
    line = lines()[-1]
    assert "No space left on device" in line["exception"]
    assert "ValueError" in line["exception"]
    assert "secret diary" not in line["exception"]


def test_debug_shows_all_words(lines_in_full):
    fail(ValueError("my secret diary"))
    said, told = lines_in_full()
    assert "my secret diary" in said["event"]
    assert "my secret diary" in told["exception"]


def test_task_that_nobody_awaited_is_told_without_its_exception_s_words(lines):
    logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: <Task ValueError('my diary')>")
    (line,) = lines()
    assert line["event"] == "Task exception was never retrieved"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Not Found: /s/short/continue/", "Not Found: /s/…/continue/"),
        ("Not Found: /setup/abc/", "Not Found: /setup/…/"),
        ("Not Found: /key/MQ-c8x2bd-1234567890abcdef1234567/x/", "Not Found: /key/…/x/"),
        (f"Not Found: /chats/{CHAT}/send/", f"Not Found: /chats/{CHAT}/send/"),
        ("at https://ann:hush@models.example/v1", "at https://…@models.example/v1"),
    ],
)
def test_address_is_told_without_what_opens_it(lines, said, told):
    logging.getLogger("django.request").warning("%s", said)
    structlog.get_logger("foldline.requests").info("request", path=said)
    first, second = lines()
    assert first["event"] == told
    assert second["path"] == told


def test_every_line_of_a_request_carries_its_id(lines):
    with structlog.contextvars.bound_contextvars(request="abc"):
        logging.getLogger("foldline.runs").warning("The text so far could not be stored.")
    (line,) = lines()
    assert (line["request"], line["level"], line["logger"]) == ("abc", "warning", "foldline.runs")
