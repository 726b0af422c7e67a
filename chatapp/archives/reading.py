"""A file of chats, read whole before anything of it is stored; a broken chat is told and stops no other."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, NoReturn

from chatapp.archives.checking import BadChat, check_chat
from chatapp.archives.layout import FORMAT, VERSION
from chatapp.history.copying import Original
from chatapp.history.texts import first_words, storable
from chatapp.models import LanguageModel


class Unreadable(Exception):
    """Why nothing of the file can be used: not_json, not_ours, newer_version."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Candidate:
    """One chat of a file: to be stored, or left out for a reason (a code). `key` is the same for the same chat."""

    title: str
    key: str = ""
    original: Original | None = None
    problem: str = ""


def read_archive(data: bytes, *, owner_id: int) -> list[Candidate]:
    """Every chat of the file, as the importer's own. Raises Unreadable."""
    usable = {model.name: model for model in LanguageModel.objects.usable()}
    return [_candidate(raw, owner_id, usable) for raw in _chats(data)]


def _chats(data: bytes) -> list[Any]:
    try:
        archive = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable("not_json") from error
    if not isinstance(archive, dict) or archive.get("format") != FORMAT:
        raise Unreadable("not_ours")
    version, chats = archive.get("version"), archive.get("chats")
    if type(version) is int and version > VERSION:
        raise Unreadable("newer_version")
    if version != VERSION or not isinstance(chats, list):
        raise Unreadable("not_ours")
    return chats


def _candidate(raw: Any, owner_id: int, usable: dict[str, LanguageModel]) -> Candidate:
    title = raw.get("title") if isinstance(raw, dict) else None
    title = first_words(storable(title)) if isinstance(title, str) else ""
    try:
        original = check_chat(raw, owner_id=owner_id, usable=usable)
        said = json.dumps(raw, sort_keys=True)
    except BadChat as bad:
        return Candidate(title, problem=bad.code)
    except RecursionError:
        return Candidate(title, problem="malformed")
    return Candidate(title, hashlib.sha256(said.encode()).hexdigest(), original)


def _refuse_constant(name: str) -> NoReturn:
    """NaN and the infinities aren't JSON, and PostgreSQL wouldn't store them."""
    raise ValueError(name)
