"""An upload on its way: it arrives, is taken by a process, and moves on with each chat that is stored (rule J3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chatapp import leases
from chatapp.history.allowing import take_upload
from chatapp.history.candidates import Candidate, store
from chatapp.history.errors import Fenced, NotPossible
from chatapp.models import Import, ImportedFile

# Reading one large chat takes seconds; a dead process of the same host isn't waited for.
LEASE_SECONDS = 60
MOST_OPEN = 3
STALE_HOURS = 24
_PROGRESS = ("file_number", "chats_read", "read_bytes", "lease_until", "takeovers")
# A file that brings down every process that reads it is left alone in the end.
MOST_TAKEOVERS = 5


@dataclass(frozen=True, slots=True)
class Work:
    """One attempt at an import, and where it goes on."""

    import_id: UUID
    attempt: int
    owner_id: int
    name: str
    file_number: int
    chats_read: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the upload: the file within it, the chats of that file that are dealt with, the bytes read of all."""

    file_number: int
    file_name: str
    chats_read: int
    read_bytes: int


@transaction.atomic
def begin(*, owner_id: int, name: str, size: int) -> Import:
    """A file is about to arrive. Raises NotPossible while too many of the person's are on their way, LimitReached."""
    get_user_model().objects.select_for_update(no_key=True).get(pk=owner_id)
    if Import.objects.open().filter(owner_id=owner_id).count() >= MOST_OPEN:
        raise NotPossible("too_many_imports")
    take_upload(owner_id=owner_id, size=size)
    return Import.objects.create(owner_id=owner_id, name=name, size=size)


def note_arrived(*, import_id: UUID, arrived_bytes: int) -> bool:
    """Whether all of it is there now, and it waits to be read."""
    arriving = Import.objects.filter(pk=import_id, status=Import.Status.ARRIVING)
    arriving.update(arrived_bytes=arrived_bytes, touched_at=timezone.now())
    whole = arriving.filter(size=arrived_bytes)
    return bool(whole.update(status=Import.Status.WAITING))


@transaction.atomic
def claim(*, by: str) -> Work | None:
    """The import that has waited longest, or whose process is dead, becomes this process's."""
    dead = Q(status=Import.Status.RUNNING) & leases.maybe_dead("holder")
    waiting = Import.objects.select_for_update(skip_locked=True).filter(Q(status=Import.Status.WAITING) | dead)
    for row in waiting.order_by("touched_at"):
        if row.status == Import.Status.RUNNING:
            if not leases.is_dead(row.holder, row.lease_until):
                continue
            row.takeovers += 1
        if row.takeovers > MOST_TAKEOVERS:
            row.status, row.problem, row.ended_at = Import.Status.FAILED, "gave_up", timezone.now()
            row.save(update_fields=["status", "problem", "ended_at"])
            continue
        row.status, row.holder, row.lease_until = Import.Status.RUNNING, by, _lease()
        row.attempt += 1
        row.save(update_fields=["status", "holder", "lease_until", "attempt", "takeovers"])
        return Work(row.pk, row.attempt, row.owner_id, row.name, row.file_number, row.chats_read)
    return None


@transaction.atomic
def take(*, work: Work, candidate: Candidate, place: Place) -> None:
    """One chat is stored or left out, and the file's place moves on with it. Raises Fenced."""
    row = _held(work)
    column, problem = store(candidate, row)
    file = row.files.filter(number=place.file_number).first()
    file = file or ImportedFile(of=row, number=place.file_number, name=place.file_name)
    file.kind = file.kind or candidate.kind
    setattr(file, column, getattr(file, column) + 1)
    if problem and len(file.problems) < ImportedFile.MOST_PROBLEMS:
        file.problems.append({"title": candidate.title, "code": problem})
    file.save()
    setattr(row, column, getattr(row, column) + 1)
    row.dropped_fields += candidate.dropped if column == "imported" else 0
    row.file_number, row.chats_read, row.read_bytes = place.file_number, place.chats_read, place.read_bytes
    row.lease_until, row.takeovers = _lease(), 0
    row.save(update_fields=[column, "dropped_fields", *_PROGRESS])


@transaction.atomic
def end_file(*, work: Work, place: Place, problem: str) -> None:
    """The next file comes; `problem`: why this one ended too early. Raises Fenced."""
    row = _held(work)
    if problem:
        ImportedFile.objects.update_or_create(
            of=row,
            number=place.file_number,
            create_defaults={"name": place.file_name, "problem": problem},
            defaults={"problem": problem},
        )
    row.file_number, row.chats_read, row.read_bytes = place.file_number + 1, 0, place.read_bytes
    row.lease_until, row.takeovers = _lease(), 0
    row.save(update_fields=_PROGRESS)


def give_way(*, work: Work) -> bool:
    """Whether another person's file waits: then this one goes on after it has had its turn."""
    if not Import.objects.filter(status=Import.Status.WAITING).exclude(owner_id=work.owner_id).exists():
        return False
    running = Import.objects.filter(pk=work.import_id, attempt=work.attempt, status=Import.Status.RUNNING)
    return bool(running.update(status=Import.Status.WAITING, holder="", lease_until=None, touched_at=timezone.now()))


def end(*, work: Work, problem: str = "") -> None:
    status = Import.Status.FAILED if problem else Import.Status.DONE
    running = Import.objects.filter(pk=work.import_id, attempt=work.attempt, status=Import.Status.RUNNING)
    running.update(status=status, problem=problem, ended_at=timezone.now(), holder="", lease_until=None)


def cancel(*, import_id: UUID) -> None:
    """What is imported stays; whoever reads it stops before the next chat."""
    Import.objects.open().filter(pk=import_id).update(
        status=Import.Status.CANCELLED, ended_at=timezone.now(), holder="", lease_until=None
    )


def give_up_stale() -> None:
    """What stopped arriving a day ago won't come any more."""
    before = timezone.now() - timedelta(hours=STALE_HOURS)
    Import.objects.filter(status=Import.Status.ARRIVING, touched_at__lt=before).update(
        status=Import.Status.CANCELLED, ended_at=timezone.now()
    )


def _held(work: Work) -> Import:
    held = Import.objects.select_for_update().filter(
        pk=work.import_id, attempt=work.attempt, status=Import.Status.RUNNING
    )
    row = held.first()
    if row is None:
        raise Fenced
    return row


def _lease() -> datetime:
    return timezone.now() + timedelta(seconds=LEASE_SECONDS)
