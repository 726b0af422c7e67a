"""The list of compactions: figures and reasons, never what was said."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chatapp.admin.compactions import totals_of
from chatapp.models import Chat, Compaction
from tests.admin.making import make_compacted_chat, make_compaction
from tests.admin.test_settings import words_of
from tests.people import known, make_user

LIST = "/admin/chatapp/compaction/"


@pytest.fixture
def chat(db: None) -> Chat:
    return make_user("alice").chats.create(title="Secret plan")


def test_staff_sees_figures_but_no_content(staff: Client) -> None:
    secret = make_compacted_chat(
        owner=make_user("alice"), title="Secret plan", text="the vault is in Lyon", summary="a vault, Lyon"
    )
    make_compaction(chat=secret, status=Compaction.Status.REFUSED, reason="copy", reason_detail="the vault is in Lyon")
    rows = Compaction.objects.all()

    for page in [LIST, *(f"{LIST}{row.pk}/change/" for row in rows), *(f"{LIST}{row.pk}/history/" for row in rows)]:
        text = staff.get(page).content.decode()
        assert "alice" in text or "history" in page
        for private in ("Secret plan", "vault", "Lyon"):
            assert private not in text


def test_row_tells_before_after_saved_calls_and_model(staff: Client, chat: Chat) -> None:
    make_compaction(chat=chat, tokens_before=6930, tokens_after=1480, before_is_measured=True, calls=3)

    words = words_of(staff, LIST)

    assert "alice before a send applied 6,930 → 1,480 79 %" in words
    assert "3 – qwen3-8b transcript" in words


def test_k5_row_tells_values_cost_and_mode(staff: Client, chat: Chat) -> None:
    found = {"values_found": 41, "values_kept": 35, "values_added": 6}
    row = make_compaction(chat=chat, trigger="idle", mode="continuation", cost="0.0123", **found)

    words = words_of(staff, LIST)
    in_full = words_of(staff, f"{LIST}{row.pk}/change/")

    assert "alice after a reply applied" in words
    assert "41 of 41" in words
    assert "0.0123 qwen3-8b continuation" in words
    assert "as one more turn of the cached request" in in_full
    assert "Added by Foldline: 6" in in_full


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (Compaction.Status.REFUSED, "hopeless", "refused: What would have to stay is too large"),
        (Compaction.Status.FAILED, "unreachable", "failed: The endpoint could not be reached."),
        (Compaction.Status.FAILED, "something_new", "failed: It did not work out (something_new)."),
        (Compaction.Status.CANCELLED, "", "cancelled"),
        (Compaction.Status.UNDONE, "", "applied, later undone"),
        (Compaction.Status.RUNNING, "", "running now"),
    ],
)
def test_outcome_is_told_in_words(staff: Client, chat: Chat, status: str, reason: str, words: str) -> None:
    make_compaction(chat=chat, status=status, reason=reason)

    assert words in words_of(staff, LIST)


@pytest.mark.parametrize("query", ["status__exact=applied", "trigger__exact=button", "model_name=qwen3-8b", "q=alice"])
def test_list_can_be_narrowed(staff: Client, chat: Chat, query: str) -> None:
    make_compaction(chat=chat, trigger=Compaction.Trigger.BUTTON)
    other = make_user("bob").chats.create()
    make_compaction(chat=other, status=Compaction.Status.REFUSED, reason="empty", model_name="other")

    assert staff.get(f"{LIST}?{query}").context["cl"].result_count == 1


def test_totals_count_what_applied_ones_saved_and_what_all_spent(chat: Chat) -> None:
    make_compaction(
        chat=chat, tokens_before=100, tokens_after=40, prompt_tokens=50, completion_tokens=5, cached_tokens=8
    )
    make_compaction(chat=chat, status=Compaction.Status.REFUSED, tokens_before=100, tokens_after=0, prompt_tokens=20)

    assert totals_of(Compaction.objects.all()) == {"all": 2, "applied": 1, "saved": 60, "spent": 85, "cached": 8}


def test_k5_copies_are_marked_and_count_for_nothing(staff: Client, chat: Chat) -> None:
    make_compaction(chat=chat, is_copy=True)

    assert not any(totals_of(Compaction.objects.all()).values())
    assert "applied; copied with the chat" in words_of(staff, LIST)


def test_k5_a_fold_whose_summary_was_rebuilt_is_told_apart_from_one_undone(staff: Client, chat: Chat) -> None:
    rebuilt = make_compaction(chat=chat, trigger=Compaction.Trigger.REBUILD)
    make_compaction(chat=chat, status=Compaction.Status.UNDONE, rebuilt_by=rebuilt, tokens_before=90, tokens_after=20)

    assert totals_of(Compaction.objects.all())["saved"] == 70
    assert "applied, its summary later rebuilt" in words_of(staff, LIST)


def test_totals_of_nothing_are_said_in_words(staff: Client) -> None:
    assert "No compaction yet" in words_of(staff, LIST)


def test_nothing_is_added_changed_or_deleted(staff: Client, chat: Chat) -> None:
    row = make_compaction(chat=chat)

    assert staff.get(f"{LIST}add/").status_code == 403
    assert staff.post(f"{LIST}{row.pk}/change/", {"model_name": "x"}).status_code == 403
    assert staff.post(f"{LIST}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Compaction.objects.get().model_name == "qwen3-8b"


def test_queries_do_not_grow_with_the_list(
    staff: Client, chat: Chat, sam: User, django_assert_max_num_queries: object
) -> None:
    for _ in range(20):
        make_compaction(chat=chat)

    known(staff)
    with django_assert_max_num_queries(14):  # type: ignore[operator]
        staff.get(LIST)
