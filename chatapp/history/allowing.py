"""What a person may still use: limits of the site and of the person, held against the sums of the day.

Whatever is refused or counted here is so behind the lock of the person's row of today. The day is the calendar's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, Sum
from django.utils import timezone

from chatapp.history.errors import LimitReached, Reached
from chatapp.models import Allowance, Chat, DailyUse, Run, SiteSettings

MINUTE = timedelta(minutes=1)
MEGABYTE = 1_000_000
# What a reply uses is known at its end, so a day's limit holds no better than few are let in together.
RUNS_BESIDE_A_DAILY_LIMIT = 4
NAMES = ("sends_a_minute", "runs_at_once", "tokens_a_day", "money_a_day", "upload_megabytes_a_day")


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one person; 0 is no limit."""

    sends_a_minute: int = 0
    runs_at_once: int = 0
    tokens_a_day: int = 0
    money_a_day: Decimal = Decimal(0)
    upload_megabytes_a_day: int = 0

    @property
    def is_daily(self) -> bool:
        return any((self.tokens_a_day, self.money_a_day, self.upload_megabytes_a_day))

    @property
    def most_runs(self) -> int:
        """At once; where none are said and tokens or money are, a few all the same."""
        is_metered = self.tokens_a_day or self.money_a_day
        return self.runs_at_once or (RUNS_BESIDE_A_DAILY_LIMIT if is_metered else 0)

    @property
    def is_any(self) -> bool:
        return self.is_daily or bool(self.sends_a_minute or self.runs_at_once)


def limited() -> dict[str, Q]:
    """For the query that locks a chat: `is_limited`, whether its owner has any limit; so none costs no query."""
    site = SiteSettings.objects.filter(Q(*((f"{name}__gt", 0) for name in NAMES), _connector=Q.OR))
    return {"is_limited": Q(Exists(site)) | Q(Exists(Allowance.objects.filter(owner=OuterRef("owner"))))}


def limits_of(owner_id: int) -> Limits:
    """The person's own, and the site's where they have none."""
    site = SiteSettings.get_solo()
    own = Allowance.objects.filter(owner_id=owner_id).first()
    chosen: dict[str, Any] = {name: getattr(own, name, None) for name in NAMES}
    return Limits(**{name: getattr(site, name) if value is None else value for name, value in chosen.items()})


def admit(chat: Chat, *, is_send: bool = False, is_run: bool = False) -> None:
    """Let one more call for the owner of this locked chat begin; a send is counted with it. Raises LimitReached.

    What a call uses is known at its end, so the day's last one may go over its tokens or money; no reply is cut.
    """
    if not chat.is_limited:
        return
    limits, use = limits_of(chat.owner_id), _locked_use(chat.owner_id)
    reached = _spent(limits, use) or (is_run and _all_runs(limits, chat.owner_id)) or (is_send and _sent(limits, use))
    if reached:
        raise LimitReached(reached)
    if is_send and limits.sends_a_minute:
        DailyUse.objects.filter(pk=use.pk).update(minute=_minute(), sends_in_minute=_sends_now(use) + 1)


def reached_by(owner_id: int, *, is_run: bool = False) -> Reached | None:
    """What keeps calls of this person from beginning now, if anything does; for pages and idle work."""
    limits = limits_of(owner_id)
    if not limits.is_any:
        return None
    use = use_today(owner_id)
    return _spent(limits, use) or (_all_runs(limits, owner_id) if is_run else None)


@transaction.atomic
def take_upload(*, owner_id: int, size: int) -> None:
    """Count a file of so many bytes before anything is read of it. Raises LimitReached where it would be too much."""
    most = limits_of(owner_id).upload_megabytes_a_day
    if most and _locked_use(owner_id).upload_bytes + size > most * MEGABYTE:
        raise LimitReached(Reached("uploads", most, end_of_day()))
    add_use(owner_id=owner_id, upload_bytes=size)


def add_use(*, owner_id: int, **amounts: int | Decimal) -> None:
    """Add to the sums of today: one statement, but for the day's first."""
    today: dict[str, Any] = {"owner_id": owner_id, "day": _today()}
    added = {name: F(name) + amount for name, amount in amounts.items()}
    if not DailyUse.objects.filter(**today).update(**added):
        DailyUse.objects.get_or_create(**today)
        DailyUse.objects.filter(**today).update(**added)


def use_today(owner_id: int) -> DailyUse:
    """Not stored where nothing was used."""
    today: dict[str, Any] = {"owner_id": owner_id, "day": _today()}
    return DailyUse.objects.filter(**today).first() or DailyUse(**today)


def use_of_days(owner_id: int, days: int) -> dict[str, Any]:
    """`tokens`, `cost` and `upload_bytes` of so many days, today the last; None where nothing was used."""
    since = _today() - timedelta(days=days - 1)
    rows = DailyUse.objects.filter(owner_id=owner_id, day__gte=since)
    return rows.aggregate(tokens=Sum("tokens"), cost=Sum("cost"), upload_bytes=Sum("upload_bytes"))


@transaction.atomic
def set_allowance(*, owner_id: int, **limits: Any) -> None:
    """A person's own limits, by their names; without any the row goes, and everybody's count."""
    if all(value is None for value in limits.values()):
        Allowance.objects.filter(owner_id=owner_id).delete()
    else:
        Allowance.objects.update_or_create(owner_id=owner_id, defaults=limits)


def end_of_day() -> datetime:
    return timezone.make_aware(datetime.combine(_today() + timedelta(days=1), time.min))


def _locked_use(owner_id: int) -> DailyUse:
    rows = DailyUse.objects.select_for_update()
    return rows.get_or_create(owner_id=owner_id, day=_today())[0]


def _spent(limits: Limits, use: DailyUse) -> Reached | None:
    if limits.tokens_a_day and use.tokens >= limits.tokens_a_day:
        return Reached("tokens", limits.tokens_a_day, end_of_day())
    if limits.money_a_day and use.cost >= limits.money_a_day:
        return Reached("money", limits.money_a_day, end_of_day())
    return None


def _all_runs(limits: Limits, owner_id: int) -> Reached | None:
    most = limits.most_runs
    if most and Run.objects.live().filter(chat__owner_id=owner_id).count() >= most:
        return Reached("runs", most)
    return None


def _sent(limits: Limits, use: DailyUse) -> Reached | None:
    if limits.sends_a_minute and _sends_now(use) >= limits.sends_a_minute:
        return Reached("sends", limits.sends_a_minute, _minute() + MINUTE)
    return None


def _sends_now(use: DailyUse) -> int:
    return use.sends_in_minute if use.minute == _minute() else 0


def _minute() -> datetime:
    return now().replace(second=0, microsecond=0)


def _today() -> date:
    return timezone.localdate(now())


def now() -> datetime:
    """The one clock of all limits."""
    return timezone.now()
