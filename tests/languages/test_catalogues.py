"""Every text of the interface is translated into every language, whole and with the same placeholders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog, Message
from django.conf import settings
from django.utils.translation import to_locale

from scripts import messages

PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w+\}")
MARKUP = re.compile(r"<[^>]*>")
# What is French isn't written without its narrow no-break space.
LOOSE_MARK = re.compile(r"(?<!\u202f)[;?!»](?!\S*=)|(?<=[ \u00a0])[:;?!»%](?!\()|«(?!\u202f)|'")


@pytest.fixture(scope="module")
def texts() -> Catalog:
    return messages.collect()


def in_all(catalog: Catalog) -> Iterator[tuple[Message, str, str]]:
    """Each message with each of its forms: the message, what it says in English, and in the other language."""
    for message in catalog:
        if not message.id:
            continue
        if isinstance(message.id, str):
            yield message, message.id, message.string
        else:
            # A language with one form has it for all numbers; of two, the first is that of one.
            plurals = message.string
            for number, said in enumerate(plurals):
                yield message, message.id[0 if number == 0 and len(plurals) > 1 else 1], said


def test_every_language_that_can_be_chosen_has_a_catalogue() -> None:
    offered = {to_locale(code) for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE}

    assert set(messages.languages()) == offered


@pytest.mark.parametrize("language", messages.languages())
def test_catalogue_says_every_text_and_no_other(language: str, texts: Catalog) -> None:
    stored = messages.read(language)
    known = {(each.context, each.id) for each in stored if each.id}
    wanted = {(each.context, each.id) for each in texts if each.id}

    assert wanted - known == set(), "run `make messages`, then translate"
    assert known - wanted == set(), "nothing says these any more: run `make messages`"
    assert [each.id for each in stored if messages.is_missing(each) or (each.id and each.fuzzy)] == []
    assert not stored.obsolete


@pytest.mark.parametrize("language", messages.languages())
def test_catalogue_has_as_many_plural_forms_as_the_language(language: str) -> None:
    catalog = messages.read(language)

    wrong = [each.id for each in catalog if each.pluralizable and len(each.string) != catalog.num_plurals]

    assert wrong == []


@pytest.mark.parametrize("language", messages.languages())
@pytest.mark.parametrize("pattern", [PLACEHOLDER, MARKUP], ids=["placeholders", "markup"])
def test_translation_has_what_its_source_has(language: str, pattern: re.Pattern[str]) -> None:
    wrong = [
        (source, said)
        for _, source, said in in_all(messages.read(language))
        if Counter(pattern.findall(source)) != Counter(pattern.findall(said))
    ]

    assert wrong == []


@pytest.mark.parametrize("language", messages.languages())
def test_translation_can_stand_in_an_attribute(language: str) -> None:
    wrong = [said for _, source, said in in_all(messages.read(language)) if said.count('"') != source.count('"')]

    assert wrong == []


@pytest.mark.parametrize("language", messages.languages())
def test_sign_of_percent_is_doubled_where_its_source_doubles_it(language: str) -> None:
    lone = re.compile(r"(?<!%)%(?![%(])")
    doubled = [
        (source, said) for _, source, said in in_all(messages.read(language)) if source.count("%%") != said.count("%%")
    ]

    assert doubled == []
    assert [
        said for _, source, said in in_all(messages.read(language)) if lone.search(said) and not lone.search(source)
    ] == []


def test_french_has_its_narrow_spaces() -> None:
    def words(said: str) -> str:
        return re.sub(r"https?://\S+", "", MARKUP.sub("", said))

    wrong = [said for _, _, said in in_all(messages.read("fr")) if LOOSE_MARK.search(words(said))]

    assert wrong == []


def test_chinese_has_no_half_width_marks_between_its_characters() -> None:
    wrong = [said for _, _, said in in_all(messages.read("zh_Hans")) if re.search(r"[\u4e00-\u9fff][,;:?!()]", said)]

    assert wrong == []


@pytest.mark.parametrize("language", messages.languages())
def test_compiled_catalogue_is_that_of_the_text(language: str) -> None:
    compiled = messages.path_of(language).with_suffix(".mo").read_bytes()

    assert compiled == messages.as_mo(messages.read(language)), "run `make messages`"


@pytest.mark.parametrize("language", messages.languages())
def test_catalogue_is_written_as_the_script_writes_it(language: str, texts: Catalog) -> None:
    assert messages.path_of(language).read_bytes() == messages.as_po(messages.updated(language, texts))
