"""The settings of a chat: its system prompt, its policy, and the parameters that are sent with every reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.text import format_lazy
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods
from django_htmx.http import retarget

from chatapp import presenting
from chatapp.fields import LONGEST_TEXT, TypedText, number_in
from chatapp.history import chats, loading, metering
from chatapp.llm.options import LARGEST_SEED, MOST_STOPS, MOST_TEMPERATURE, MOST_TOP_P, OFFERED
from chatapp.models import Chat, LanguageModel, Preset, SiteSettings
from chatapp.views.answering import PersonRequest, answer_changes, answer_refusal, chat_or_404
from compaction.limits import Limits

EFFORTS: dict[str, Any] = {
    "none": pgettext_lazy("reasoning effort", "None (server’s own)"),
    "low": pgettext_lazy("reasoning effort", "Low"),
    "medium": pgettext_lazy("reasoning effort", "Medium"),
    "high": pgettext_lazy("reasoning effort", "High"),
}
POLICIES: dict[str, Any] = {
    Chat.Policy.COMPACT: _("Fold: earlier turns are summarised behind a divider"),
    Chat.Policy.WINDOW: _("Newest only: send the newest turns that fit, no summary"),
    Chat.Policy.EVERYTHING: _("Everything: never shorten by itself"),
}
# In a box with one sequence a line.
LINE_BREAK = r"\n"


def typed_number(kind: str) -> forms.TextInput:
    """Not of the type "number": a browser would throw away what isn't one, instead of letting us say so beside it."""
    return forms.TextInput(attrs={"inputmode": kind, "autocomplete": "off", "placeholder": _("as the server says")})


def choice_of(label: Any, choices: Mapping[str, Any]) -> forms.ChoiceField:
    return forms.ChoiceField(required=False, label=label, choices=list(choices.items()))


class SettingsForm(forms.Form):
    """Empty is inherited; bad values are errors at their field. Any other field of the post is ignored."""

    system_prompt = TypedText(
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        label=_("System prompt"),
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
    )
    temperature = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_TEMPERATURE,
        label=_("Temperature"),
        help_text=_("0 to 2"),
        widget=typed_number("decimal"),
    )
    top_p = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_TOP_P,
        label=_("Top-p"),
        help_text=_("0 to 1"),
        widget=typed_number("decimal"),
    )
    max_tokens = forms.IntegerField(
        required=False, min_value=1, label=_("Longest reply"), help_text=_("in tokens"), widget=typed_number("numeric")
    )
    seed = forms.IntegerField(
        required=False,
        min_value=-LARGEST_SEED,
        max_value=LARGEST_SEED,
        label=_("Seed"),
        help_text=_("a whole number"),
        widget=typed_number("numeric"),
    )
    reasoning_effort = choice_of(_("Reasoning effort"), EFFORTS)
    stop = TypedText(
        required=False,
        strip=False,
        max_length=LONGEST_TEXT,
        label=_("Stop sequences"),
        help_text=format_lazy(
            _("one a line, up to {number}; {sign} stands for a line break"), number=MOST_STOPS, sign=LINE_BREAK
        ),
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto", "placeholder": _("none, as the server says")}),
    )
    policy = choice_of(_("As the window fills"), POLICIES)

    def __init__(self, data: Any = None, *, limits: Limits, default_prompt: str, chat: Chat | None = None) -> None:
        """Without a chat it is a part of the box for the first message, which starts one."""
        super().__init__(data, initial=values_of(chat or Chat()))
        self.limits, self.default_prompt = limits, default_prompt
        if chat is None:
            for field in self.fields.values():
                field.widget.attrs["form"] = "composer"
        if limits.window:
            words = gettext("That is more than the window holds: %(number)s tokens.") % {
                "number": intcomma(limits.window)
            }
            self.fields["max_tokens"].validators.append(MaxValueValidator(limits.window, words))
        effort = self.initial.get("reasoning_effort")
        if isinstance(effort, str) and effort not in EFFORTS:  # from a file: kept until another is chosen
            self.fields["reasoning_effort"] = choice_of(_("Reasoning effort"), EFFORTS | {effort: effort})

    def clean_system_prompt(self) -> str:
        text: str = self.cleaned_data["system_prompt"]
        if not metering.measure_new_chat(text, self.limits).fits:
            raise ValidationError(gettext("That alone is more than this model can hold. Shorten it."))
        return text

    def clean_stop(self) -> list[str] | None:
        stops = [line.replace(LINE_BREAK, "\n") for line in self.cleaned_data["stop"].split("\n") if line]
        if len(stops) > MOST_STOPS:
            words = ngettext(
                "This is %(number)s sequence; %(most)s are as many as can be sent.",
                "These are %(number)s sequences; %(most)s are as many as can be sent.",
                len(stops),
            )
            raise ValidationError(words % {"number": len(stops), "most": MOST_STOPS})
        return stops or None

    def clean_reasoning_effort(self) -> str | None:
        effort: str = self.cleaned_data["reasoning_effort"]
        return None if effort in ("", "none") else effort

    def changed(self, name: str) -> bool:
        """Whether the post holds this field, and with another value than the chat has."""
        return name in self.data and name in self.changed_data

    def changed_parameters(self) -> dict[str, Any]:
        """By the names of the API; None is inherited from now on."""
        return {name: self.cleaned_data[name] for name in OFFERED if self.changed(name)}


def values_of(chat: Chat) -> dict[str, Any]:
    """What the form shows of a chat."""
    values = {name: chat.parameters.get(name) for name in OFFERED}
    stop = values["stop"] or []
    stops = stop if isinstance(stop, list) else [stop]
    values["stop"] = "\n".join(str(each).replace("\n", LINE_BREAK) for each in stops)
    values["reasoning_effort"] = values["reasoning_effort"] or "none"
    return values | {"system_prompt": chat.system_prompt, "policy": chat.policy}


@login_required
@require_http_methods(["GET", "POST"])
def change_settings(request: PersonRequest, chat_id: UUID) -> HttpResponse:
    """In the sheet or on a page of its own. A reply that is being written goes on as it began."""
    chat = chat_or_404(request, chat_id)
    site = SiteSettings.get_solo()
    model = loading.model_of(chat, site)
    data, is_taken = _typed(request)
    form = SettingsForm(
        data,
        limits=loading.limits_of(model, site, chat),
        default_prompt=site.system_prompt,
        chat=chat,
    )
    if request.method == "POST" and not is_taken and form.is_valid():
        chats.change_settings(
            chat_id=chat.pk,
            system_prompt=form.cleaned_data["system_prompt"] if form.changed("system_prompt") else None,
            policy=form.cleaned_data["policy"],
            parameters=form.changed_parameters(),
        )
        return answer_changes(request, chat.pk)
    run_live = presenting.live_run_of(chat.pk) is not None
    presets = Preset.objects.for_user(request.user).defer("text")
    context = {"chat": chat, "form": form, "model": model, "run_live": run_live, "presets": presets, "taken": is_taken}
    status = 422 if form.errors else 200
    if not request.htmx:
        return render(request, "chat/settings.html", context, status=status)
    return retarget(render(request, "chat/_settings.html", context, status=status), "#sheet")


def _typed(request: PersonRequest) -> tuple[QueryDict | None, bool]:
    """What the form holds; and whether a preset was asked for, which goes into its system prompt, unsaved."""
    if request.method != "POST":
        return None, False
    preset_id = number_in(request.POST.get("preset"))
    preset = Preset.objects.for_user(request.user).filter(pk=preset_id).first() if preset_id else None
    if preset is None:
        return request.POST, "preset" in request.POST
    data = request.POST.copy()
    data["system_prompt"] = preset.text
    return data, True


def settings_of_new_chat(data: Any = None, *, model: LanguageModel | None = None) -> SettingsForm:
    site = SiteSettings.get_solo()
    limits = loading.limits_of(model or loading.default_model(site), site)
    return SettingsForm(data, limits=limits, default_prompt=site.system_prompt)


def refuse_start(request: PersonRequest, code: str, settings: SettingsForm, **typed: Any) -> HttpResponse:
    """Why no chat was begun: under the box, and at the field that is wrong; what was typed stays in all of them."""
    context = {"composer_error": code, "settings": settings, **typed}
    if request.htmx:
        return render(request, "chat/_start_refused.html", context, status=422)
    typed["is_temporary"] = "temporary" in request.POST
    return answer_refusal(request, code, status=422, settings=settings, **typed)
