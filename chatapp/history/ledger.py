"""Usage of every call, by kind (rule I5), what it costs where prices are known, and what calls teach of models."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import F

from chatapp import metrics
from chatapp.history.allowing import add_use
from chatapp.models import Chat, LanguageModel, UsageRecord
from compaction.calibration import learn_ratio
from compaction.setbacks import COUNTED, Setback
from compaction.transcript import Usage


@transaction.atomic
def record_usage(
    *,
    kind: UsageRecord.Kind,
    chat_id: UUID,
    owner_id: int,
    model: LanguageModel,
    usage: Usage,
    measured: bool,
) -> UsageRecord:
    """In the ledger, and among what the owner has used today, whether or not the chat is still there."""
    transaction.on_commit(lambda: metrics.count_tokens(kind, usage))
    cost = cost_of(model, usage)
    chat = Chat.objects.select_for_update(no_key=True).filter(pk=chat_id).first()
    add_use(owner_id=owner_id, tokens=usage.prompt + usage.completion, cost=cost or Decimal(0))
    return UsageRecord.objects.create(
        kind=kind,
        chat=chat,
        model_name=model.name,
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        cached_tokens=usage.cached,
        reasoning_tokens=usage.reasoning,
        measured=measured,
        cost=cost,
    )


def cost_of(model: LanguageModel, usage: Usage) -> Decimal | None:
    """In the currency of the model's prices, which are per million tokens; None where they aren't set."""
    if model.prompt_price is None or model.completion_price is None:
        return None
    return (usage.prompt * model.prompt_price + usage.completion * model.completion_price) / 1_000_000


def learn_window(*, model: LanguageModel, window: int) -> None:
    """The number in an overflow error (rule A1, third source)."""
    LanguageModel.objects.filter(pk=model.pk).update(window_learned=window)


def learn_ratio_of(*, model: LanguageModel, recorded: int, estimated: int) -> None:
    """What one recorded prompt teaches about this model's estimates (rule A4)."""
    current = LanguageModel.objects.values_list("estimate_ratio", flat=True).get(pk=model.pk)
    ratio = learn_ratio(current, recorded=recorded, estimated=estimated)
    LanguageModel.objects.filter(pk=model.pk).update(estimate_ratio=ratio)


def note_setback(*, model: LanguageModel, setback: Setback | None) -> None:
    """A continuation that gave no summary may suspend continuations of this model; one that did ends the row (E3)."""
    rows = LanguageModel.objects.filter(pk=model.pk)
    if setback is None:
        rows.update(continuation_empties=0)
    elif setback.suspends:
        rows.update(continuation_suspended=setback.code)
    elif setback.code in COUNTED:
        rows.update(continuation_empties=F("continuation_empties") + 1)
