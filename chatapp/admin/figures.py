"""What folding has saved and what it took, from recorded rows alone, for a period and by model (rules I5, K5, L)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, IntegerField, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from chatapp.models import Compaction, Message
from chatapp.models.usage import percent

PERIODS = ((7, _("7 days")), (30, _("30 days")), (0, _("all")))
APPLIED = Q(status=Compaction.Status.APPLIED)
TURNED_DOWN = Q(status__in=[Compaction.Status.REFUSED, Compaction.Status.FAILED])
CONTINUED = Q(mode=Compaction.Mode.CONTINUATION)
# A summary written anew saves nothing of its own: the fold that it replaced goes on saving what it did.
REPLACED = Q(status=Compaction.Status.UNDONE, rebuilt_by__status=Compaction.Status.APPLIED)
STANDS = (APPLIED | REPLACED) & ~Q(trigger=Compaction.Trigger.REBUILD)
SAVED = F("tokens_before") - F("tokens_after")


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts, tokens, seconds and money of some compactions; a fresh start isn't one, nor what was copied with a chat.

    `saved` by those that stand: applied, or replaced by a rebuild that is; a rebuild itself saves nothing.
    `paid_back`: what each of these saved times the replies that were sent with it in force. `turns` were archived
    by the `later` ones that followed on another. `cost` is None where no price was known.
    """

    ended: int = 0
    applied: int = 0
    turned_down: int = 0
    saved: int = 0
    paid_back: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    continued_prompt: int = 0
    continued_cached: int = 0
    seconds: float = 0.0
    cost: Decimal | None = None
    values_found: int = 0
    values_held: int = 0
    turns: int = 0
    later: int = 0

    def __add__(self, other: Figures) -> Figures:
        return Figures(
            **{each.name: _added(getattr(self, each.name), getattr(other, each.name)) for each in fields(self)}
        )

    @property
    def turned_down_percent(self) -> int:
        return percent(self.turned_down, self.ended)

    @property
    def continued_percent(self) -> int:
        """Share of the prompts of continuations that came from the endpoint's cache."""
        return percent(self.continued_cached, self.continued_prompt)

    @property
    def values_percent(self) -> int:
        return percent(self.values_held, self.values_found)

    @property
    def spent(self) -> int:
        return self.prompt + self.completion

    @property
    def turns_between(self) -> float:
        return self.turns / self.later if self.later else 0.0


@dataclass(frozen=True, slots=True)
class Period:
    label: str
    total: Figures
    by_model: list[tuple[str, Figures]]


def read_periods() -> list[Period]:
    """One query a period, however many rows there are."""
    return [_period(str(label), timezone.now() - timedelta(days=days) if days else None) for days, label in PERIODS]


def _period(label: str, since: datetime | None) -> Period:
    rows = Compaction.objects.filter(is_copy=False).exclude(mode=Compaction.Mode.FRESH)
    if since:
        rows = rows.filter(started_at__gte=since)
    told: Any = rows.annotate(replies=_count(_replies()), folded_turns=_count(_turns())).values("model_name")
    by_model = [(row.pop("model_name"), _figures(row)) for row in told.annotate(**_sums()).order_by("model_name")]
    return Period(label, sum((figures for _, figures in by_model), Figures()), by_model)


def _replies() -> Any:
    """Those whose request began behind the compaction's boundary."""
    return Message.objects.filter(
        chat_id=OuterRef("chat_id"), role=Message.Role.ASSISTANT, request_through_id=OuterRef("through_id")
    )


def _turns() -> Any:
    return Message.objects.filter(
        chat_id=OuterRef("chat_id"),
        active=True,
        role=Message.Role.USER,
        position__gte=OuterRef("from_position"),
        position__lte=OuterRef("through_position"),
    )


def _count(messages: Any) -> Coalesce:
    counted = messages.order_by().values("chat_id").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def _sums() -> dict[str, Any]:
    later = APPLIED & Q(from_position__gt=0)
    took = ExpressionWrapper(F("ended_at") - F("started_at"), output_field=DurationField())
    return {
        "ended": Count("pk", filter=~Q(status=Compaction.Status.RUNNING)),
        "applied": Count("pk", filter=APPLIED),
        "turned_down": Count("pk", filter=TURNED_DOWN),
        "saved": Sum(SAVED, filter=STANDS),
        "paid_back": Sum(SAVED * F("replies"), filter=STANDS),
        "prompt": Sum("prompt_tokens"),
        "completion": Sum("completion_tokens"),
        "cached": Sum("cached_tokens"),
        "continued_prompt": Sum("prompt_tokens", filter=CONTINUED),
        "continued_cached": Sum("cached_tokens", filter=CONTINUED),
        "took": Sum(took),
        "price": Sum("cost"),
        "found": Sum("values_found", filter=APPLIED),
        "held": Sum(F("values_kept") + F("values_added"), filter=APPLIED),
        "turns": Sum("folded_turns", filter=later),
        "later": Count("pk", filter=later),
    }


def _figures(row: dict[str, Any]) -> Figures:
    took, price, found, held = (row.pop(name) for name in ("took", "price", "found", "held"))
    return Figures(
        **{name: number or 0 for name, number in row.items()},
        seconds=took.total_seconds() if took else 0.0,
        cost=price,
        values_found=found or 0,
        values_held=held or 0,
    )


def _added(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other
