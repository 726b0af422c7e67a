"""A file of chats, read one chat at a time; each is known by what it holds, and a broken one stops no other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chatapp.archives import chatgpt, librechat, openwebui
from chatapp.archives.checking import BadChat, check_chat
from chatapp.archives.foreign import Conversation
from chatapp.archives.layout import FORMAT, VERSION
from chatapp.archives.parsing import Unparsable, parse
from chatapp.archives.planting import plant, state_of
from chatapp.archives.slicing import BrokenFile, Head, cut
from chatapp.history.candidates import Candidate
from chatapp.history.texts import first_words, storable
from chatapp.models import LanguageModel

OURS = "foldline"
FOREIGN = (chatgpt, openwebui, librechat)


class Unreadable(Exception):
    """Why nothing more of the file can be used: a BrokenFile's code, not_ours, newer_version."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def usable_models() -> dict[str, LanguageModel]:
    return {model.name: model for model in LanguageModel.objects.usable()}


def read_chats(
    chunks: Iterable[bytes], *, owner_id: int, usable: Mapping[str, LanguageModel], skip: int = 0
) -> Iterator[Candidate]:
    """Every chat of the file, as the importer's own, but for the first `skip`. Raises Unreadable where it ends."""
    is_ours = False
    number = 0
    try:
        for piece in cut(chunks):
            if isinstance(piece, Head):
                is_ours = _check_head(piece.data)
                continue
            number += 1
            if number > skip:
                yield _read(piece.data, is_ours=is_ours, owner_id=owner_id, usable=usable)
    except BrokenFile as broken:
        raise Unreadable(broken.code) from broken


def _check_head(data: bytes) -> bool:
    """Whether it is one of our files; it may say nothing of itself. Raises Unreadable."""
    try:
        head = parse(data)
    except Unparsable as unparsable:
        raise Unreadable("not_json") from unparsable
    if "format" not in head:
        return False
    version = head.get("version")
    if head["format"] == FORMAT and type(version) is int and version > VERSION:
        raise Unreadable("newer_version")
    if head["format"] != FORMAT or type(version) is not int or version != VERSION:
        raise Unreadable("not_ours")
    return True


def _read(data: bytes | None, *, is_ours: bool, owner_id: int, usable: Mapping[str, LanguageModel]) -> Candidate:
    if data is None:
        return Candidate("", problem="chat_too_large")
    try:
        raw = parse(data)
    except Unparsable as unparsable:
        return Candidate("", problem=unparsable.code)
    title = _title(raw)
    try:
        if is_ours:
            return _own(raw, title, owner_id, usable)
        found = next((each for each in FOREIGN if isinstance(raw, dict) and each.is_chat(raw)), None)
        if found is None:
            return Candidate(title, problem="no_chat")
        return _foreign(found.read(raw), title, owner_id, usable)
    except BadChat as bad:
        return Candidate(title, problem=bad.code)
    except RecursionError:
        return Candidate(title, problem="too_deep")
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):  # a shape nobody has thought of
        return Candidate(title, problem="malformed")


def _own(raw: Any, title: str, owner_id: int, usable: Mapping[str, LanguageModel]) -> Candidate:
    original = check_chat(raw, owner_id=owner_id, usable=usable)
    key = _hash(json.dumps(raw, sort_keys=True))
    return Candidate(title, OURS, key, key, original)


def _foreign(conversation: Conversation, title: str, owner_id: int, usable: Mapping[str, LanguageModel]) -> Candidate:
    """Known by its own id, so that a conversation that has grown isn't taken for another one."""
    original = plant(conversation, owner_id=owner_id, usable=usable)
    state = state_of(original)
    key = _hash(f"{conversation.kind} {conversation.foreign_id or state}")
    return Candidate(title, conversation.kind, key, state, original, dropped=conversation.dropped)


def _title(raw: Any) -> str:
    title = raw.get("title") if isinstance(raw, dict) else None
    return first_words(storable(title)) if isinstance(title, str) else ""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
