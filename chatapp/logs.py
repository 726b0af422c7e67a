"""How the log looks, and what no line of it holds: words of messages, keys, addresses that open a door.

A line is an event with facts beside it: the request's id, the chat's and the person's, never a name. An exception is
told by its type, where it was raised, and its own words only where they can't be a person's: PostgreSQL's error for a
row that it refuses holds the whole row. LOG_LEVEL=DEBUG shows all words.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from collections.abc import Iterable, MutableMapping
from typing import Any

import structlog
from structlog.stdlib import ProcessorFormatter

Event = MutableMapping[str, Any]

FORMATS = ("console", "json")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")

# Links (shared, of the first account, of a new password), whatever else is long and no id, a password in an address.
_DOOR = re.compile(r"(/(?:s|setup|reset/key)/)[^/\s?]+")
_TOKEN = re.compile(r"(?<=/)(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:/|$))[A-Za-z0-9_:-]{24,}(?=/|\s|$)")
_PASSWORD = re.compile(r"(://)[^/@\s]+@")
# Their words are the interpreter's, the system's or, on their first line, the database's.
_SAFE_TYPES = (OSError, ImportError, AttributeError, NameError, TypeError, RuntimeError)


def logging_settings(*, form: str, level: str) -> dict[str, Any]:
    """Django's LOGGING; structlog's events and those of all other loggers go the same way to standard error."""
    stamped: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *stamped, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    tell = tell_exception_in_full if level == "DEBUG" else tell_exception
    formatter = {
        "()": ProcessorFormatter,
        "foreign_pre_chain": stamped,
        "processors": [ProcessorFormatter.remove_processors_meta, tell, close_doors, _renderer(form)],
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "filters": {"discreet": {"()": "chatapp.logs.Discreet", "in_full": level == "DEBUG"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["discreet"]}},
        "root": {"handlers": ["console"], "level": "ERROR" if level == "ERROR" else "WARNING"},
        "loggers": {
            "foldline": {"level": level},
            # It would tell the same error at length each second while the layer is away; foldline.events says it once.
            "channels_redis.pubsub": {"level": "CRITICAL"},
            # Django has a handler of its own for these in DEBUG; ours is the one.
            "django": {"handlers": [], "level": "ERROR" if level == "ERROR" else "WARNING"},
        },
    }


def _renderer(form: str) -> Any:
    if form == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    return structlog.dev.ConsoleRenderer(
        colors=sys.stderr.isatty(), pad_event_to=0, exception_formatter=structlog.dev.plain_traceback
    )


class Discreet(logging.Filter):
    """Exceptions among the arguments of a line are told as `words_of` has them."""

    def __init__(self, *, in_full: bool = False) -> None:
        super().__init__()
        self.in_full = in_full

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple) and not self.in_full:
            record.args = tuple(words_of(arg) if isinstance(arg, BaseException) else arg for arg in record.args)
        if record.name == "asyncio" and isinstance(record.msg, str) and not self.in_full:
            record.msg = record.msg.partition("\n")[0]  # below stands the task with its exception's words
        return True


def words_of(error: BaseException) -> str:
    """Its type, and its own words where they can't hold what a person wrote."""
    name = type(error).__name__
    if isinstance(error, _SAFE_TYPES) or type(error).__module__.startswith(("django.db", "psycopg", "sqlite3")):
        first = str(error).partition("\n")[0].strip()
        return f"{name}: {first}" if first else name
    return name


def tell_exception(_logger: Any, _method: str, event: Event) -> Event:
    """Where each of the chain was raised, without the words of those that may quote."""
    if error := _exception_in(event):
        event["exception"] = "\n".join(_told(error))
    return event


def tell_exception_in_full(_logger: Any, _method: str, event: Event) -> Event:
    if error := _exception_in(event):
        event["exception"] = "".join(traceback.format_exception(error)).rstrip()
    return event


def close_doors(_logger: Any, _method: str, event: Event) -> Event:
    """Addresses without what opens them, in the event and in each fact."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = _PASSWORD.sub(r"\1…@", _TOKEN.sub("…", _DOOR.sub(r"\1…", value)))
    return event


def _exception_in(event: Event) -> BaseException | None:
    info = event.pop("exc_info", None)
    if isinstance(info, tuple):
        info = info[1]
    elif info and not isinstance(info, BaseException):
        info = sys.exc_info()[1]
    return info if isinstance(info, BaseException) else None


def _told(error: BaseException) -> Iterable[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None:
        yield from _told(before)
        yield "then:"
    yield from (line.rstrip() for line in traceback.format_tb(error.__traceback__))
    yield words_of(error)
