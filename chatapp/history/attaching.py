"""Files and the messages they belong to: attached, carried along, read for a request, erased with the last of them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.utils import timezone

from chatapp.models import Attachment, Chat, Draft, File, Message, QueuedMessage
from compaction.quoting import fenced, neutralise
from compaction.request import RequestMessage
from compaction.transcript import Image

BATCH = 500
# Of one person's uploads that are attached to nothing yet, not even to a draft.
MOST_WAITING = 50
UNSEEN = "[An image was attached here, {name}, which this model is not shown.]"


@dataclass(frozen=True, slots=True)
class Attached:
    """What files add to a message: their texts, fenced, and images for a model that sees them."""

    text: str = ""
    images: tuple[Image, ...] = ()

    def beside(self, said: str) -> str:
        """What a person said, and after it what they attached."""
        return "\n\n".join(part for part in (said, self.text) if part)


NOTHING = Attached()


Holder = Message | QueuedMessage | Draft
KINDS: dict[type, str] = {Message: "message", QueuedMessage: "queued", Draft: "draft"}


def attach(holder: Holder, file_ids: Sequence[UUID]) -> None:
    """In this order."""
    kind = KINDS[type(holder)]
    Attachment.objects.bulk_create([Attachment(file_id=pk, **{kind: holder}) for pk in file_ids])


def file_ids_of(holder: Holder) -> list[UUID]:
    return list(holder.attachments.order_by("pk").values_list("file_id", flat=True))


def files_of(rows: Iterable[Message]) -> dict[int, list[File]]:
    """By the id of each message that has any, in their order; without their content."""
    return _files_of(rows, "file__text", "file__data")


def kept_files(chat: Chat, message_id: int, *, ticked: Iterable[str] | None) -> list[File]:
    """Of a message that is edited, those whose ids are still ticked; all, where nobody was shown them."""
    own = File.objects.filter(attachments__message__chat=chat, attachments__message=message_id).defer("data")
    return list(own) if ticked is None else [file for file in own if str(file.pk) in set(ticked)]


def files_with_content(rows: Iterable[Message]) -> dict[int, list[File]]:
    return _files_of(rows)


def attached_to(rows: Iterable[Message], *, sees_images: bool) -> dict[int, Attached]:
    """What is sent beside each message that has files, by its id."""
    found = _files_of(rows, "file__data")
    return {pk: attached(files, sees_images=sees_images) for pk, files in found.items()}


def attached(files: Sequence[File], *, sees_images: bool) -> Attached:
    """The same files give the same bytes each time, so that a request only grows at its end (rule G3)."""
    texts = [
        UNSEEN.format(name=neutralise(file.name)) if file.is_image else _fenced(file.name, file.text)
        for file in files
        if not (file.is_image and sees_images)
    ]
    images = tuple(Image(str(file.pk), file.name) for file in files if file.is_image and sees_images)
    return Attached("\n\n".join(texts), images)


def image_urls(request: Iterable[RequestMessage]) -> dict[str, str]:
    """The images of a request as data URLs, by their ids."""
    ids = {image.id for message in request for image in message.images}
    rows = File.objects.filter(pk__in=ids).values_list("pk", "media_type", "data")
    return {str(pk): f"data:{kind};base64,{base64.b64encode(data).decode()}" for pk, kind, data in rows}


def let_go(file_ids: Iterable[UUID]) -> None:
    """What held them does so no longer: they wait to be sent as if they were uploaded now."""
    File.objects.filter(pk__in=list(file_ids)).update(created_at=timezone.now())


def erase_unattached(file_ids: Iterable[UUID]) -> None:
    """Those of them that nothing holds any more."""
    ids = list(file_ids)
    for start in range(0, len(ids), BATCH):
        File.objects.unattached().filter(pk__in=ids[start : start + BATCH]).only("pk").delete()


def forget_oldest(*, owner_id: int) -> None:
    """Whoever uploads without end fills no disk: of what nothing holds the newest fifty are kept."""
    waiting = File.objects.unattached().filter(owner_id=owner_id).order_by("-created_at", "-pk")
    erase_unattached(waiting.values_list("pk", flat=True)[MOST_WAITING:])


def erase_forgotten(*, before: datetime, since: datetime | None = None) -> None:
    """What was uploaded, or let go, before that time and never sent; where it is said, no earlier than `since`."""
    due = File.objects.unattached().filter(created_at__lt=before)
    due = due.filter(created_at__gte=since) if since else due
    erase_unattached(due.values_list("pk", flat=True))


def _files_of(rows: Iterable[Message], *unread: str) -> dict[int, list[File]]:
    ids = [row.pk for row in rows if row.file_count and not row.is_deleted]
    found: dict[int, list[File]] = {}
    for start in range(0, len(ids), BATCH):
        links = Attachment.objects.filter(message_id__in=ids[start : start + BATCH]).select_related("file")
        for link in links.defer(*unread).order_by("pk"):
            found.setdefault(link.message_id or 0, []).append(link.file)
    return found


# Looking for what could close the fence takes longer than reading the text, and the meter asks at every pause.
@lru_cache(maxsize=24)
def _fenced(name: str, text: str) -> str:
    return fenced(text, of=f"the file {neutralise(name)}")
