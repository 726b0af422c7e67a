"""A file comes in, is read chat by chat, and whatever is wrong in it is said in a sentence and stops nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chatapp import events, importing
from chatapp.archives import chat_json, opening, parsing
from chatapp.archives.slicing import cut
from chatapp.history import importing as history
from chatapp.history.errors import Fenced
from chatapp.importing.files import discard_ended
from chatapp.importing.steps import steps
from chatapp.models import Chat, Import
from tests.factories import make_chat, make_user
from tests.foreign_exports import as_json, as_zip, chatgpt, chatgpt_node, librechat, openwebui
from tests.people import known, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_folder(settings: Any, tmp_path: Any) -> None:
    settings.FOLDLINE_DATA = tmp_path


@pytest.fixture
def alice() -> User:
    return make_user("alice")


def upload(client: Client, data: bytes, name: str = "export") -> Any:
    """As a browser without JavaScript does; the page that shows what became of it."""
    response = client.post("/import/", {"file": SimpleUploadedFile(name, data)}, follow=True)
    importing.work_off()
    return client.get(response.redirect_chain[-1][0]) if response.redirect_chain else response


def words(response: Any) -> str:
    return " ".join(response.content.decode().split())


def brought(owner: User, data: bytes, name: str = "export") -> Import:
    """Read to its end."""
    row = history.begin(owner_id=owner.pk, name=name, size=len(data))
    importing.add_part(row, [data], at=0)
    history.note_arrived(import_id=row.pk, arrived_bytes=len(data))
    importing.work_off()
    row.refresh_from_db()
    return row


def counts(row: Import) -> tuple[str, int, int, int]:
    return row.status, row.imported, row.known, row.left_out


def test_whole_way_of_a_zip_with_chats_in_parts_and_other_files(alice: User) -> None:
    data = as_zip(
        {
            "conversations-000.json": as_json([chatgpt(), {"title": "Broken <b>", "mapping": {"u": 1}}]),
            "conversations-001.json": as_json([chatgpt(name="c-2", title="Second")]),
            "user.json": b"{}",
            "message_feedback.json": as_json([{"id": "x", "rating": "up"}]),
            "chat.html": b"<html>",
            "file-abc.png": b"\x89PNG\r\n",
        }
    )

    page = upload(signed_in(alice), data, "chats.bin")

    assert "2 chats imported, 1 left out" in words(page)
    assert "“<bdi>Broken &lt;b&gt;</bdi>”: there is no message in it" in words(page)
    assert list(Import.objects.get().files.values_list("name", "kind", "imported", "left_out")) == [
        ("conversations-000.json", "chatgpt", 1, 1),
        ("conversations-001.json", "chatgpt", 1, 0),
    ]
    assert not list(importing.path_of(uuid4()).parent.iterdir())


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (as_json([chatgpt()]), "chatgpt"),
        (b"\xef\xbb\xbf \n" + as_json([chatgpt()]), "chatgpt"),
        (as_json(chatgpt()), "chatgpt"),
        (as_json([openwebui()]), "openwebui"),
        (as_json(openwebui()), "openwebui"),
        (as_json(openwebui()["chat"]), "openwebui"),
        (as_json(librechat()), "librechat"),
        (as_json([librechat(is_nested=False)]), "librechat"),
    ],
)
def test_kind_is_known_by_what_is_in_the_file(alice: User, data: bytes, kind: str) -> None:
    row = brought(alice, data, "no.name")

    assert counts(row) == ("done", 1, 0, 0)
    assert row.files.get().kind == kind


def test_own_exports_come_in_by_the_same_door_also_as_a_zip(alice: User) -> None:
    chats = [make_chat(alice, "Hello", "Hi."), make_chat(alice, "More")]
    files = {f"{chat.pk}.json": whole("".join(chat_json(chat.pk))) for chat in chats}
    bob = make_user("bob")

    first, again = brought(bob, as_zip(files)), brought(bob, as_zip(files))

    assert (counts(first), counts(again)) == (("done", 2, 0, 0), ("done", 0, 2, 0))
    assert "".join(chat_json(Chat.objects.filter(owner=bob)[0].pk)) in {"".join(chat_json(chat.pk)) for chat in chats}


def whole(chat: str) -> bytes:
    return f'{{"format": "foldline-chats", "version": 1, "chats": [{chat}]}}'.encode()


def test_second_import_doubles_nothing_and_tells_what_has_grown(alice: User) -> None:
    grown = chatgpt()
    grown["mapping"]["u9"] = chatgpt_node("a2", "user", "And then?")
    brought(alice, as_json([chatgpt(), chatgpt(name="c-2")]))

    page = upload(signed_in(alice), as_json([grown, chatgpt(name="c-2"), chatgpt(name="c-3"), chatgpt(name="c-3")]))

    assert "1 chat imported, 3 already here" in words(page)
    assert "already here, and has changed there since" in words(page)
    assert Chat.objects.count() == 3
    assert not Chat.objects.filter(messages__content="And then?").exists()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "That file is empty"),
        (b"   \n", "That file is empty"),
        (b"no", "is not JSON"),
        (b"\x89PNG", "is not JSON"),
        (b"[]", "There is no chat in it"),
        (b"{}", "There is no chat in it"),
        (b"[1, 2]", "There is no chat in it"),
        (as_json([{"id": "x"}] * 200), "There is no chat in it"),
        (as_json({"format": "foldline-chats", "version": 9, "chats": []}), "newer Foldline"),
        (as_json({"format": "other", "chats": []}), "not an export of a program"),
        (b"[" * 200_000, "breaks off"),
        (b'["' + b"x" * 200_000, "is not JSON"),
        (b"," * 200_000, "is not JSON"),
        (as_json([chatgpt()])[:-40], "breaks off"),
        (b"PK\x03\x04 but no more", "ZIP is damaged"),
        (as_zip({}), "That file is empty"),
        (as_zip({"a.txt": b"no"}), "There is no chat in it"),
    ],
)
def test_file_that_cannot_be_used_is_told_in_a_sentence(alice: User, data: bytes, sentence: str) -> None:
    page = upload(signed_in(alice), data)

    assert sentence in words(page)
    assert not Chat.objects.exists()


def test_chats_before_the_break_are_whole_and_there(alice: User) -> None:
    row = brought(alice, as_json([chatgpt(), openwebui(), chatgpt(name="c-3")])[:-200])

    assert counts(row) == ("done", 2, 0, 0)
    assert row.files.get().problem == "breaks_off"


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (b'{"mapping": {"u": "\xff"}}', "malformed"),
        (b'{"mapping": {"u": {"x": NaN}}}', "malformed"),
        (b'{"mapping": {"u": 1e999}}', "malformed"),
        (b'{"mapping": {"u": ' + b"9" * 10_000 + b"}}", "malformed"),
        (b'{"mapping": {"u" 5}}', "malformed"),
        (b'{"mapping": ' + b'{"u": ' * 200_000 + b"1" + b"}" * 200_001, "too_deep"),
        (b"[" * 200_000 + b"]" * 200_000, "too_deep"),
        (b'{"mapping": {"u": {"message": {"author": []}, "parent": {}}}}', "no_messages"),
    ],
)
def test_one_bad_chat_never_stops_the_rest(alice: User, broken: bytes, code: str) -> None:
    data = b"[" + as_json(chatgpt()) + b"," + broken + b"," + as_json(openwebui()) + b"]"

    row = brought(alice, data)

    assert counts(row) == ("done", 2, 0, 1)
    assert [each["code"] for each in row.files.get().problems] == [code]


def test_chat_that_is_too_large_is_left_out_unread() -> None:
    data = b'{"chats": [{"a": 1}, {"b": "' + b"x" * 5_000 + b'\\""}, {"c": "]}"}], "more": [1]}\n'

    pieces = list(cut((data[at : at + 7] for at in range(0, len(data), 7)), most_bytes=1_000))

    assert [piece.data for piece in pieces] == [b'{"chats": []}', b'{"a": 1}', None, b'{"c": "]}"}']


def test_zip_bomb_is_stopped_by_what_was_unpacked(alice: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(opening, "RATIO_FROM_BYTES", 100_000)
    bomb = as_zip({"a.json": as_json([chatgpt()]), "b.json": b'[{"a": "' + b" " * 5_000_000 + b'"}]'})

    row = brought(alice, bomb)

    assert (row.status, row.problem, row.imported) == ("failed", "bomb", 1)


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_entry_that_is_unpacked_without_a_bound_is_not_opened(alice: User, packed: int) -> None:
    row = brought(alice, as_zip({"a.json": as_json([chatgpt()])}, packed=packed))

    assert (row.problem or row.files.get().problem, row.imported) == ("broken_zip", 0)


def test_chat_of_too_many_lists_is_not_parsed(alice: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(parsing, "MOST_CONTAINERS", 1_000)

    row = brought(alice, as_json([chatgpt(), {"mapping": {}, "a": [[]] * 1_001}]))

    assert (row.imported, row.files.get().problems[0]["code"]) == (1, "chat_too_large")


def test_zip_is_stopped_at_the_total_of_all_entries(alice: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(opening, "MOST_UNPACKED_BYTES", 200_000)
    files = {f"{number}.json": as_json([chatgpt(name=f"c{number}", note="x" * 90_000)]) for number in range(5)}

    row = brought(alice, as_zip(files))

    assert (row.problem, row.imported) == ("bomb", 2)


def test_zip_whose_list_of_files_is_too_long_is_not_read(alice: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(opening, "MOST_DIRECTORY_BYTES", 100)

    assert brought(alice, as_zip({f"{number}.json": b"[]" for number in range(9)})).problem == "too_many_files"


def test_entries_that_cannot_be_opened_are_told_and_stop_no_other(alice: User) -> None:
    files = {
        "inner.zip": as_zip({"a.json": b"[]"}),
        "../../etc/" + "n" * 300 + "\0x": as_json([chatgpt()]),
        "c.json": b"[1",
    }
    data = bytearray(as_zip(files | {"secret.json": as_json([openwebui()])}))
    at = data.rfind(b"PK\x01\x02")
    data[at + 8] |= 1  # the last entry of the list says that it is encrypted

    row = brought(alice, bytes(data))

    assert counts(row) == ("done", 1, 0, 0)
    assert list(row.files.values_list("problem", flat=True)) == ["zip_in_zip", "", "breaks_off", "encrypted"]
    assert all(len(name) <= 200 and "\0" not in name for name in row.files.values_list("name", flat=True))


def test_damaged_entry_is_told(alice: User) -> None:
    data = bytearray(
        as_zip({"a.json": as_json([chatgpt(name=f"c{n}") for n in range(50)]), "b.json": as_json([openwebui()])})
    )
    data[60:90] = b"\0" * 30

    row = brought(alice, bytes(data))

    assert row.imported >= 1
    assert row.files.get(number=0).problem == "broken_zip"


def test_script_sends_a_file_in_parts_and_goes_on_after_a_break(alice: User) -> None:
    client, data = signed_in(alice), as_json([chatgpt()])
    announced = client.post("/import/", {"name": "big.json", "size": len(data)}).json()

    def part(at: int, end: int) -> tuple[int, str]:
        address = f"{announced['part']}?at={at}"
        answer = client.post(address, data[at:end], content_type="application/octet-stream")
        return answer.status_code, answer.content.decode()

    assert part(0, 100) == (200, "100")
    assert part(0, 100) == (409, "100")
    assert part(500, 600) == (409, "100")
    assert part(100, len(data)) == (200, str(len(data)))
    assert part(len(data), len(data)) == (409, str(len(data)))

    importing.work_off()
    assert Chat.objects.filter(owner=alice).count() == 1


def test_last_part_that_nobody_was_told_of_is_noted_when_it_comes_again(alice: User) -> None:
    client, data = signed_in(alice), as_json([chatgpt()])
    address = client.post("/import/", {"name": "big.json", "size": len(data)}).json()["part"]
    importing.add_part(Import.objects.get(), [data], at=0)  # and then the process died

    again = client.post(f"{address}?at=0", data, content_type="application/octet-stream")

    assert again.status_code == 409
    assert Import.objects.get().status == Import.Status.WAITING


def test_part_beyond_the_announced_size_is_not_taken(alice: User) -> None:
    client = signed_in(alice)
    announced = client.post("/import/", {"name": "x", "size": 10}).json()

    answer = client.post(f"{announced['part']}?at=0", b"x" * 11, content_type="application/octet-stream")

    assert (answer.status_code, answer.content) == (409, b"0")


def test_what_cannot_be_taken_is_said_at_once(alice: User, settings: Any) -> None:
    client = signed_in(alice)
    settings.IMPORT_FORM_LIMIT_BYTES = 10

    assert "Choose a file" in words(client.post("/import/"))
    assert "Without JavaScript" in words(client.post("/import/", {"file": SimpleUploadedFile("a", b"x" * 11)}))
    too_large = client.post("/import/", {"name": "a", "size": 500 * 1024 * 1024 + 1})
    assert (too_large.status_code, words(too_large)[:34]) == (422, "The file is larger than 500 MB. Ex")
    for _ in range(3):
        client.post("/import/", {"name": "a", "size": 5})
    assert "Three of your imports" in words(client.post("/import/", {"name": "a", "size": 5}))


def test_stranger_and_anonymous_meet_an_import_like_none(alice: User) -> None:
    row = history.begin(owner_id=alice.pk, name="a", size=5)
    charlie = signed_in(make_user("charlie"))

    for address in ("", "part/?at=0", "cancel/"):
        for number in (row.pk, uuid4()):
            method = charlie.post if address else charlie.get
            assert method(f"/import/{number}/{address}").status_code == 404
        assert Client().post(f"/import/{row.pk}/{address}").status_code == 302
    assert "<bdi>a</bdi>" not in words(charlie.get("/import/"))
    row.refresh_from_db()
    assert (row.status, row.arrived_bytes) == ("arriving", 0)


def running(owner: User, *chats: Any) -> tuple[history.Work, Any]:
    """An import in the middle: after its first chat."""
    data = as_json(list(chats))
    row = history.begin(owner_id=owner.pk, name="a", size=len(data))
    importing.add_part(row, [data], at=0)
    history.note_arrived(import_id=row.pk, arrived_bytes=len(data))
    work = history.claim(by=events.PROCESS)
    assert work
    going = steps(work)
    next(going)
    return work, going


def test_cancel_stops_before_the_next_chat_and_keeps_what_is_there(alice: User) -> None:
    work, going = running(alice, chatgpt(), openwebui())

    signed_in(alice).post(f"/import/{work.import_id}/cancel/")

    with pytest.raises(Fenced):
        next(going)
    assert Chat.objects.count() == 1
    assert "Cancelled" in words(signed_in(alice).get(f"/import/{work.import_id}/"))


def test_killed_in_the_middle_loses_nothing_and_doubles_nothing(alice: User) -> None:
    _, going = running(alice, chatgpt(), openwebui(), librechat())
    Import.objects.update(holder="gone:1:0", lease_until="2026-01-01T00:00:00Z")

    importing.work_off()

    row = Import.objects.get()
    assert counts(row) == ("done", 3, 0, 0)
    assert row.files.get().imported == 3
    with pytest.raises(Fenced):  # the late one writes nothing
        next(going)
    assert Chat.objects.count() == 3


def test_files_of_imports_that_ended_are_cleared_away_and_no_others(alice: User) -> None:
    rows = [history.begin(owner_id=alice.pk, name="a", size=5) for _ in range(3)]
    for row in rows:
        importing.add_part(row, [b"12"], at=0)
    history.cancel(import_id=rows[0].pk)
    rows[1].delete()

    discard_ended()

    assert [importing.path_of(row.pk).exists() for row in rows[::2]] == [False, True]
    assert len(list(importing.path_of(rows[2].pk).parent.iterdir())) == 1


def test_live_import_is_not_taken_over(alice: User) -> None:
    running(alice, chatgpt(), openwebui())

    assert history.claim(by=events.PROCESS) is None


def test_another_persons_file_has_its_turn_and_then_it_goes_on(alice: User) -> None:
    work, going = running(alice, chatgpt(), openwebui())
    assert not history.give_way(work=work)
    own = history.begin(owner_id=alice.pk, name="own", size=0)
    history.note_arrived(import_id=own.pk, arrived_bytes=0)
    assert not history.give_way(work=work)
    bobs = history.begin(owner_id=make_user("bob").pk, name="b", size=2)
    importing.add_part(bobs, [b"[]"], at=0)
    history.note_arrived(import_id=bobs.pk, arrived_bytes=2)

    assert history.give_way(work=work)

    with pytest.raises(Fenced):
        next(going)
    order = [history.claim(by=events.PROCESS) for _ in range(3)]
    assert [each and each.import_id for each in order] == [own.pk, bobs.pk, work.import_id]
    assert Import.objects.get(pk=work.import_id).chats_read == 1


def test_import_that_fails_every_time_is_given_up(alice: User) -> None:
    running(alice, chatgpt(), openwebui())
    Import.objects.update(takeovers=5, lease_until="2026-01-01T00:00:00Z")

    assert history.claim(by=events.PROCESS) is None
    assert Import.objects.get().problem == "gave_up"


def test_progress_asks_for_itself_until_it_has_ended(alice: User) -> None:
    work, going = running(alice, chatgpt(), openwebui())
    client = signed_in(alice)
    address = f"/import/{work.import_id}/"

    assert '<noscript><meta http-equiv="refresh"' in client.get(address).content.decode()
    during = client.get(address, headers={"HX-Request": "true"}).content.decode()
    list(going)
    after = client.get(address, headers={"HX-Request": "true"}).content.decode()

    assert 'hx-trigger="every 1s"' in during
    assert '<noscript><meta http-equiv="refresh"' not in client.get(address).content.decode()
    assert "1 chat imported" in during
    assert "hx-trigger" not in after
    assert 'id="import-said" hx-swap-oob' in after


def test_progress_page_asks_no_more_of_the_database_for_more_files(alice: User, django_assert_num_queries: Any) -> None:
    client = known(signed_in(alice))
    addresses = []
    for count in (2, 12):
        files = {f"{n}.json": as_json([chatgpt(name=f"{count} {n}"), {"mapping": {}}]) for n in range(count)}
        addresses.append(brought(alice, as_zip(files)).get_absolute_url())

    for address in addresses:
        with django_assert_num_queries(4):
            client.get(address)


def test_chats_are_cut_out_wherever_the_chunks_end() -> None:
    data = whole(json.dumps({"title": 'quoted "chats": [ {', "x": ["\\", "\\\\", '"']}))

    for size in (1, 2, 3, 50, 10_000):
        pieces = list(cut(data[at : at + size] for at in range(0, len(data), size)))
        assert json.loads(pieces[1].data or b"")["x"] == ["\\", "\\\\", '"']
        assert len(pieces) == 2


def test_zip64_directory_is_measured_by_its_own_record(alice: User, monkeypatch: Any) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.json", as_json([chatgpt()]))
    data = made.getvalue()
    at = data.rfind(b"PK\x05\x06")
    record = b"PK\x06\x06" + (44).to_bytes(8, "little") + b"\0" * 28 + (2**40).to_bytes(8, "little") + b"\0" * 8
    locator = b"PK\x06\x07" + b"\0" * 4 + at.to_bytes(8, "little") + b"\1\0\0\0"

    assert brought(alice, data[:at] + record + locator + data[at:]).problem == "too_many_files"
