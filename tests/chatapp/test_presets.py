"""Presets: a person's own and everybody's; kept on a page, offered in the box, taken into a system prompt."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chatapp.models import Chat, Preset
from chatapp.presets import PresetForm, keep
from tests.factories import make_chat
from tests.people import make_user, signed_in

pytestmark = pytest.mark.django_db

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'


@pytest.fixture
def alice() -> User:
    return make_user("alice")


def make_preset(owner: User | None, name: str = "Brief", text: str = "Be brief.") -> Preset:
    return Preset.objects.create(owner=owner, name=name, text=text)


def names(client: Client) -> list[str]:
    html = client.get("/presets/options/").content.decode()
    return [part.partition("</bdi>")[0] for part in html.split("<bdi>")[1:]]


def test_preset_is_added_renamed_changed_and_deleted(alice: User) -> None:
    client = signed_in(alice)

    added = client.post("/presets/", {"name": " Be\nbrief/ ", "text": "Answer in\r\none line.  "})
    preset = Preset.objects.get()
    assert (added.status_code, preset.name, preset.text) == (302, "Be brief", "Answer in\none line.  ")

    client.post(f"/presets/{preset.pk}/", {"name": "Shorter", "text": "One word."})
    preset.refresh_from_db()
    assert (preset.name, preset.text, preset.owner) == ("Shorter", "One word.", alice)

    assert "gone for good" in client.get(f"/presets/{preset.pk}/delete/").content.decode()
    client.post(f"/presets/{preset.pk}/delete/")
    assert not Preset.objects.exists()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("", "x", "required"),
        (" / ", "x", "Give it a name."),
        ("brief", "x", "You have a preset of that name already."),
        ("Other", " \n", "Write the text first."),
        ("Other", "x" * 100_001, "at most 100000 characters"),
        ("x" * 61, "x", "at most 60 characters"),
    ],
)
def test_what_cannot_be_kept_is_said_and_stays_in_the_form(alice: User, name: str, text: str, words: str) -> None:
    make_preset(alice)

    answer = signed_in(alice).post("/presets/", {"name": name, "text": text})

    html = answer.content.decode()
    assert answer.status_code == 422
    assert words in html
    assert text.strip() in html
    assert Preset.objects.count() == 1


def test_own_and_shared_ones_are_offered_a_stranger_s_are_out_of_reach(alice: User) -> None:
    own, _, foreign = make_preset(alice), make_preset(None, "Shared"), make_preset(make_user("charlie"), "Theirs")
    client, nobody = signed_in(alice), Client()

    assert names(client) == ["Brief", "Shared"]
    for preset_id in (foreign.pk, Preset.objects.get(name="Shared").pk, 10**9):
        for path in (f"/presets/{preset_id}/", f"/presets/{preset_id}/delete/"):
            assert client.get(path).status_code == 404
            assert client.post(path, {"name": "Mine", "text": "x"}).status_code == 404
    for path in ("/presets/", "/presets/options/", f"/presets/{own.pk}/", f"/presets/{own.pk}/text/"):
        assert nobody.get(path).status_code == 302


def test_names_and_texts_are_shown_as_they_are(alice: User) -> None:
    make_preset(alice, HOSTILE, HOSTILE)
    chat = make_chat(alice)
    client = signed_in(alice)

    for path in ("/presets/", "/presets/options/", f"/chats/{chat.pk}/settings/"):
        html = client.get(path).content.decode()
        assert "alert(1)" in html
        assert "<script>alert" not in html
        assert "<img src=x" not in html


def test_preset_becomes_the_system_prompt_once_it_is_saved(alice: User) -> None:
    chat, preset = make_chat(alice, system_prompt="Be kind."), make_preset(alice)
    client, address = signed_in(alice), f"/chats/{chat.pk}/settings/"
    typed = {"system_prompt": "Be kind.", "temperature": "0.5", "policy": "compact"}

    taken = client.post(address, {**typed, "preset": preset.pk}).content.decode()
    before = Chat.objects.get(pk=chat.pk).system_prompt
    client.post(address, {**typed, "system_prompt": "Be brief."})

    assert "Be brief.</textarea>" in taken
    assert 'value="0.5"' in taken
    assert before == "Be kind."
    assert Chat.objects.get(pk=chat.pk).system_prompt == "Be brief."


@pytest.mark.parametrize("raw", ["", "x", "999999", "9" * 40])
def test_a_preset_that_is_not_there_changes_nothing(alice: User, raw: str) -> None:
    chat = make_chat(alice, system_prompt="Be kind.")
    foreign = make_preset(make_user("charlie"), "Theirs", "Theirs alone")
    address = f"/chats/{chat.pk}/settings/"

    for preset in (raw, str(foreign.pk)):
        html = signed_in(alice).post(address, {"system_prompt": "Be kind.", "preset": preset}).content.decode()
        assert "Theirs alone" not in html
        assert "Be kind.</textarea>" in html
    assert Chat.objects.get(pk=chat.pk).system_prompt == "Be kind."


def test_administrator_keeps_those_for_everybody_and_never_sees_a_person_s_own(alice: User) -> None:
    make_preset(alice, "Private")
    staff = signed_in(make_user("sam", is_staff=True))

    staff.post("/admin/chatapp/preset/add/", {"name": "House style", "text": "British spelling."})
    listed = staff.get("/admin/chatapp/preset/").content.decode()

    assert "House style" in listed
    assert "Private" not in listed
    assert names(signed_in(alice)) == ["House style", "Private"]
    assert signed_in(alice).get("/admin/chatapp/preset/").status_code in {302, 403}


def test_box_is_given_the_beginnings_of_texts_and_the_whole_of_the_one_that_is_chosen(alice: User) -> None:
    own, shared = make_preset(alice, text="<b> " * 20_000), make_preset(None, "Shared", "For all")
    foreign = make_preset(make_user("charlie"), "Theirs")
    client = signed_in(alice)

    listed = client.get("/presets/options/").content
    chosen = [client.get(f"/presets/{each.pk}/text/") for each in (own, shared, foreign)]

    assert len(listed) < 2_000
    assert [each.status_code for each in chosen] == [200, 200, 404]
    assert (chosen[0].content.decode(), chosen[0]["Content-Type"]) == (own.text, "text/plain; charset=utf-8")


def test_the_same_name_twice_at_once_is_said_at_the_second(alice: User) -> None:
    first, second = (PresetForm({"name": "New", "text": each}, instance=Preset(owner=alice)) for each in "ab")
    assert first.is_valid()
    assert second.is_valid()

    assert (keep(first), keep(second)) == (True, False)
    assert second.errors["name"] == ["You have a preset of that name already."]
    assert Preset.objects.get().text == "a"
