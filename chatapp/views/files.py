"""Files by themselves: taken in as they are chosen, and shown to their owner."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import etag, require_GET, require_POST

from chatapp.fields import number_in, uuid_in
from chatapp.files.unusable import Unusable
from chatapp.history import loading
from chatapp.models import Chat, File, LanguageModel, SiteSettings
from chatapp.views.answering import PersonRequest
from chatapp.views.attaching import take_in

# Nothing in a file may run, load or be framed, even where a browser opens it as a page of its own.
POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"


@login_required
@require_POST
def upload(request: PersonRequest) -> HttpResponse:
    """One file, for the chat or the model that the post names: its chip, or the sentence that says why not (422)."""
    uploaded = request.FILES.get("upload")
    if uploaded is None:
        return _refuse(request, Unusable("no_content"))
    try:
        taken = take_in(request, uploaded, model=_model_for(request))
    except Unusable as unusable:
        return _refuse(request, unusable)
    return render(request, "files/_chip.html", {"file": taken})


def _tag(request: PersonRequest, file_id: UUID) -> str | None:
    """A file never changes; what is erased, or a stranger's, has none."""
    return f'"{file_id}"' if File.objects.for_user(request.user).filter(pk=file_id).exists() else None


@login_required
@require_GET
@etag(_tag)
def file(request: PersonRequest, file_id: UUID) -> HttpResponse:
    """An image as it is, a text to be saved; never anything that a browser takes for a page."""
    found = get_object_or_404(File.objects.for_user(request.user), pk=file_id)
    name = found.name if found.kind != File.Kind.PDF else f"{found.name}.txt"
    response = HttpResponse(
        found.data if found.is_image else found.text,
        content_type=found.media_type if found.is_image else "text/plain; charset=utf-8",
    )
    response["Content-Disposition"] = content_disposition_header(as_attachment=not found.is_image, filename=name) or ""
    response["Content-Security-Policy"] = POLICY
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["Cache-Control"] = "private, no-cache"  # erased is erased, and signed out is signed out
    return response


@login_required
@require_GET
def text(request: PersonRequest, file_id: UUID) -> HttpResponse:
    """What the model is sent of it, to be read: a fragment where the chip opens, or a page."""
    found = get_object_or_404(File.objects.for_user(request.user).defer("data"), pk=file_id)
    if found.is_image:
        raise Http404
    return render(request, "files/_text.html" if request.htmx else "files/text.html", {"file": found})


def _refuse(request: PersonRequest, why: Unusable) -> HttpResponse:
    context = {"code": why.code, "name": why.name, "reached": why.reached}
    return render(request, "files/_refused.html", context, status=422)


def _model_for(request: PersonRequest) -> LanguageModel | None:
    site = SiteSettings.get_solo()
    named = uuid_in(request.POST.get("chat"))
    chat = Chat.objects.for_user(request.user).filter(pk=named).first() if named else None
    if chat:
        return loading.model_of(chat, site)
    chosen = LanguageModel.objects.usable().filter(pk=number_in(request.POST.get("model")) or 0).first()
    return chosen or loading.default_model(site)
