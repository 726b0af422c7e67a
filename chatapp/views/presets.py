"""Presets: the page on which a person keeps theirs, and the list that the box offers after a "/"."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models.functions import Left
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from chatapp.models import Preset
from chatapp.presets import PresetForm, keep
from chatapp.views.answering import PersonRequest


@login_required
@require_http_methods(["GET", "POST"])
def presets(request: PersonRequest) -> HttpResponse:
    """All that the person may use, and a form for one more."""
    form = PresetForm(request.POST or None, instance=Preset(owner=request.user))
    if keep(form):
        return redirect("presets")
    context = {"presets": Preset.objects.for_user(request.user), "form": form}
    return render(request, "presets/page.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def change(request: PersonRequest, preset_id: int) -> HttpResponse:
    preset = get_object_or_404(Preset.objects.owned_by(request.user), pk=preset_id)
    form = PresetForm(request.POST or None, instance=preset)
    if keep(form):
        return redirect("presets")
    return render(request, "presets/change.html", {"form": form}, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: PersonRequest, preset_id: int) -> HttpResponse:
    """Asked back by GET, done by POST."""
    preset = get_object_or_404(Preset.objects.owned_by(request.user), pk=preset_id)
    if request.method == "POST":
        preset.delete()
        return redirect("presets")
    return render(request, "presets/delete.html", {"preset": preset})


@login_required
@require_GET
def options(request: PersonRequest) -> HttpResponse:
    """For the box: names, and how each text begins."""
    listed = Preset.objects.for_user(request.user).annotate(opening=Left("text", 61)).defer("text")
    return render(request, "presets/_options.html", {"presets": listed})


@login_required
@require_GET
def text(request: PersonRequest, preset_id: int) -> HttpResponse:
    preset = get_object_or_404(Preset.objects.for_user(request.user), pk=preset_id)
    return HttpResponse(preset.text, content_type="text/plain; charset=utf-8")
