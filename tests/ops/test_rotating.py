"""Another secret: what a former one sealed or signed is still read, and can be sealed anew."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core import signing
from django.core.management import CommandError, call_command
from django.test import override_settings

from chatapp import connecting, sealing
from chatapp.models import Endpoint, SiteSettings
from tests.factories import make_model
from tests.people import make_user, signed_in

OLD, NEW, OTHER = (f"a long enough secret of its own, number {number}" for number in range(3))
KEY = "sk-abcdef0123456789"
before = override_settings(SECRET_KEY=OLD, SECRET_KEY_FALLBACKS=[])
after = override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[OLD])
without_the_former = override_settings(SECRET_KEY=NEW, SECRET_KEY_FALLBACKS=[])


def make_endpoint(name: str) -> Endpoint:
    endpoint = Endpoint(name=name, base_url="http://127.0.0.1:9/v1")
    endpoint.set_key(KEY)
    endpoint.save()
    return endpoint


def rotate() -> str:
    said = StringIO()
    call_command("rotate_keys", stdout=said)
    return said.getvalue()


def test_former_secret_still_opens_what_it_sealed_and_seals_nothing_more():
    with before:
        sealed = sealing.seal(KEY)
    with after:
        assert sealing.unseal(sealed) == KEY
        sealed_later = sealing.seal(KEY)
    with before, pytest.raises(sealing.CannotUnseal):
        sealing.unseal(sealed_later)


@pytest.mark.django_db
def test_rotate_keys_seals_all_anew_so_that_the_former_secret_can_go():
    with before:
        first, second = make_endpoint("First"), make_endpoint("Second")
        Endpoint.objects.create(name="Without a key", base_url="http://127.0.0.1:9/v1")
    with after:
        assert rotate() == "Sealed with the newest secret: 2 of 2 keys.\n"
    with without_the_former:
        for endpoint in (first, second):
            endpoint.refresh_from_db()
            assert endpoint.reveal_key() == KEY


@pytest.mark.django_db
def test_rotate_keys_names_what_no_secret_opens_and_leaves_it_as_it_is():
    with override_settings(SECRET_KEY=OTHER):
        lost = make_endpoint("Lost")
    with before:
        make_endpoint("Kept")
    with after, pytest.raises(CommandError, match=r"opens the key of: Lost\. Add the secret"):
        rotate()
    sealed = lost.sealed_key
    lost.refresh_from_db()
    assert lost.sealed_key == sealed
    with without_the_former:
        assert Endpoint.objects.get(name="Kept").reveal_key() == KEY


@pytest.mark.django_db
def test_key_that_no_secret_opens_is_told_as_that_and_not_as_a_refusal():
    with before:
        endpoint = make_endpoint("Box")
    model = make_model()
    model.endpoint = endpoint
    with without_the_former, pytest.raises(connecting.NotConnected) as told:
        connecting.target_of(model, SiteSettings.get_solo())
    assert told.value.code == "sealed_with_another_secret"


@pytest.mark.django_db
def test_session_and_signature_outlive_a_change_of_the_secret():
    """A session that is used meanwhile is signed anew, so it outlives the former secret as well."""
    with before:
        used, unused = (signed_in(make_user(name)) for name in ("alice", "charlie"))
        signed = signing.dumps("words")
    with after:
        assert used.get("/").status_code == 200
        assert signing.loads(signed) == "words"
    with without_the_former:
        assert [person.get("/").status_code for person in (used, unused)] == [200, 302]
