"""One import, a chat a step: whoever drives it decides how much time it may take at once."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from chatapp.archives.opening import Opened, Unopenable, open_upload
from chatapp.archives.reading import Unreadable, read_chats, usable_models
from chatapp.history import importing
from chatapp.history.candidates import Candidate
from chatapp.history.importing import Place, Work
from chatapp.importing.files import path_of

# A file in which nothing is a chat isn't read to its end, nor one that is broken again and again.
MOST_STRANGE = 100
MOST_LEFT_OUT = 1_000
MOST_CHATS = 100_000
# Of a ZIP, these say that an entry is something else: a picture, a page.
_OTHER = frozenset({"not_json", "empty"})


def steps(work: Work) -> Generator[None]:
    """Every step is one transaction. Raises Fenced where the import was cancelled or taken over."""
    reading = _Reading(work)
    try:
        yield from reading.steps()
    except Unopenable as unopenable:
        importing.end(work=work, problem=unopenable.code)
    else:
        importing.end(work=work, problem="" if reading.has_found or work.file_number else "no_chats")


@dataclass(slots=True)
class _Reading:
    work: Work
    read_bytes: int = 0
    chats: int = 0
    left_out: int = 0
    has_found: bool = False

    def steps(self) -> Iterator[None]:
        opened = open_upload(
            path_of(self.work.import_id), self.work.name, on_read=self._note, skip=self.work.file_number
        )
        for number, file in enumerate(opened, start=self.work.file_number):
            skip = self.work.chats_read if number == self.work.file_number else 0
            yield from self._file(file, number, skip)

    def _note(self, read_bytes: int) -> None:
        self.read_bytes = read_bytes

    def _file(self, file: Opened, number: int, skip: int) -> Iterator[None]:
        place = Place(number, file.name, skip, self.read_bytes)
        problem, is_known = "", bool(skip)
        self.left_out = 0
        self.has_found = self.has_found or is_known
        try:
            for candidate in read_chats(file.chunks, owner_id=self.work.owner_id, usable=usable_models(), skip=skip):
                place = Place(number, file.name, place.chats_read + 1, self.read_bytes)
                is_known = is_known or candidate.problem != "no_chat"
                if not is_known:
                    if place.chats_read > MOST_STRANGE:
                        break
                    continue
                self._check(candidate)
                importing.take(work=self.work, candidate=candidate, place=place)
                self.has_found = True
                yield
        except Unreadable as unreadable:
            problem = unreadable.code
        except Unopenable as unopenable:
            if not file.is_entry or unopenable.code == "bomb":
                raise
            problem = unopenable.code
        if not is_known:
            problem = problem or "no_chats"
            if not file.is_entry:
                raise Unopenable(problem)
            if problem in {*_OTHER, "no_chats"}:
                return
        self.has_found = True
        importing.end_file(work=self.work, place=place, problem=problem)
        yield

    def _check(self, candidate: Candidate) -> None:
        self.chats += 1
        self.left_out += bool(candidate.problem)
        if self.chats > MOST_CHATS:
            raise Unopenable("too_many_chats")
        if self.left_out > MOST_LEFT_OUT:
            raise Unreadable("too_many_broken")
