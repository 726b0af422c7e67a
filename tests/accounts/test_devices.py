"""Where one is signed in: listed, ended one by one or all at once, and by a new password."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone, translation

from chatapp import sign_ins
from chatapp.models import AuditEntry, SignIn
from chatapp.presenting.devices import device_name, place_of
from tests.people import PASSWORD, make_user

pytestmark = pytest.mark.django_db
PAGE = "/accounts/devices/"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile Safari/604.1"


@pytest.fixture
def alice() -> User:
    return make_user("alice")


def browser(user: User, *, agent: str = FIREFOX, address: str = "9.9.9.9") -> Client:
    """Signed in at the page, with the password."""
    client = Client(HTTP_USER_AGENT=agent, REMOTE_ADDR=address)
    client.post("/accounts/login/", {"login": user.get_username(), "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_page_lists_each_browser_with_its_place_and_says_which_is_this(alice: User) -> None:
    browser(alice, agent=IPHONE, address="192.168.1.20")

    page = browser(alice).get(PAGE).content.decode()

    assert page.index("Firefox on Linux") < page.index("this one") < page.index("Safari on iPhone")
    assert "9.9.9.9" in page
    assert "192.168.1.20, in this network" in page
    assert page.count("Sign it out<") == 1
    other = SignIn.objects.get(device=IPHONE).pk
    assert f'aria-labelledby="end-{other} device-{other}"' in page  # each button has a name of its own


def test_one_is_ended_and_its_session_is_gone(alice: User) -> None:
    here, there = browser(alice), browser(alice, agent=IPHONE)
    row = SignIn.objects.get(device=IPHONE)

    here.post(f"{PAGE}{row.pk}/end/")

    assert not Session.objects.filter(session_key=row.session_key).exists()
    assert (is_in(here), is_in(there)) == (True, False)
    assert AuditEntry.objects.filter(action="sessions_ended", actor="alice", detail="1").exists()


def test_all_others_are_ended_and_this_one_stays(alice: User) -> None:
    here, *others = browser(alice), browser(alice, agent=IPHONE), browser(alice, agent=EDGE)

    here.post(f"{PAGE}end/")

    assert is_in(here)
    assert not any(map(is_in, others))


def test_a_strangers_is_ended_no_more_than_a_random_one(alice: User) -> None:
    hers = browser(alice)
    charlie = browser(make_user("charlie"), agent=EDGE)
    row = SignIn.objects.get(device=FIREFOX)

    answers = [charlie.post(f"{PAGE}{number}/end/", follow=True) for number in (row.pk, 10**9)]

    assert len({page.content.decode().partition("<main")[2].partition("csrf")[0] for page in answers}) == 1
    assert is_in(hers)


def test_new_password_ends_every_other_session(alice: User) -> None:
    here, there = browser(alice), browser(alice, agent=IPHONE)
    form = {"oldpassword": PASSWORD, "password1": "the pier has a lamp", "password2": "the pier has a lamp"}

    here.post("/accounts/password/change/", form)

    assert (is_in(here), is_in(there)) == (True, False)
    assert list(AuditEntry.objects.filter(action="password_changed").values_list("actor", "target")) == [
        ("alice", "user: alice")
    ]
    assert Session.objects.count() == 1


@pytest.mark.parametrize("change", ["password", "closed"])
def test_new_password_by_an_administrator_or_closing_ends_all_of_a_person(alice: User, change: str) -> None:
    sam = make_user("sam", is_staff=True)
    staff, hers = browser(sam), browser(alice, agent=IPHONE)
    desk = f"/admin/auth/user/{alice.pk}"

    if change == "password":
        staff.post(f"{desk}/password/", {"password1": "the pier has a lamp", "password2": "the pier has a lamp"})
    else:
        staff.post(f"{desk}/change/", {"username": "alice", "email": ""})

    assert not is_in(hers)
    assert not SignIn.objects.filter(user=alice).exists()
    assert is_in(staff)


def test_administrator_who_changes_their_own_password_stays_in() -> None:
    sam = make_user("sam", is_staff=True)
    here, there = browser(sam), browser(sam, agent=IPHONE)
    words = {"password1": "the pier has a lamp", "password2": "the pier has a lamp"}

    here.post(f"/admin/auth/user/{sam.pk}/password/", words)

    assert (is_in(here), is_in(there)) == (True, False)


def test_visits_are_noted_once_in_a_while_and_at_a_new_address_at_once(alice: User) -> None:
    client = browser(alice)
    SignIn.objects.update(last_seen_at=timezone.now() - timedelta(hours=1))

    client.get("/")
    assert SignIn.objects.get().last_seen_at < timezone.now() - timedelta(minutes=59)
    client.get("/", REMOTE_ADDR="8.8.8.8")

    row = SignIn.objects.get()
    assert row.address == "8.8.8.8"
    assert row.last_seen_at > timezone.now() - timedelta(minutes=1)


def test_what_has_ended_by_itself_is_forgotten(alice: User) -> None:
    browser(alice)
    browser(alice, agent=IPHONE)
    gone = SignIn.objects.get(device=IPHONE).session_key
    Session.objects.filter(session_key=gone).update(expire_date=timezone.now() - timedelta(seconds=1))

    assert [each.device for each in sign_ins.of_person(alice)] == [FIREFOX]
    sign_ins.forget_ended()

    assert Session.objects.count() == SignIn.objects.count() == 1


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (EDGE, "Edge on Windows"),
        (IPHONE, "Safari on iPhone"),
        ("curl/8", "An unknown browser"),
    ],
)
def test_browser_is_named(agent: str, name: str) -> None:
    assert device_name(agent) == name


def test_place_says_no_more_than_the_address_does() -> None:
    with translation.override("en-gb"):
        assert [place_of(each) for each in ("127.0.0.1", "10.0.0.5", "9.9.9.9", None)] == [
            "127.0.0.1, this very machine", "10.0.0.5, in this network", "9.9.9.9", "",
        ]  # fmt: skip
