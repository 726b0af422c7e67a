"""The files of a post: uploaded before and named by their ids, or (without JavaScript) in the post itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypedDict
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile

from chatapp.files.limits import MOST_BYTES, MOST_FILES
from chatapp.files.naming import harmless_name
from chatapp.files.owning import own_files
from chatapp.files.reading import read_upload
from chatapp.files.unusable import Unusable
from chatapp.history.allowing import take_upload
from chatapp.history.attaching import attached, forget_oldest
from chatapp.history.errors import LimitReached
from chatapp.history.texts import as_typed
from chatapp.models import File, LanguageModel
from chatapp.views.answering import PersonRequest
from compaction.transcript import Image


@dataclass(slots=True)
class Chosen:
    """`problem`: why one of them can't be sent; the others are still good."""

    files: list[File] = field(default_factory=list)
    problem: Unusable | None = None

    @property
    def ids(self) -> list[UUID]:
        return [file.pk for file in self.files]


def chosen_files(request: PersonRequest, *, model: LanguageModel | None) -> Chosen:
    """What is attached to the message of this post, for that model; with the texts."""
    chosen = Chosen(known_files(request))
    named = len(set(request.POST.getlist("file")))
    is_lacking = named > len(chosen.files)
    for upload in request.FILES.getlist("upload"):
        try:
            chosen.files.append(take_in(request, upload, model=model))
        except Unusable as unusable:
            chosen.problem = chosen.problem or unusable
    if is_lacking:
        chosen.problem = Unusable("too_many_files" if named > MOST_FILES else "gone")
    chosen.problem = chosen.problem or _problem_of(chosen.files, model)
    return chosen


def known_files(request: PersonRequest) -> list[File]:
    """Those of the person's own that the post names."""
    return own_files(request.user, request.POST.getlist("file"))


class Pending(TypedDict):
    pending_text: str
    pending_images: tuple[Image, ...]


def pending_in(request: PersonRequest, *, model: LanguageModel | None) -> Pending:
    """What is being typed and is attached, as the model would be sent it: for the meter and the request's panel."""
    beside = attached(known_files(request), sees_images=bool(model and model.sees_images))
    return {
        "pending_text": beside.beside(as_typed(request.POST.get("text", ""))),
        "pending_images": beside.images,
    }


def take_in(request: PersonRequest, upload: UploadedFile, *, model: LanguageModel | None) -> File:
    """Stored, attached to nothing yet. Raises Unusable."""
    name, size = upload.name or "", upload.size or 0
    if size > MOST_BYTES:
        raise Unusable("too_many_bytes", harmless_name(name))
    try:
        take_upload(owner_id=request.user.pk, size=size)
    except LimitReached as refused:
        raise Unusable(refused.code, harmless_name(name), reached=refused.reached) from refused
    sees_images = bool(model and model.sees_images)
    file = read_upload(name, upload.read(), owner_id=request.user.pk, sees_images=sees_images)
    file.save(force_insert=True)
    forget_oldest(owner_id=request.user.pk)
    return file


def _problem_of(files: Sequence[File], model: LanguageModel | None) -> Unusable | None:
    if len(files) > MOST_FILES:
        return Unusable("too_many_files")
    unseen = next((file for file in files if file.is_image), None)
    if unseen and not (model and model.sees_images):
        return Unusable("unseen", unseen.name)
    return None
