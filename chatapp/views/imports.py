"""Chats in, from files: a file comes in parts or in a form, is read beside everything else, and a page shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chatapp import importing
from chatapp.archives.opening import CHUNK, shown_name
from chatapp.fields import number_in
from chatapp.history import importing as history
from chatapp.history.errors import HistoryError
from chatapp.importing.files import OutOfStep
from chatapp.models import Chat, Import
from chatapp.views.answering import PersonRequest

RECENT = 5
FILES_SHOWN = 100


def import_or_404(request: PersonRequest, import_id: UUID) -> Import:
    return get_object_or_404(Import.objects.for_user(request.user), pk=import_id)


@login_required
@require_http_methods(["GET", "POST"])
def import_chats(request: PersonRequest) -> HttpResponse:
    """By POST a whole file, or the name and size of one that will come in parts (by a script, which is told where)."""
    if request.method == "GET":
        return _page(request)
    file = request.FILES.get("file")
    if file is None:
        return _announce(request)
    if (file.size or 0) > settings.IMPORT_FORM_LIMIT_BYTES:
        return _refuse(request, "form_too_large")
    try:
        row = history.begin(owner_id=request.user.pk, name=shown_name(file.name or ""), size=file.size or 0)
    except HistoryError as refused:
        return _refuse(request, refused.code, **refused.facts)
    _take_in(row, file.chunks(), at=0)
    return redirect(row)


def _announce(request: PersonRequest) -> HttpResponse:
    name, size = request.POST.get("name", ""), number_in(request.POST.get("size", ""))
    if not name or size is None:
        return _refuse(request, "no_file")
    if size > settings.IMPORT_LIMIT_BYTES:
        return _refuse(request, "too_large")
    try:
        row = history.begin(owner_id=request.user.pk, name=shown_name(name), size=size)
    except HistoryError as refused:
        return _refuse(request, refused.code, **refused.facts)
    if not size:
        _take_in(row, [], at=0)
    part = reverse("import_part", args=[row.pk])
    return JsonResponse({"part": part, "page": row.get_absolute_url()}, status=201)


@login_required
@require_POST
def add_part(request: PersonRequest, import_id: UUID) -> HttpResponse:
    """The bytes from `at` on, as the body; answers how many are there. 409 with that number where they don't follow."""
    row, at = import_or_404(request, import_id), number_in(request.GET.get("at", ""))
    if row.status != Import.Status.ARRIVING or at is None:
        return HttpResponse(row.arrived_bytes, status=409, content_type="text/plain")
    try:
        arrived = _take_in(row, _body(request), at=at)
    except OutOfStep as out_of_step:
        _note(row, out_of_step.arrived)  # the last part may be there, and nobody have been told
        return HttpResponse(out_of_step.arrived, status=409, content_type="text/plain")
    return HttpResponse(arrived, content_type="text/plain")


def _body(request: PersonRequest) -> Iterator[bytes]:
    while chunk := request.read(CHUNK):
        yield chunk


def _take_in(row: Import, chunks: Iterable[bytes], *, at: int) -> int:
    arrived = importing.add_part(row, chunks, at=at)
    _note(row, arrived)
    return arrived


def _note(row: Import, arrived: int) -> None:
    if history.note_arrived(import_id=row.pk, arrived_bytes=arrived):
        importing.wake()


@login_required
@require_GET
def progress(request: PersonRequest, import_id: UUID) -> HttpResponse:
    row = import_or_404(request, import_id)
    context: dict[str, Any] = {"import": row, "files": list(row.files.all()[: FILES_SHOWN + 1])}
    context["more_files"] = len(context["files"]) > FILES_SHOWN
    context["files"] = context["files"][:FILES_SHOWN]
    if row.imported == 1 and not row.is_open:
        context["only_chat"] = Chat.objects.for_user(request.user).for_list().filter(imported_with=row).first()
    if request.htmx:
        return render(request, "archives/_import.html", context)
    return render(request, "archives/progress.html", context)


@login_required
@require_POST
def cancel(request: PersonRequest, import_id: UUID) -> HttpResponse:
    row = import_or_404(request, import_id)
    history.cancel(import_id=row.pk)
    if row.status != Import.Status.RUNNING:  # else its reader does it, which may be in the middle of it
        importing.discard(row.pk)
    return redirect(row)


def _page(request: PersonRequest, *, status: int = 200, **facts: Any) -> HttpResponse:
    recent = Import.objects.for_user(request.user).newest_first()[:RECENT]
    limits = {"most": settings.IMPORT_LIMIT_BYTES // 2**20, "most_in_form": settings.IMPORT_FORM_LIMIT_BYTES // 2**20}
    return render(request, "archives/import.html", {"recent": recent, **limits, **facts}, status=status)


def _refuse(request: PersonRequest, code: str, **facts: Any) -> HttpResponse:
    """A script gets the sentence alone."""
    if "size" in request.POST:
        return render(request, "archives/_problem.html", {"problem": code, **facts}, status=422)
    return _page(request, problem=code, status=422, **facts)
