"""What stands before a change of model: nothing, or a fold that the person is told of first (rule B8)."""

from __future__ import annotations

from dataclasses import dataclass

from chatapp.history.errors import NotPossible
from chatapp.history.loading import load_situation, model_of, summariser_of
from chatapp.history.metering import load_meter
from chatapp.models import Chat, LanguageModel, SiteSettings
from compaction.changing import is_too_small, would_fill


@dataclass(frozen=True, slots=True)
class Change:
    """`tokens`: the chat's size for `model`. `writer` summarises; `is_optional`: the chat never folds by itself."""

    model: LanguageModel
    current: LanguageModel | None
    writer: LanguageModel
    tokens: int
    is_optional: bool

    @property
    def about_tokens(self) -> int:
        return round(self.tokens, -2 if self.tokens >= 1_000 else -1)


def fold_before(chat: Chat, model: LanguageModel) -> Change | None:
    """None where the model can change at once: the chat has room in its window, as much as now, or is bounded anyway.

    Raises NotPossible where the window can't hold even the last turn.
    """
    site = SiteSettings.get_solo()
    current = model_of(chat, site)
    is_smaller = not (current and 0 < current.window_tokens <= model.window_tokens)
    if not model.window_tokens or chat.policy == Chat.Policy.WINDOW or model == current or not is_smaller:
        return None
    meter = load_meter(chat, site, model)
    if not would_fill(meter):
        return None
    situation = load_situation(chat.pk, model=model)
    if is_too_small(situation.transcript, situation.limits, no_system_role=situation.no_system_role):
        raise NotPossible("window_too_small")
    return Change(
        model=model,
        current=current,
        writer=writer_before(chat, site, model),
        tokens=meter.used,
        is_optional=chat.policy == Chat.Policy.EVERYTHING,
    )


def writer_before(chat: Chat, site: SiteSettings, model: LanguageModel) -> LanguageModel:
    """The chat's own model while it is usable, else the one that it changes to; the admin's choice goes before both."""
    own = LanguageModel.objects.usable().filter(pk=chat.model_id).first() if chat.model_id else None
    return summariser_of(site, own or model) or model
