"""Usage of every call, by kind (rule I5); what it costs where prices are known."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from chatapp.models import LanguageModel, UsageRecord
from compaction.transcript import Usage


def record_usage(
    *, kind: UsageRecord.Kind, chat_id: UUID | None, model: LanguageModel, usage: Usage, measured: bool
) -> UsageRecord:
    return UsageRecord.objects.create(
        kind=kind,
        chat_id=chat_id,
        model_name=model.name,
        prompt_tokens=usage.prompt,
        completion_tokens=usage.completion,
        cached_tokens=usage.cached,
        reasoning_tokens=usage.reasoning,
        measured=measured,
        cost=cost_of(model, usage),
    )


def cost_of(model: LanguageModel, usage: Usage) -> Decimal | None:
    """In the currency of the model's prices, which are per million tokens; None where they aren't set."""
    if model.prompt_price is None or model.completion_price is None:
        return None
    return (usage.prompt * model.prompt_price + usage.completion * model.completion_price) / 1_000_000


def learn_window(*, model: LanguageModel, window: int) -> None:
    """The number in an overflow error (rule A1, third source)."""
    LanguageModel.objects.filter(pk=model.pk).update(window_learned=window)
