"""The settings: bad values are errors of the form, and the page says what a threshold means."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from chatapp.history import allowing
from chatapp.models import SiteSettings
from compaction.budget import trigger_tokens
from tests.admin.making import make_endpoint, make_model

PAGE = "/admin/chatapp/sitesettings/"
NUMBERS = {"threshold_percent": "85", "tail_percent": "30", "summary_percent": "5", "exact_percent": "4"}
NUMBERS |= dict.fromkeys(allowing.NAMES, "0")
TICKS = {"compacts_when_idle": "on", "warms_prompt": "on"}
PATIENCE = {"temporary_hours": "24", "audit_days": "365", "first_token_seconds": "600", "stall_seconds": "120"}
TEXTS = {"summariser": "", "default_model": "", "system_prompt": "", "summary_prompt": ""}
FORM = NUMBERS | TICKS | PATIENCE | TEXTS


def words_of(client: Client, page: str = PAGE) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", client.get(page).content.decode()).split())


@pytest.mark.parametrize("threshold", ["0", "85", "100"])
def test_a5_threshold_from_0_to_100_is_stored(staff: Client, threshold: str) -> None:
    assert staff.post(PAGE, FORM | {"threshold_percent": threshold}).status_code == 302
    assert SiteSettings.get_solo().threshold_percent == int(threshold)


@pytest.mark.parametrize("threshold", ["101", "-1", "abc", "", "8.5", "1e2", "9" * 400])
def test_a5_threshold_that_cannot_be_is_a_form_error(staff: Client, threshold: str) -> None:
    response = staff.post(PAGE, FORM | {"threshold_percent": threshold})

    assert response.status_code == 200
    assert "threshold_percent" in response.context["adminform"].form.errors
    assert SiteSettings.get_solo().threshold_percent == 85


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tail_percent", "61"),
        ("exact_percent", "21"),
        ("summary_percent", "0"),
        ("stall_seconds", "4"),
        ("summary_prompt", "Keep {nonsense}."),
    ],
)
def test_other_value_that_cannot_be_is_a_form_error(staff: Client, field: str, value: str) -> None:
    response = staff.post(PAGE, FORM | {field: value})

    assert field in response.context["adminform"].form.errors


@pytest.mark.parametrize(
    ("field", "value"),
    [("tail_percent", 0), ("tail_percent", 60), ("exact_percent", 0), ("exact_percent", 20), ("summary_percent", 1),
     ("summary_percent", 20)],
)  # fmt: skip
def test_k5_value_at_its_bounds_is_stored_as_it_is(staff: Client, field: str, value: int) -> None:
    assert staff.post(PAGE, FORM | {field: str(value)}).status_code == 302
    assert getattr(SiteSettings.get_solo(), field) == value


def test_k5_each_setting_of_folding_says_when_it_acts(staff: Client) -> None:
    form = staff.get(PAGE).context["adminform"].form

    numbers = ("threshold_percent", "tail_percent", "summary_percent", "exact_percent")
    for name in (*numbers, "summariser", "summary_prompt", "compacts_when_idle", "warms_prompt"):
        assert re.search(r"\b(when|before|after)\b", str(form.fields[name].help_text), re.IGNORECASE), name


def test_k5_idle_and_warming_are_switched_off_by_their_ticks(staff: Client) -> None:
    staff.post(PAGE, NUMBERS | PATIENCE | TEXTS)

    settings = SiteSettings.get_solo()
    assert (settings.compacts_when_idle, settings.warms_prompt) == (False, False)


def test_example_is_the_figure_of_the_one_function(staff: Client) -> None:
    make_model(name="qwen3-8b", window_reported=8192)

    assert trigger_tokens(8192, 85) == 6963
    assert "With qwen3-8b (8,192 tokens) this folds at 6,963 ." in words_of(staff).replace("6,963.", "6,963 .")


def test_example_says_when_nothing_folds_by_itself(staff: Client) -> None:
    make_model(name="mystery")
    make_model(name="patient", window_set=1000, threshold_percent=0)
    make_model(name="eager", window_set=1000, threshold_percent=50)

    words = words_of(staff)

    assert "With mystery , whose window is unknown, chats never fold by themselves" in words.replace(
        "mystery,", "mystery ,"
    )
    assert "With patient (1,000 tokens) chats never fold by themselves: its own threshold is 0" in words
    assert "With eager (1,000 tokens) this folds at 500: it has a threshold of its own, 50 %" in words


def test_choice_of_models_holds_usable_ones_and_the_present_one(staff: Client) -> None:
    off = make_endpoint(name="Off")
    off.enabled = False
    off.save()
    make_model(name="usable")
    make_model(name="switched-off", enabled=False)
    make_model(name="endpoint-off", endpoint=off)
    SiteSettings.objects.update_or_create(defaults={"default_model": make_model(name="chosen-once", enabled=False)})

    form = staff.get(PAGE).context["adminform"].form

    names = {str(model) for model in form.fields["default_model"].queryset}
    assert names == {"usable", "chosen-once"}
    assert {str(model) for model in form.fields["summariser"].queryset} == {"usable"}


def test_model_that_is_not_usable_is_refused(staff: Client) -> None:
    model = make_model(enabled=False)

    response = staff.post(PAGE, FORM | {"summariser": str(model.pk)})

    assert "summariser" in response.context["adminform"].form.errors


def test_one_row_is_neither_added_nor_deleted(staff: Client) -> None:
    page = staff.get(PAGE).content.decode()

    assert "deletelink" not in page
    assert "_addanother" not in page
    assert staff.post(f"{PAGE}1/delete/", {"post": "yes"}).status_code == 403


def test_example_after_a_form_error_is_still_the_stored_one(staff: Client) -> None:
    make_model(window_set=1000)

    page = staff.post(PAGE, FORM | {"threshold_percent": "101"}).content.decode()

    assert "this folds at 850" in page
