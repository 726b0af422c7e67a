"""Users: one tick makes an administrator, and the last one can't lock everybody out."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, UserChangeForm
from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.defaultfilters import floatformat
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chatapp import auditing, sign_ins
from chatapp.accounts import NewAccountForm, free_email
from chatapp.admin.desk import Changes, StaffOnly, count, named
from chatapp.auditing import Action
from chatapp.history import allowing
from chatapp.history.leaving import is_last_administrator
from chatapp.leaving import delete_account
from chatapp.models import Allowance, Chat, DailyUse

ADMINISTRATOR = _("Reaches these settings and sees the figures of all chats, but never what is written in them.")


OWN_LIMITS = forms.fields_for_model(Allowance, allowing.NAMES)


class PersonForm(UserChangeForm):
    sends_a_minute = OWN_LIMITS["sends_a_minute"]
    runs_at_once = OWN_LIMITS["runs_at_once"]
    tokens_a_day = OWN_LIMITS["tokens_a_day"]
    money_a_day = OWN_LIMITS["money_a_day"]
    upload_megabytes_a_day = OWN_LIMITS["upload_megabytes_a_day"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        own = Allowance.objects.filter(owner_id=self.instance.pk).first()
        self.initial.update({name: getattr(own, name, None) for name in allowing.NAMES})

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

    def save(self, commit: bool = True) -> User:  # noqa: FBT001, FBT002 (Django's signature)
        """Whoever knew the former one is out; whoever changes their own stays, as Django renews that session."""
        sign_ins.end_all(self.user)
        return super().save(commit=commit)


class PersonAdmin(StaffOnly, UserAdmin):
    form = PersonForm
    add_form = NewAccountForm
    add_form_template = "admin/change_form.html"
    change_password_form = SetPasswordForm
    list_display = [
        "username",
        "email",
        "is_staff",
        "is_active",
        "chat_count",
        "tokens_today",
        "cost_today",
        "last_login",
    ]
    list_filter = ["is_staff", "is_active"]
    search_fields = ["username", "email"]
    filter_horizontal = []
    actions = None
    readonly_fields = ["last_login", "date_joined", "used"]
    fieldsets = [
        (None, {"fields": ["username", "email", "password", "is_active", "is_staff"]}),
        (
            _("Limits of this person"),
            {
                "description": _("Empty: as everybody, by the settings. 0: no limit."),
                "fields": [*allowing.NAMES, "used"],
            },
        ),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["username", "email", "password1", "password2", "is_staff"]})]

    def get_queryset(self, request: HttpRequest) -> Any:
        today = DailyUse.objects.filter(owner=OuterRef("pk"), day=timezone.localdate())
        # Of those that are shown alone: joined, the chats of everybody were counted.
        chats = Chat.objects.filter(owner=OuterRef("pk")).order_by().values("owner")
        return (
            super()
            .get_queryset(request)
            .annotate(
                chat_count=Coalesce(Subquery(chats.annotate(number=Count("pk")).values("number")), 0),
                tokens_today=Subquery(today.values("tokens")),
                cost_today=Subquery(today.values("cost")),
            )
        )

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name == "is_staff":
            field.label, field.help_text = _("Administrator"), ADMINISTRATOR
        return field

    @admin.display(description=_("chats"), ordering="chat_count")
    def chat_count(self, user: Any) -> str:
        return count(user.chat_count)

    @admin.display(description=_("tokens today"), ordering="tokens_today")
    def tokens_today(self, user: Any) -> str:
        return count(user.tokens_today or 0)

    @admin.display(description=_("cost today"), ordering="cost_today")
    def cost_today(self, user: Any) -> str:
        return floatformat(user.cost_today, 4) if user.cost_today else "–"

    @admin.display(description=_("Used"))
    def used(self, user: User) -> str:
        periods = [(_("today"), 1), (_("7 days"), 7), (_("30 days"), 30)]
        rows = [{"label": label, **allowing.use_of_days(user.pk, days)} for label, days in periods]
        return render_to_string("usage/_periods.html", {"periods": rows})

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 (Django's signature)
        obj.is_superuser = obj.is_staff
        super().save_model(request, obj, form, change)
        if change:
            own = {name: form.cleaned_data[name] for name in allowing.NAMES if name in form.cleaned_data}
            allowing.set_allowance(owner_id=obj.pk, **own)
        if not obj.is_active:
            sign_ins.end_all(obj)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        delete_account(obj)

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
