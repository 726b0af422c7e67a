"""The manifest, the service worker and the page it keeps: open to everybody, and with nothing of anybody."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from tests.people import make_user, signed_in

pytestmark = pytest.mark.django_db


def test_manifest_names_icons_that_are_there() -> None:
    answer = Client().get("/manifest.webmanifest")
    told = json.loads(answer.content)

    assert answer["Content-Type"] == "application/manifest+json"
    assert (told["name"], told["start_url"], told["display"]) == ("Foldline", "/", "standalone")
    assert [(icon["sizes"], icon["purpose"]) for icon in told["icons"]] == [
        ("192x192", "any"),
        ("512x512", "any"),
        ("512x512", "maskable"),
    ]
    for icon in told["icons"]:
        path = finders.find(icon["src"].removeprefix(settings.STATIC_URL))
        assert path
        head = Path(path).read_bytes()[:24]
        width = int.from_bytes(head[16:20])
        assert head[1:4] == b"PNG"
        assert icon["sizes"] == f"{width}x{width}"


def test_worker_is_for_the_whole_site_and_changes_with_what_it_keeps() -> None:
    client = Client()

    english = client.get("/service-worker.js")
    client.cookies[settings.LANGUAGE_COOKIE_NAME] = "fr"
    french = client.get("/service-worker.js")

    assert english["Content-Type"] == "text/javascript"
    assert "no-cache" in english["Cache-Control"]
    assert b'"/offline/"' in english.content.replace(b"\\u002D", b"-")
    assert client.get("/offline/").status_code == 200
    assert french.status_code == 200
    assert english.content != french.content, "its version is that of the offline page"


def test_offline_page_is_the_same_for_everybody_and_sets_no_cookie() -> None:
    alice, nobody = signed_in(make_user("alice")), Client()

    hers, theirs = alice.get("/offline/"), nobody.get("/offline/")

    assert hers.content == theirs.content
    assert b"alice" not in hers.content
    assert b"csrf" not in hers.content
    assert not theirs.cookies


@pytest.mark.parametrize("path", ["/manifest.webmanifest", "/service-worker.js", "/offline/"])
def test_only_reading_is_allowed(path: str) -> None:
    assert Client().post(path).status_code == 405
