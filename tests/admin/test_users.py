"""Users: made, promoted and deleted by staff, without a look at what they wrote."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chatapp.history import allowing
from chatapp.models import Allowance, Chat, Message
from tests.admin.making import make_compacted_chat
from tests.people import PASSWORD, make_user


def page_of(user: User, page: str = "change") -> str:
    return f"/admin/auth/user/{user.pk}/{page}/"


@pytest.mark.parametrize(("tick", "is_administrator"), [({}, False), ({"is_staff": "on"}, True)])
def test_one_tick_makes_an_administrator(staff: Client, tick: dict[str, str], is_administrator: bool) -> None:
    form = {"username": "bob", "email": "", "password1": PASSWORD, "password2": PASSWORD}

    staff.post("/admin/auth/user/add/", form | tick)

    bob = User.objects.get(username="bob")
    assert (bob.is_staff, bob.is_superuser) == (is_administrator, is_administrator)
    assert bob.check_password(PASSWORD)


def test_weak_password_is_a_form_error(staff: Client) -> None:
    staff.post("/admin/auth/user/add/", {"username": "bob", "password1": "bob", "password2": "bob"})

    assert not User.objects.filter(username="bob").exists()


def test_email_of_another_account_is_a_form_error(staff: Client) -> None:
    make_user("alice", email="alice@example.org")
    bob = make_user("bob")

    response = staff.post(page_of(bob), {"username": "bob", "email": "ALICE@example.org", "is_active": "on"})

    assert "email" in response.context["adminform"].form.errors


def test_new_password_is_set_for_somebody(staff: Client) -> None:
    alice = make_user("alice")

    staff.post(page_of(alice, "password"), {"password1": "the pier has a lamp", "password2": "the pier has a lamp"})

    alice.refresh_from_db()
    assert alice.check_password("the pier has a lamp")


@pytest.mark.parametrize("form", [{"is_staff": "on"}, {"is_active": "on"}])
def test_last_administrator_cannot_lock_everybody_out(staff: Client, sam: User, form: dict[str, str]) -> None:
    response = staff.post(page_of(sam), {"username": "sam", "email": ""} | form)

    assert "This is the only administrator" in response.content.decode()
    assert User.objects.filter(is_staff=True, is_active=True).exists()


def test_limits_of_one_person_are_set_on_their_page_and_taken_away_again(staff: Client) -> None:
    alice = make_user("alice")
    form = {"username": "alice", "email": "", "is_active": "on"}

    staff.post(page_of(alice), form | {"tokens_a_day": "5000", "runs_at_once": "0"})
    own = Allowance.objects.get()
    shown = staff.get(page_of(alice)).content.decode()
    staff.post(page_of(alice), form)

    assert (own.tokens_a_day, own.runs_at_once, own.money_a_day) == (5000, 0, None)
    assert 'value="5000"' in shown
    assert not Allowance.objects.exists()


def test_staff_sees_who_has_used_what(staff: Client) -> None:
    alice = make_user("alice")
    allowing.add_use(owner_id=alice.pk, tokens=54_321, cost=Decimal("0.25"), upload_bytes=2_000_000)

    in_list, own = staff.get("/admin/auth/user/").content.decode(), staff.get(page_of(alice)).content.decode()

    assert "54,321" in in_list
    assert "0.2500" in in_list
    assert own.count("54,321") == 3


def test_nobody_deletes_themselves(staff: Client, sam: User) -> None:
    make_user("second", is_staff=True)

    assert staff.post(page_of(sam, "delete"), {"post": "yes"}).status_code == 403


def test_deleting_asks_back_with_figures_and_takes_the_chats_along(staff: Client) -> None:
    alice = make_user("alice")
    make_compacted_chat(owner=alice, title="Secret plan", text="the vault is in Lyon", summary="a vault")

    asked = staff.get(page_of(alice, "delete")).content.decode()
    staff.post(page_of(alice, "delete"), {"post": "yes"})

    assert "Secret plan" not in asked
    assert "vault" not in asked
    assert "chats, with all their messages: 1" in asked.lower()
    assert not User.objects.filter(pk=alice.pk).exists()
    assert not Chat.objects.exists()
    assert not Message.objects.exists()


def test_password_hash_is_in_no_page(staff: Client) -> None:
    alice = make_user("alice")

    assert alice.password not in staff.get(page_of(alice)).content.decode()
