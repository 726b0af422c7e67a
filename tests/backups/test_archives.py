"""An archive is looked at to its last byte before anything is changed by it; what can't be is refused in a sentence."""

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from chatapp import VERSION
from chatapp.backups import CannotBackUp, CannotRestore, open_archive, restoring, write_backup
from chatapp.backups.layout import MANIFEST, Manifest
from chatapp.backups.writing import Archive
from tests.live import ROOT
from tests.people import make_user

PLAIN = Manifest(
    version=VERSION,
    made_at="2026-12-01T12:00:00+00:00",
    database="sqlite",
    migrations=[("chatapp", "0001_initial")],
    secret_fingerprint="0123456789abcdef",
)


def make_archive(path: Path, manifest: Manifest = PLAIN, **members: bytes) -> Path:
    """With a database of words, and the members by name (two underscores are a slash)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        archive = Archive(zipped)
        for name, content in ({"database.sqlite3": b"rows " * 5_000} | members).items():
            archive.add(name.replace("__", "/"), [content])
        zipped.writestr(MANIFEST, replace(manifest, files=archive.files).as_json())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(CannotRestore) as refused, open_archive(path):
        pass
    return str(refused.value)


def test_whole_archive_is_opened(tmp_path):
    path = make_archive(tmp_path / "whole.zip", secret=b"hush")
    with open_archive(path) as (_, manifest):
        assert manifest.has_secret
        assert manifest.migrations == PLAIN.migrations


@pytest.mark.parametrize("share", [0, 0.3, 0.6, 0.99])
def test_archive_that_was_cut_is_refused(tmp_path, share):
    path = make_archive(tmp_path / "cut.zip")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    assert "isn't whole" in refusal(path)


def test_archive_with_any_byte_of_its_members_changed_is_refused(tmp_path):
    path = make_archive(tmp_path / "changed.zip")
    whole = path.read_bytes()
    data_begins = whole.index(b"database.sqlite3") + len("database.sqlite3") + 20
    for place in range(data_begins, data_begins + 60, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert "damaged" in refusal(path)


def test_archive_without_its_database_or_with_strange_members_is_refused(tmp_path):
    with_strange = make_archive(tmp_path / "strange.zip", **{"..__..__etc__passwd": b"x"})
    assert "isn't what its manifest says" in refusal(with_strange)
    without = replace(PLAIN, tables={"chatapp_chat": ["id"]})
    assert "lacks a part" in refusal(make_archive(tmp_path / "without.zip", without))


def test_something_else_is_no_backup(tmp_path):
    (tmp_path / "notes.txt").write_text("Buy bread")
    assert "is no backup" in refusal(tmp_path / "notes.txt")
    assert "can't be opened" in refusal(tmp_path / "nowhere.zip")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (replace(PLAIN, migrations=[("chatapp", "0999_to_come")]), "made by a newer Foldline"),
        (replace(PLAIN, database="mysql"), "Set DATABASE_URL accordingly"),
    ],
)
def test_archive_of_something_else_is_refused(manifest, words):
    with pytest.raises(CannotRestore, match=words):
        restoring._refuse_what_cannot_be(manifest, replace=True)


@pytest.mark.django_db
def test_accounts_are_replaced_only_where_that_is_said():
    here = replace(PLAIN, database=connection.vendor)
    restoring._refuse_what_cannot_be(here, replace=False)
    make_user("alice")
    with pytest.raises(CannotRestore, match="--replace"):
        restoring._refuse_what_cannot_be(here, replace=False)
    restoring._refuse_what_cannot_be(here, replace=True)


def test_backup_takes_no_other_file_s_place(tmp_path):
    taken = tmp_path / "backup.zip"
    taken.write_text("Buy bread")
    with pytest.raises(CannotBackUp, match="there already"):
        write_backup(taken)
    assert taken.read_text() == "Buy bread"


@pytest.mark.django_db(transaction=True)
def test_backup_in_a_folder_has_the_secret_unless_it_is_left_out(tmp_path):
    with_it, _ = write_backup(tmp_path)
    without, manifest = write_backup(tmp_path / "without.zip", with_secret=False)
    assert with_it.parent == tmp_path
    with zipfile.ZipFile(with_it) as zipped:
        assert zipped.read("secret").decode() == settings.SECRET_KEY
    assert not manifest.has_secret
    assert settings.SECRET_KEY.encode() not in without.read_bytes()


def test_version_is_the_changelog_s():
    assert f"\n## {VERSION} " in (ROOT / "CHANGELOG.md").read_text()
