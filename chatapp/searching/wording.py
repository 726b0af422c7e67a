"""What a person typed into the search field, taken apart; every text means something, none is an error."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date, datetime, time

from django.utils import timezone

from chatapp.history.texts import storable

MOST_TERMS = 32
LONGEST_TERM = 200

# Words of these are written without blanks between them, or with endings: no database's text search takes them apart.
UNPARTED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNPARTED = re.compile(f"[{UNPARTED}]+")
_LETTER = re.compile(r"[^\W_]")
_NAMES = "title|pinned|archived|folder|tag|folded|before|after"
_PIECE = re.compile(r"(?:(" + _NAMES + r'):)?(?:"([^"]*)("?)|(\S+))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase. `is_prefix`: its last word is still being typed, so that longer ones are meant, too."""

    text: str
    is_prefix: bool = False

    @property
    def is_literal(self) -> bool:
        """Found by its very characters: text search has no word for it."""
        return not _LETTER.search(self.text) or bool(self.signs)

    @property
    def signs(self) -> str:
        """The longest piece of it that text search can't take apart."""
        return max(_UNPARTED.findall(self.text), key=len, default="")


@dataclass(slots=True)
class Query:
    """All of `terms` in one text. `before` and `after` are midnights; the day `after` names is meant, too.

    `pinned`, `archived`, `folder` and `tags` are of chats, `folded` is of messages: those that a summary covers. The
    glossary calls them archived, but who asks for what is archived means chats. None: all of them.
    """

    terms: list[Term] = field(default_factory=list)
    title: list[Term] = field(default_factory=list)
    pinned: bool | None = None
    archived: bool | None = None
    folder: Term | None = None
    tags: list[Term] = field(default_factory=list)
    folded: bool | None = None
    before: datetime | None = None
    after: datetime | None = None

    @property
    def asks_for_chats(self) -> bool:
        """Whether it says anything of the chats that it looks into."""
        return bool(self.title or self.tags or self.folder) or self.pinned is not None or self.archived is not None


def read_query(text: str, *, has_filters: bool = True) -> Query:
    """At most the first 32 terms count, and 200 characters of each. A filter that is none is text like any other."""
    query = Query()
    text = unicodedata.normalize("NFC", storable(text).translate(_QUOTES))
    pieces = list(_PIECE.finditer(text))
    for piece in pieces:
        name, phrase, closed, word = piece.groups()
        value = (word if phrase is None else phrase).strip().strip('"')
        if name and has_filters and _is_filter(query, name.lower(), value, is_whole=bool(closed)):
            continue
        value = f"{name}:{value}" if name else value
        is_last = piece is pieces[-1] and piece.end() == len(text)
        if value and len(query.terms) < MOST_TERMS:
            is_cut = len(value) > LONGEST_TERM
            is_typed = is_last and not closed and len(value) > 1
            query.terms.append(Term(value[:LONGEST_TERM], is_prefix=is_cut or is_typed))
    return query


def bare(text: str) -> str:
    """Small letters without their accents, as the words of both indexes are."""
    return re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", text)).lower()


_QUOTES = str.maketrans("“”„«»", '"""""')


def _is_filter(query: Query, name: str, value: str, *, is_whole: bool) -> bool:
    """Whether it is one; it is then in the query. `is_whole`: in quotes, so nothing longer is meant."""
    day, choice = _midnight(value), {"yes": True, "no": False}.get(value.lower())
    term = Term(value[:LONGEST_TERM], is_prefix=not is_whole)
    if name == "title" and value and len(query.title) < MOST_TERMS:
        query.title.append(Term(term.text, is_prefix=True))
    elif name == "tag" and value and len(query.tags) < MOST_TERMS:
        query.tags.append(term)
    elif name == "folder" and value:
        query.folder = term
    elif name in ("pinned", "archived", "folded") and choice is not None:
        setattr(query, name, choice)
    elif name in ("before", "after") and day:
        setattr(query, name, day)
    else:
        return False
    return True


def _midnight(value: str) -> datetime | None:
    try:
        return timezone.make_aware(datetime.combine(date.fromisoformat(value), time()))
    except (ValueError, OverflowError):
        return None
