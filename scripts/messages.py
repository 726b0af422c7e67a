"""Collects the texts of the interface into locale/*/LC_MESSAGES/django.po, and compiles these to what Django reads.

`make messages` runs it. No GNU gettext is needed, and a .po holds nothing that changes without a text (no line numbers,
no dates): what a commit shows is what was said differently.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALES = ROOT / "locale"
TEMPLATES = ("*.html", "*.txt")
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
# Said by libraries, in English or in other words than ours in one of our languages: our catalogues come before theirs.
BORROWED = (
    "Authenticator code",
    "Incorrect code.",
    "Incorrect password.",
    "The username and/or password you specified are not correct.",
    "Username or email",
    (
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)
# What the templates' comments hold isn't for translators, and would hide what follows on their line.
COMMENT = re.compile(r"\{#.*?#\}")
NEEDLESS_HEADER = re.compile(
    rb'"(?:Project-Id-Version|Report-Msgid-Bugs-To|POT-Creation-Date|PO-Revision-Date|Last-Translator|Language-Team'
    rb"|Generated-By): [^\n]*\n"
)
NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def collect() -> Catalog:
    """Every text of templates and Python, and those borrowed."""
    catalog = Catalog(charset="utf-8", fuzzy=False)
    for text in BORROWED:
        catalog.add(text)
    for source in _sources():
        for _, message, _, context in extract("python", BytesIO(source.encode()), KEYWORDS):
            catalog.add(message, context=context)
    return catalog


def _sources() -> Iterator[str]:
    for path in sorted((ROOT / "chatapp").rglob("*.py")):
        yield path.read_text()
    for pattern in TEMPLATES:
        for path in sorted((ROOT / "templates").rglob(pattern)):
            # Calls of gettext between words that mean nothing; as Python it must not be indented.
            lines = templatize(COMMENT.sub("", path.read_text())).splitlines()
            yield "\n".join(line.strip() for line in lines)


def languages() -> list[str]:
    """The languages that have a catalogue, as their folders are called; the source needs none."""
    return sorted(path.name for path in LOCALES.iterdir() if path.is_dir())


def path_of(language: str) -> Path:
    return LOCALES / language / "LC_MESSAGES" / "django.po"


def read(language: str) -> Catalog:
    with path_of(language).open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str, texts: Catalog) -> Catalog:
    """The stored catalogue with every text there is: new ones are empty, those that nothing says any more are gone."""
    catalog = read(language)
    catalog.update(texts, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    catalog.header_comment = "# See docs/translating.md."
    catalog.fuzzy = False
    return catalog


def as_po(catalog: Catalog) -> bytes:
    buffer = BytesIO()
    write_po(buffer, catalog, width=100, no_location=True, sort_output=True, ignore_obsolete=True)
    return NEEDLESS_HEADER.sub(b"", buffer.getvalue())


def as_mo(catalog: Catalog) -> bytes:
    catalog.creation_date = catalog.revision_date = NO_DAY
    buffer = BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


def is_missing(message: Message) -> bool:
    texts = message.string if isinstance(message.string, list | tuple) else [message.string]
    return bool(message.id) and not all(texts)


def main() -> int:
    texts = collect()
    missing = 0
    for language in languages():
        catalog = updated(language, texts)
        path_of(language).write_bytes(as_po(catalog))
        path_of(language).with_suffix(".mo").write_bytes(as_mo(read(language)))
        untranslated = sum(map(is_missing, catalog))
        print(f"{language}: {len(catalog)} texts, {untranslated} of them still to be translated")
        missing += untranslated
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
