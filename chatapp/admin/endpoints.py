"""Endpoints: address and key, and the two buttons that ask an endpoint what it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import admin, messages
from django.contrib.admin import AdminSite
from django.db.models import Count, Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from chatapp import auditing, llm
from chatapp.admin.connecting import Ask, answer_of, look_into, refusal_of
from chatapp.admin.desk import Changes, StaffOnly, named, tokens
from chatapp.llm.target import normal_base_url
from chatapp.models import Endpoint

KEY_FIELDS = {"key", "remove_key"}
FindOllama = Callable[[], Awaitable[str | None]]


class EndpointForm(forms.ModelForm):
    """The key goes in and never comes out: the field is always empty."""

    key = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=2000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
    )
    remove_key = forms.BooleanField(label=_("Remove the stored key"), required=False)

    class Meta:
        model = Endpoint
        fields = ["name", "base_url", "is_local", "enabled"]
        help_texts = {
            "base_url": _(
                "Where the API begins. Most end in /v1: http://localhost:11434/v1 for Ollama, "
                "http://localhost:8080/v1 for llama.cpp, https://api.openai.com/v1 for OpenAI."
            ),
            "enabled": _("Switched off, its models are offered to nobody; chats that used one keep their messages."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.kind != Endpoint.Kind.ADMIN:
            del self.fields["key"], self.fields["remove_key"]
            return
        self.fields["base_url"].required = True
        self.fields["key"].help_text = (
            _("A key is stored. It is never shown again; leave this empty to keep it.")
            if self.instance.has_key
            else _("Stored encrypted. Leave this empty where none is needed, as with Ollama and llama.cpp.")
        )
        if not self.instance.has_key:
            del self.fields["remove_key"]

    def clean_base_url(self) -> str:
        try:
            parts = urlsplit(self.cleaned_data["base_url"])
        except ValueError as wrong:
            raise forms.ValidationError(_("That isn’t an address.")) from wrong
        if parts.username or parts.password:
            raise forms.ValidationError(_("Leave the name and password out of the address; a key has its own field."))
        if (refusal := refusal_of(parts.hostname or "")).code:
            raise forms.ValidationError(refusal.sentence)
        return normal_base_url(self.cleaned_data["base_url"])

    def clean_key(self) -> str:
        key = self.cleaned_data["key"]
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise forms.ValidationError(_("A key has only plain letters, digits and signs. Was something else pasted?"))
        return key

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        key, remove = cleaned.get("key"), cleaned.get("remove_key")
        moved = cleaned.get("base_url") not in {None, self.instance.base_url}
        if key and remove:
            self.add_error("remove_key", _("Either enter a new key or remove the stored one."))
        # Otherwise anyone on the staff could read a key by pointing its endpoint at a server of their own.
        if moved and self.instance.has_key and not key and not remove:
            self.add_error("key", _("Enter the key again, or remove it: a stored key isn’t sent to another address."))
        return cleaned

    def save(self, commit: bool = True) -> Endpoint:  # noqa: FBT001, FBT002 (Django's signature)
        if self.cleaned_data.get("remove_key"):
            self.instance.set_key("")
        elif self.cleaned_data.get("key"):
            self.instance.set_key(self.cleaned_data["key"])
        return super().save(commit=commit)


class EndpointAdmin(StaffOnly):
    form = EndpointForm
    list_display = ["name", "address", "source", "key_state", "models_count", "enabled", "checked_at", "last_answer"]
    actions = None
    save_on_top = False

    def __init__(
        self,
        model: type[Endpoint],
        admin_site: AdminSite,
        *,
        ask: Ask = llm.probe,
        find_ollama: FindOllama = llm.find_ollama,
    ) -> None:
        super().__init__(model, admin_site)
        self.ask = ask
        self.find_ollama = find_ollama

    # What may be done, and what is shown

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        is_ours = not isinstance(obj, Endpoint) or obj.kind == Endpoint.Kind.ADMIN
        return super().has_delete_permission(request, obj) and is_ours

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(model_count=Count("models"))

    def get_fieldsets(self, request: HttpRequest, obj: Endpoint | None = None) -> Any:
        if obj is None:
            return [(None, {"fields": ["name", "base_url", "key", "is_local"]})]
        found = (_("Found there"), {"fields": ["models_offered", "checked_at", "last_answer"]})
        if obj.kind != Endpoint.Kind.ADMIN:
            cache = [] if obj.is_demo else ["is_local"]  # the demo engine keeps its cache anyway
            return [(None, {"fields": ["about", "name", "address", "key_state", *cache, "enabled"]}), found]
        keys = ["key", "remove_key"] if obj.has_key else ["key"]
        return [(None, {"fields": ["name", "base_url", *keys, "is_local", "enabled"]}), found]

    def get_readonly_fields(self, request: HttpRequest, obj: Endpoint | None = None) -> list[str]:
        computed = ["about", "address", "key_state", "models_offered", "checked_at", "last_answer"]
        return computed if obj is None or obj.kind == Endpoint.Kind.ADMIN else ["name", *computed]

    @admin.display(description=_("What this is"))
    def about(self, endpoint: Endpoint) -> str:
        if endpoint.is_demo:
            return gettext(
                "The demo engine that comes with Foldline: a toy model, to try things out. It runs while "
                "neither OPENAI_BASE_URL nor OPENAI_API_KEY is set; LOCAL_MODEL names another model file."
            )
        return gettext(
            "This endpoint comes from OPENAI_BASE_URL and OPENAI_API_KEY in the environment. "
            "Change it there and start Foldline again."
        )

    @admin.display(description=_("address"))
    def address(self, endpoint: Endpoint) -> str:
        return gettext("on this machine") if endpoint.is_demo else endpoint.base_url

    @admin.display(description=_("from"))
    def source(self, endpoint: Endpoint) -> str:
        return endpoint.get_kind_display()

    @admin.display(description=_("key"))
    def key_state(self, endpoint: Endpoint) -> str:
        return gettext("stored") if endpoint.has_key else gettext("none")

    @admin.display(description=_("last answer"))
    def last_answer(self, endpoint: Endpoint) -> str:
        return answer_of(endpoint)

    @admin.display(description=_("models"), ordering="model_count")
    def models_count(self, endpoint: Any) -> int:
        return endpoint.model_count

    @admin.display(description=_("models"))
    def models_offered(self, endpoint: Endpoint) -> SafeString | str:
        rows = [
            (
                reverse("admin:chatapp_languagemodel_change", args=[model.pk]),
                model.name,
                tokens(model.window_tokens) if model.window_tokens else gettext("window unknown"),
                "" if model.enabled else gettext(", switched off"),
            )
            for model in endpoint.models.order_by("name")
        ]
        return format_html_join("", '<div><a href="{}">{}</a> · {}{}</div>', rows) or gettext(
            "none yet: press “Fetch models”"
        )

    # Asking

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("add-ollama/", wrap(require_POST(self.add_ollama)), name="chatapp_endpoint_add_ollama"),
            path("<int:pk>/test/", wrap(require_POST(self.test_connection)), name="chatapp_endpoint_test"),
            path("<int:pk>/fetch/", wrap(require_POST(self.fetch_models)), name="chatapp_endpoint_fetch"),
            *super().get_urls(),
        ]

    @method_decorator(sensitive_post_parameters("key"))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(request, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Endpoint, form: forms.ModelForm, change: bool) -> None:  # noqa: FBT001 (Django's signature)
        super().save_model(request, obj, form, change)
        # After the row is committed would be better, but the answer has to be told on the very next page.
        request.ask_now = not change or bool({"base_url", *KEY_FIELDS} & set(form.changed_data))  # type: ignore[attr-defined]

    def log_change(self, request: HttpRequest, obj: Endpoint, message: Changes) -> None:  # type: ignore[override]
        """That a key was changed is a row of its own; the key is in none."""
        others = [change for change in message if change[0] not in KEY_FIELDS]
        if len(others) < len(message):
            auditing.record(auditing.Action.KEY_CHANGED, request=request, target=named(obj))
        if others:
            super().log_change(request, obj, others)

    def response_add(self, request: HttpRequest, obj: Endpoint, post_url_continue: str | None = None) -> HttpResponse:
        return self._told(request, obj, add_models=True)

    def response_change(self, request: HttpRequest, obj: Endpoint) -> HttpResponse:
        if request.ask_now:  # type: ignore[attr-defined]
            return self._told(request, obj, add_models=True)
        return super().response_change(request, obj)

    def test_connection(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._told(request, get_object_or_404(Endpoint, pk=pk), add_models=False)

    def fetch_models(self, request: HttpRequest, pk: int) -> HttpResponse:
        return self._told(request, get_object_or_404(Endpoint, pk=pk), add_models=True)

    def _told(self, request: HttpRequest, endpoint: Endpoint, *, add_models: bool) -> HttpResponse:
        finding = look_into(endpoint, ask=self.ask, add_models=add_models)
        messages.add_message(request, messages.SUCCESS if finding.ok else messages.ERROR, finding.sentence)
        return redirect("admin:chatapp_endpoint_change", endpoint.pk)

    # Ollama

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "ollama": self._unused_ollama()})

    def add_ollama(self, request: HttpRequest) -> HttpResponse:
        base_url = self._unused_ollama()
        if not base_url:
            messages.warning(
                request, gettext("There is no Ollama at its usual port now, or it has been added already.")
            )
            return redirect("admin:chatapp_endpoint_changelist")
        name = "Ollama" if not Endpoint.objects.filter(name="Ollama").exists() else f"Ollama ({base_url})"
        endpoint, _ = Endpoint.objects.get_or_create(base_url=base_url, defaults={"name": name})
        self.log_addition(request, endpoint, [])
        return self._told(request, endpoint, add_models=True)

    def _unused_ollama(self) -> str | None:
        base_url = async_to_sync(self.find_ollama)()
        return base_url if base_url and not Endpoint.objects.filter(base_url=base_url).exists() else None
