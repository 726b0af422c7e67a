"""Models: which window is in force and where it is from."""

from __future__ import annotations

import pytest
from django.test import Client

from chatapp.models import LanguageModel
from tests.admin.making import make_model
from tests.admin.test_settings import words_of


@pytest.mark.parametrize(
    ("windows", "words"),
    [
        ({"window_set": 100, "window_reported": 200, "window_learned": 300}, "100 tokens entered here"),
        ({"window_reported": 200, "window_learned": 300}, "200 tokens told by the endpoint"),
        ({"window_learned": 300}, "300 tokens learned from a refused request"),
        ({}, "unknown nowhere yet: not folded by itself"),
    ],
)
def test_a1_list_says_which_window_is_in_force(staff: Client, windows: dict[str, int], words: str) -> None:
    make_model(**windows)

    assert words in words_of(staff, "/admin/chatapp/languagemodel/")


def test_a1_the_page_says_that_ollama_tells_no_window(staff: Client) -> None:
    assert "An Ollama endpoint tells no window" in words_of(
        staff, f"/admin/chatapp/languagemodel/{make_model().pk}/change/"
    )


def test_list_shows_threshold_and_trigger(staff: Client) -> None:
    make_model(name="usual", window_set=1000)
    make_model(name="own", window_set=1000, threshold_percent=50)
    make_model(name="never", window_set=1000, threshold_percent=0)

    words = words_of(staff, "/admin/chatapp/languagemodel/")

    assert "85 % 850 tokens" in words
    assert "50 % (its own) 500 tokens" in words
    assert "0 % (its own) never by itself" in words


@pytest.mark.parametrize(
    ("field", "value"),
    [("threshold_percent", "101"), ("threshold_percent", "-1"), ("threshold_percent", "abc"), ("window_set", "-1"),
     ("window_set", "abc"), ("window_set", "9" * 30), ("prompt_price", "-1")],
)  # fmt: skip
def test_value_that_cannot_be_is_a_form_error(staff: Client, field: str, value: str) -> None:
    model = make_model()

    response = staff.post(
        f"/admin/chatapp/languagemodel/{model.pk}/change/", {"enabled": "on", "window_set": "0", field: value}
    )

    assert field in response.context["adminform"].form.errors


def test_model_is_changed_but_not_renamed(staff: Client) -> None:
    model = make_model(name="qwen3-8b")

    staff.post(
        f"/admin/chatapp/languagemodel/{model.pk}/change/",
        {"name": "other", "window_set": "4096", "threshold_percent": "70", "enabled": "on"},
    )

    changed = LanguageModel.objects.get()
    assert (changed.name, changed.window_tokens, changed.threshold_percent) == ("qwen3-8b", 4096, 70)


def test_e3_suspended_continuation_is_told_and_cleared_by_its_tick(staff: Client) -> None:
    model = make_model(continuation_suspended="refused_by_template", continuation_empties=1)
    page = f"/admin/chatapp/languagemodel/{model.pk}/change/"
    words = words_of(staff, page)

    staff.post(page, {"window_set": "0", "enabled": "on", "resume_continuation": "on"})

    model.refresh_from_db()
    assert "from a transcript only: asked for as one more turn, its chat template refused one" in words
    assert (model.continuation_suspended, model.continuation_empties) == ("", 0)


def test_e3_suspended_continuation_stays_without_its_tick(staff: Client) -> None:
    model = make_model(continuation_suspended="tool_call")

    staff.post(f"/admin/chatapp/languagemodel/{model.pk}/change/", {"window_set": "0", "enabled": "on"})

    model.refresh_from_db()
    assert model.continuation_suspended == "tool_call"


def test_a4_learned_ratio_is_shown(staff: Client) -> None:
    model = make_model(estimate_ratio=1.118)

    words = words_of(staff, f"/admin/chatapp/languagemodel/{model.pk}/change/")

    assert "1.12 recorded tokens to one estimated" in words
    assert "Ask as one more turn again" not in words
