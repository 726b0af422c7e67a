"""One chat of a file, checked to the last reference before any of it is stored. Nothing in it is trusted."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.dateparse import parse_datetime

from chatapp.archives.layout import CHAT, COMPACTION, FILE, KEPT, MESSAGE
from chatapp.files.images import check_image
from chatapp.files.limits import MOST_BYTES, MOST_CHARACTERS
from chatapp.files.naming import harmless_name
from chatapp.files.unusable import Unusable
from chatapp.history import ordering
from chatapp.history.copying import Original
from chatapp.history.errors import HistoryError
from chatapp.history.texts import storable
from chatapp.llm.options import offered
from chatapp.models import Chat, Compaction, File, LanguageModel, Message
from compaction.segments import Segment

Row = TypeVar("Row", Chat, Message, Compaction, File)
OLDEST, NEWEST = 1970, 9998
LARGEST = 2**31 - 1


class BadChat(Exception):
    """Why this chat is left out: malformed, unknown_role, broken_links, two_active, wrong_boundary."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def check_chat(raw: Any, *, owner_id: int, usable: Mapping[str, LanguageModel]) -> Original:
    """`usable`: models by name; one that isn't there is left for the person to choose. Raises BadChat."""
    if not isinstance(raw, dict):
        raise BadChat("malformed")
    chat = _row(Chat, dict.fromkeys(KEPT) | raw, (*CHAT, *KEPT))
    chat.owner_id = owner_id
    chat.model = usable.get(str(raw.get("model")))
    if not isinstance(chat.parameters, dict):
        raise BadChat("malformed")
    chat.parameters = offered(chat.parameters)
    messages = _by_number(raw, "messages", _message)
    _check_tree(messages)
    compactions = _by_number(raw, "compactions", _compaction)
    _check_compactions(compactions, messages)
    if _boundary(compactions, messages) != raw.get("boundary"):
        raise BadChat("wrong_boundary")
    files = _by_number(raw, "files", _file) if "files" in raw else {}
    for file in files.values():
        file.owner_id = owner_id
    folder = _name(raw["folder"], ordering.folder_name) if raw.get("folder") else ""
    return Original(chat, messages, compactions, files, _attached(raw, messages, files), folder, _tags(raw))


def _tags(raw: dict[str, Any]) -> tuple[str, ...]:
    tags = tuple(_name(each, ordering.tag_name) for each in _list(raw.get("tags", [])))
    if len(tags) > ordering.MOST_TAGS:
        raise BadChat("malformed")
    return tags


def _name(value: Any, checked: Callable[[str], str]) -> str:
    try:
        return checked(_text(value))
    except HistoryError as error:
        raise BadChat("malformed") from error


def _by_number(raw: dict[str, Any], name: str, read: Callable[[dict[str, Any]], Row]) -> dict[int, Row]:
    listed = raw.get(name)
    if not isinstance(listed, list):
        raise BadChat("malformed")
    rows = {}
    for one in listed:
        if not isinstance(one, dict):
            raise BadChat("malformed")
        rows[_whole(one.get("id"), least=1)] = read(one)
    if len(rows) != len(listed):
        raise BadChat("broken_links")
    return rows


def _file(raw: dict[str, Any]) -> File:
    """An image is looked at as any upload is."""
    row = _row(File, raw, FILE)
    row.name, row.size = harmless_name(row.name), len(row.text)
    try:
        row.data = base64.b64decode(_text(raw.get("data")), validate=True)
        if row.is_image:
            check_image(row)
    except (ValueError, Unusable) as error:
        raise BadChat("malformed") from error
    is_too_large = len(row.text) > MOST_CHARACTERS or len(row.data) > MOST_BYTES
    if is_too_large or bool(row.data) != row.is_image or bool(row.text) == row.is_image:
        raise BadChat("malformed")
    return row


def _attached(raw: dict[str, Any], messages: dict[int, Message], files: dict[int, File]) -> dict[int, list[int]]:
    """Of each message that has any; one that was deleted has none."""
    attached: dict[int, list[int]] = {}
    for one in raw["messages"]:
        numbers = [_whole(number, least=1) for number in _list(one.get("files", []))]
        if not files.keys() >= set(numbers):
            raise BadChat("broken_links")
        row = messages[one["id"]]
        if numbers and not row.deleted_at:
            attached[one["id"]], row.file_count = numbers, len(numbers)
    return attached


def _message(raw: dict[str, Any]) -> Message:
    if raw.get("role") not in Message.Role.values:
        raise BadChat("unknown_role")
    row = _row(Message, raw, MESSAGE)
    row.parent_id = _reference(raw.get("parent"))
    row.request_through_id = _reference(raw.get("request_through"))
    row.left_out = [_whole(number, least=1) for number in _list(raw.get("left_out"))]
    _check_objects(row.tool_calls, {"id", "name", "arguments"})
    if row.is_live or not isinstance(row.request_extras, dict):
        raise BadChat("malformed")
    return row


def _check_tree(messages: dict[int, Message]) -> None:
    """Every message one position after its parent, so there is no cycle; one active path without a gap."""
    path: dict[int, int] = {}
    for number, row in messages.items():
        parent = messages.get(row.parent_id) if row.parent_id else None
        if (parent is None) != (row.parent_id is None) or row.position != (parent.position + 1 if parent else 0):
            raise BadChat("broken_links")
        if not {row.request_through_id, *row.left_out} <= {None, *messages}:
            raise BadChat("broken_links")
        if row.active and path.setdefault(row.position, number) != number:
            raise BadChat("two_active")
    for position in range(len(path)):
        if position not in path or messages[path[position]].parent_id != path.get(position - 1):
            raise BadChat("broken_links")


def _compaction(raw: dict[str, Any]) -> Compaction:
    row = _row(Compaction, raw, COMPACTION)
    row.through_id = _reference(raw.get("through"))
    row.segments = [_segment(one) for one in _list(raw.get("segments"))]
    _check_objects(row.values_left_out, {"value", "clause"})
    if row.status == Compaction.Status.RUNNING:
        raise BadChat("malformed")
    return row


def _segment(raw: Any) -> dict[str, Any]:
    told = {}
    for field in fields(Segment):
        value = raw.get(field.name) if isinstance(raw, dict) else None
        kind = str if field.default is MISSING else type(field.default)
        if type(value) is not kind:
            raise BadChat("malformed")
        told[field.name] = storable(value) if kind is str else _whole(value) if kind is int else value
    return told


def _check_compactions(compactions: dict[int, Compaction], messages: dict[int, Message]) -> None:
    for row in compactions.values():
        through = messages.get(row.through_id) if row.through_id else None
        if row.through_id and through is None:
            raise BadChat("broken_links")
        if row.status not in {Compaction.Status.APPLIED, Compaction.Status.UNDONE}:
            continue
        if through is None or through.position != row.through_position or row.ended_at is None:
            raise BadChat("wrong_boundary")
        if not row.segments and row.mode != Compaction.Mode.FRESH:
            raise BadChat("malformed")


def _boundary(compactions: dict[int, Compaction], messages: dict[int, Message]) -> int | None:
    """Of the compaction in force, by the same rule as history.boundary."""
    applied = [
        (row.through_position or 0, number, row.through_id)
        for number, row in compactions.items()
        if row.status == Compaction.Status.APPLIED and row.through_id and messages[row.through_id].active
    ]
    return max(applied)[2] if applied else None


def _row(model: type[Row], raw: dict[str, Any], names: tuple[str, ...]) -> Row:
    """An unstored row of what the file says in these columns; every one must be there and of its kind."""
    row, columns = model(), {field.name: field for field in model._meta.fields}  # noqa: SLF001 (public in Django)
    for name in names:
        setattr(row, name, _value(columns[name], raw.get(name)))
    try:
        row.clean_fields(exclude=columns.keys() - set(names))
    except ValidationError as error:
        raise BadChat("malformed") from error
    return row


def _value(field: Any, value: Any) -> Any:
    if value is None and field.null:
        return None
    read = next(read for kind, read in _READERS.items() if isinstance(field, kind))
    return read(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadChat("malformed")
    return storable(value)


def _whole(value: Any, *, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= LARGEST:
        raise BadChat("malformed")
    return value


def _signed(value: Any) -> int:
    return _whole(value, least=-LARGEST)


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise BadChat("malformed")
    return value


def _time(value: Any) -> datetime:
    try:
        time = parse_datetime(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None or time.tzinfo is None or not OLDEST <= time.year <= NEWEST:
        raise BadChat("malformed")
    return time


def _amount(value: Any) -> Decimal:
    try:
        return Decimal(_text(value))
    except InvalidOperation as error:
        raise BadChat("malformed") from error


def _plain(value: Any) -> Any:
    """Lists and objects as they are, with every text in them storable."""
    if isinstance(value, dict):
        return {storable(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return storable(value) if isinstance(value, str) else value


_READERS: dict[type, Callable[[Any], Any]] = {
    models.CharField: _text,
    models.TextField: _text,
    models.BooleanField: _truth,
    models.PositiveIntegerField: _whole,
    models.PositiveSmallIntegerField: _whole,
    models.IntegerField: _signed,
    models.DateTimeField: _time,
    models.DecimalField: _amount,
    models.JSONField: _plain,
}


def _reference(value: Any) -> int | None:
    return None if value is None else _whole(value, least=1)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadChat("malformed")
    return value


def _check_objects(value: Any, names: set[str]) -> None:
    for one in _list(value):
        if not isinstance(one, dict) or set(one) != names or not all(isinstance(text, str) for text in one.values()):
            raise BadChat("malformed")
