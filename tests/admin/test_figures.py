"""What folding saved and took, and the ledger: every figure from recorded rows, in a fixed number of queries."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chatapp.admin.figures import Figures, read_periods
from chatapp.models import Chat, Compaction, Message, UsageRecord
from tests.admin.making import make_compaction
from tests.admin.test_settings import words_of
from tests.factories import add_messages
from tests.people import known, make_user

LIST = "/admin/chatapp/compaction/"
LEDGER = "/admin/chatapp/usagerecord/"


@pytest.fixture
def chat(db: None) -> Chat:
    return make_user("alice").chats.create(title="Secret plan")


def whole() -> Figures:
    return read_periods()[2].total


def fold_through(chat: Chat, position: int, **columns: object) -> Compaction:
    through = chat.messages.get(active=True, position=position)
    return make_compaction(chat=chat, through=through, through_position=position, from_position=0, **columns)


def test_l_saved_since_is_saved_times_the_replies_sent_with_it_in_force(chat: Chat) -> None:
    messages = add_messages(chat, *"abcdefgh")
    row = fold_through(chat, 1, tokens_before=1000, tokens_after=400)
    replies = [messages[3].pk, messages[5].pk]
    Message.objects.filter(pk__in=replies).update(request_through_id=row.through_id)

    assert (whole().saved, whole().paid_back) == (600, 1200)

    Compaction.objects.update(status=Compaction.Status.UNDONE)
    assert (whole().saved, whole().paid_back) == (0, 0)


def test_l_share_refused_or_failed_is_of_all_that_ended(chat: Chat) -> None:
    make_compaction(chat=chat)
    make_compaction(chat=chat, status=Compaction.Status.REFUSED)
    make_compaction(chat=chat, status=Compaction.Status.FAILED)
    make_compaction(chat=chat, status=Compaction.Status.CANCELLED)
    make_compaction(chat=chat, status=Compaction.Status.RUNNING, ended_at=None)

    assert (whole().applied, whole().ended, whole().turned_down_percent) == (1, 4, 50)


def test_l_spent_tokens_cost_seconds_and_values_are_added_up(chat: Chat) -> None:
    facts = {"prompt_tokens": 80, "completion_tokens": 20, "cost": Decimal("0.5"), "values_found": 10}
    for kept in (7, 6):
        row = make_compaction(chat=chat, **facts, values_kept=kept, values_added=3)
        Compaction.objects.filter(pk=row.pk).update(ended_at=row.started_at + timedelta(seconds=3))

    assert (whole().spent, whole().cost, whole().values_percent) == (200, Decimal(1), 95)
    assert whole().seconds == pytest.approx(6)


def test_l_cached_share_is_that_of_continuations(chat: Chat) -> None:
    make_compaction(chat=chat, mode="continuation", prompt_tokens=100, cached_tokens=90)
    make_compaction(chat=chat, mode="transcript", prompt_tokens=900, cached_tokens=0)

    assert whole().continued_percent == 90


def test_l_turns_between_are_those_that_later_folds_archived(chat: Chat) -> None:
    add_messages(chat, *"abcdefghij")
    fold_through(chat, 1)
    later = fold_through(chat, 7)
    Compaction.objects.filter(pk=later.pk).update(from_position=2)

    assert whole().turns_between == 3


def test_l_periods_and_models_are_told_apart_and_a_fresh_start_is_no_fold(chat: Chat) -> None:
    make_compaction(chat=chat, model_name="small")
    make_compaction(chat=chat, mode=Compaction.Mode.FRESH, model_name="")
    old = make_compaction(chat=chat, model_name="large")
    Compaction.objects.filter(pk=old.pk).update(started_at=timezone.now() - timedelta(days=20))

    told = {period.label: [(name, each.applied) for name, each in period.by_model] for period in read_periods()}

    assert told == {
        "7 days": [("small", 1)],
        "30 days": [("large", 1), ("small", 1)],
        "all": [("large", 1), ("small", 1)],
    }


def test_k5_figures_stand_above_the_list_and_say_what_they_mean(staff: Client, chat: Chat) -> None:
    add_messages(chat, *"abcd")
    row = fold_through(chat, 1, tokens_before=9000, tokens_after=4000)
    chat.messages.filter(position=3).update(request_through_id=row.through_id)

    words = words_of(staff, LIST)

    assert "7 days 1 of 1 0 % 5,000 5,000 100 – – 0.0 – –" in words
    assert "multiplies that by the replies that were sent with the fold in force" in words


@pytest.mark.parametrize("count", [1, 12])
def test_k5_figures_take_three_queries_however_much_there_is(
    chat: Chat, count: int, django_assert_num_queries: object
) -> None:
    add_messages(chat, *"abcdefgh")
    for number in range(count):
        make_compaction(chat=chat, model_name=f"model {number}")

    with django_assert_num_queries(3):  # type: ignore[operator]
        read_periods()


def record(kind: str, **columns: object) -> UsageRecord:
    return UsageRecord.objects.create(kind=kind, **({"model_name": "small", "measured": True} | columns))


def test_i5_ledger_is_added_up_by_kind_for_what_is_selected(staff: Client, chat: Chat) -> None:
    record("reply", prompt_tokens=1000, completion_tokens=50, cached_tokens=900, cost=Decimal("0.25"))
    record("reply", prompt_tokens=1000, completion_tokens=50, measured=False)
    record("compaction", prompt_tokens=3000, completion_tokens=200, model_name="large")
    record("title", prompt_tokens=40)
    record("warming", prompt_tokens=70)

    words = words_of(staff, LEDGER)

    assert "Compaction 1 3,000 0 % 200 –" in words
    assert "Reply 2 (1 estimated) 2,000 45 % 100 0.2500" in words
    assert "Title 1 40" in words
    assert "Warming 1 70" in words
    narrowed = words_of(staff, f"{LEDGER}?model_name=large")
    assert "Compaction 1 3,000" in narrowed
    assert "Reply 2" not in narrowed
    assert staff.get(f"{LEDGER}?kind__exact=title").context["cl"].result_count == 1


def test_i5_ledger_is_read_only_and_holds_no_content(staff: Client, chat: Chat) -> None:
    row = record("reply", chat=chat, prompt_tokens=5)

    assert "Secret plan" not in words_of(staff, LEDGER) + words_of(staff, f"{LEDGER}{row.pk}/change/")
    assert staff.get(f"{LEDGER}add/").status_code == 403
    assert staff.post(f"{LEDGER}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_k5_pages_of_figures_take_a_fixed_number_of_queries(
    staff: Client, chat: Chat, sam: User, django_assert_max_num_queries: object
) -> None:
    for number in range(20):
        make_compaction(chat=chat, model_name=f"model {number}")
        record("reply", model_name=f"model {number}", chat=chat)

    known(staff)
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        staff.get(LIST)
    with django_assert_max_num_queries(11):  # type: ignore[operator]
        staff.get(LEDGER)
