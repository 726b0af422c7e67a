"""The form of a preset: a person's own on its page, everybody's in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import IntegrityError, transaction
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp.fields import TypedText
from chatapp.history.texts import as_typed
from chatapp.models import Preset

MOST = 200
_TAKEN = _("You have a preset of that name already.")


class PresetForm(forms.ModelForm):
    text = TypedText(
        label=_("Text"), strip=False, max_length=100_000, widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"})
    )

    class Meta:
        model = Preset
        fields = ["name", "text"]
        labels = {"name": _("Name")}

    def clean_name(self) -> str:
        """One line, and the person's own only once."""
        name = " ".join(as_typed(self.cleaned_data["name"]).replace("/", " ").split())
        if not name:
            raise forms.ValidationError(gettext("Give it a name."))
        same = Preset.objects.filter(owner_id=self.instance.owner_id, name__iexact=name).exclude(pk=self.instance.pk)
        if same.exists():
            raise forms.ValidationError(_TAKEN)
        return name

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if not text.strip():
            raise forms.ValidationError(gettext("Write the text first."))
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if self.instance.pk is None and Preset.objects.filter(owner_id=self.instance.owner_id).count() >= MOST:
            too_many = gettext("You have %(most)s presets, as many as are kept. Delete one first.")
            raise forms.ValidationError(too_many % {"most": MOST})
        return cleaned


def keep(form: PresetForm) -> bool:
    """Whether it is stored; the form says why not, also where the same name came twice at once."""
    if not form.is_valid():
        return False
    try:
        with transaction.atomic():
            form.save()
    except IntegrityError:
        form.add_error("name", _TAKEN)
    return not form.errors
