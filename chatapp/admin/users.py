"""Users: one tick makes an administrator, and the last one can't lock everybody out."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, UserChangeForm
from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp import auditing
from chatapp.accounts import NewAccountForm, free_email
from chatapp.admin.desk import Changes, StaffOnly, count, named
from chatapp.auditing import Action
from chatapp.models import Chat

ADMINISTRATOR = _("Reaches these settings and sees the figures of all chats, but never what is written in them.")


def is_last_administrator(user: User) -> bool:
    others = User.objects.filter(is_staff=True, is_active=True).exclude(pk=user.pk)
    return user.is_staff and user.is_active and not others.exists()


class PersonForm(UserChangeForm):
    def clean_email(self) -> str:
        return free_email(self.cleaned_data["email"], but=self.instance)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        stored = User.objects.get(pk=self.instance.pk)
        if is_last_administrator(stored) and not (cleaned.get("is_staff") and cleaned.get("is_active")):
            raise forms.ValidationError(_("This is the only administrator. Make another one first."))
        return cleaned


class SetPasswordForm(AdminPasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # An account without a password couldn't sign in at all; "active" is the tick for that.
        self.fields.pop("usable_password", None)


class PersonAdmin(StaffOnly, UserAdmin):
    form = PersonForm
    add_form = NewAccountForm
    add_form_template = "admin/change_form.html"
    change_password_form = SetPasswordForm
    list_display = ["username", "email", "is_staff", "is_active", "chat_count", "last_login"]
    list_filter = ["is_staff", "is_active"]
    search_fields = ["username", "email"]
    filter_horizontal = []
    actions = None
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "email", "password", "is_active", "is_staff"]}),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["username", "email", "password1", "password2", "is_staff"]})]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).annotate(chat_count=Count("chats"))

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name == "is_staff":
            field.label, field.help_text = _("Administrator"), ADMINISTRATOR
        return field

    @admin.display(description=_("chats"), ordering="chat_count")
    def chat_count(self, user: Any) -> str:
        return count(user.chat_count)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 (Django's signature)
        obj.is_superuser = obj.is_staff
        super().save_model(request, obj, form, change)

    def log_addition(self, request: HttpRequest, obj: User, message: Changes) -> None:  # type: ignore[override]
        auditing.record(Action.ACCOUNT_MADE, request=request, target=named(obj), detail=auditing.told(message))

    def log_change(self, request: HttpRequest, obj: User, message: Changes) -> None:  # type: ignore[override]
        if [name for name, *_ in message] == ["password"]:
            auditing.record(Action.PASSWORD_CHANGED, request=request, target=named(obj))
        else:
            super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:  # type: ignore[override]
        for user in queryset:
            chats = f"chats: {user.chats.count()}"
            auditing.record(Action.ACCOUNT_DELETED, request=request, target=named(user), detail=chats)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_delete_permission(request, obj) and not (
            isinstance(obj, User) and (obj.pk == request.user.pk or is_last_administrator(obj))
        )

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[str]]:
        """How much goes with the account; never the chats' titles, which Django would list."""
        users = list(objs)
        chats = Chat.objects.filter(owner__in=users).count()
        listed = [gettext("User: %(name)s") % {"name": user.get_username()} for user in users]
        counted = {gettext("users"): len(users), gettext("chats, with all their messages"): chats}
        return listed, counted, set(), []
