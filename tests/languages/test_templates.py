"""Templates say nothing but by gettext, between tags and in attributes that are read; scripts say nothing at all."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
SCRIPTS = ROOT / "static" / "js"
SPOKEN = {"alt", "aria-description", "aria-label", "aria-placeholder", "label", "placeholder", "title"}
TRANSLATED = re.compile(r"\{%\s*blocktranslate\b.*?\{%\s*endblocktranslate\s*%\}", re.DOTALL)
CLASSES = re.compile(r"\{% block bodyclass %\}.*?\{% endblock")
TAG = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
# What a filter puts in the place of nothing, or between things.
GLUED = re.compile(r"""\|(?:default|default_if_none|yesno|pluralize|join):["'](?:[^"']* )?[A-Z ][^"']*""")
# A partial of attributes alone stands in no element.
ATTRIBUTE = re.compile(r"""[\w:-]+=(?:"[^"]*"|'[^']*')""")
SENTENCE = re.compile(r"""["'`][A-Z][a-z’]+(?: [a-z’]+)+[^"'`]*["'`]""")
WORD = re.compile(r"[^\W\d_]{2,}")
NAMES = {
    "Fold",  # the name, in two pieces
    "line",
    "Foldline",
    "Ctrl",  # keys are called so on every keyboard that has them
    "JSON",
}
EXAMPLES = {"code", "kbd"}  # what one types is the same in every language


class Reader(HTMLParser):
    """Gathers what is said outside of gettext."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.inside: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)
        self.said += [value for name, value in attributes if value and self.is_spoken(tag, name)]

    def is_spoken(self, tag: str, name: str) -> bool:
        return name in SPOKEN or (tag == "input" and name == "value" and "hidden" not in self.get_starttag_text())

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not EXAMPLES & set(self.inside):
            self.said.append(data)


def bare_texts(source: str) -> list[str]:
    """Words of a template that no language but English will ever have."""
    reader = Reader()
    reader.feed(TAG.sub(" ", CLASSES.sub(" ", TRANSLATED.sub(" ", source))))
    said = [" ".join(ATTRIBUTE.sub("", text).split()) for text in reader.said]
    return [text for text in said if set(WORD.findall(text)) - NAMES] + GLUED.findall(source)


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_template_says_nothing_outside_gettext(path: Path) -> None:
    assert bare_texts(path.read_text()) == []


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.js")), ids=lambda path: path.name)
def test_script_says_nothing_of_its_own(path: Path) -> None:
    assert SENTENCE.findall(path.read_text()) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>Hello there</p>", ["Hello there"]),
        ('<a aria-label="Close">×</a>', ["Close"]),
        ("<p>{% if a %}Yes{% endif %}</p>", ["Yes"]),
        ('{{ title|default:"New chat" }}', ['|default:"New chat']),
        ('<p>{% translate "Hello" %} · {{ name }}</p>', []),
        ("<p>{% blocktranslate %}Hello {{ name }}{% endblocktranslate %}</p>", []),
        ('{{ title|default:_("New chat") }}', []),
        ("<code>title:bread</code>", []),
    ],
)
def test_reader_finds_words_outside_gettext(source: str, found: list[str]) -> None:
    assert [text[: len(found[0])] for text in bare_texts(source)] == found if found else bare_texts(source) == []
