"""Texts that were made to run something, to reach outside, or to take for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.rendering import render, render_plain, split
from tests.hostile import PAYLOADS
from tests.rendering.reading import elements
from tests.timing import processor_seconds

ALLOWED_TAGS = {"a", "br", "button", "div", "hr", "li", "p", "span", "table", "tbody", "td", "th", "thead", "tr"} | {
    *("blockquote", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "pre", "s", "strong", "ul")
}
ALLOWED_ATTRIBUTES = {"href", "title", "rel", "target", "class", "dir", "start", "tabindex", "type"} | {
    "data-copy-code",
    "data-wrap-code",
}


def assert_harmless(markup: str) -> None:
    for tag, attributes in elements(markup):
        assert tag in ALLOWED_TAGS
        assert set(attributes) <= ALLOWED_ATTRIBUTES
        if "href" in attributes:
            assert attributes["href"].startswith(("http://", "https://", "mailto:"))
            assert attributes["rel"] == "noopener noreferrer nofollow"


@pytest.mark.parametrize("text", PAYLOADS, ids=lambda text: ascii(text)[:30])
def test_an_attack_is_only_text_whole_streamed_or_plain(text: str) -> None:
    """Streamed: cut off at every third character, as the tail of a reply is while it is being written."""
    frames = [split(text[:end]) for end in (*range(3, len(text), 3), len(text))]

    assert_harmless(render(text))
    for frame in frames:
        assert_harmless("".join(frame.blocks) + frame.tail)
    assert_harmless(render_plain(text))
    assert [tag for tag, _ in elements(render_plain(text))] == ["p"] * len(text.split("\n\n"))


@given(st.text(alphabet="<>$\"'`[]()!*#-|~ \nabhtps:/=&;.\\", max_size=80))
def test_any_text_is_harmless(text):
    assert_harmless(render(text))


@pytest.mark.parametrize("text", ["a\x00b", "a\ud800b", "\udfff", "a\r\nb\rc", "\u202eabc", ""])
def test_unprintable_text_is_rendered(text):
    frame = split(text)

    for markup in (render(text), render_plain(text), "".join(frame.blocks) + frame.tail):
        assert "\x00" not in markup
        markup.encode()


@pytest.mark.parametrize(
    "text",
    [
        "![" * 100_000,
        "[" * 100_000,
        ("![" * 500 + "\n\n") * 150,
        ("[" * 300 + "\n\n") * 300,
        ">" * 10_000,
        ("> " * 40 + "a\n") * 2_000,
        "- " * 5_000,
        "*a" * 70_000,
        "_a " * 60_000,
        "**a" * 60_000,
        "`" * 100_000 + "a",
        "[a](" * 40_000,
        "|a" * 20_000 + "\n" + "|-" * 20_000,
        "|a|b\n|-|-\n" + "|x|y\n" * 30_000,
        "- a\n" * 40_000,
        "a\n\n" * 60_000,
        "# a\n" * 40_000,
        ("- " * 10 + "a\n") * 6_000,
        "```python\n" + "'''" * 60_000,
        "```\n" * 40_000,
        "a" * 1_000_000,
        "https://a" * 20_000,
        ("https://a" * 200 + " ") * 100,
        "https://a.test/ " * 12_000,
        r"\(" * 60_000,
        r"\(" * 60_000 + r"\)",
        "a $x" * 40_000,
        r"\(x\)" * 30_000,
        "$" * 100_000,
        "$$ a " * 30_000,
        "$$\na\n\n" * 30_000,
        "$$\n" + "a\n" * 60_000,
        r"\[" + "\n" + "a\\" * 60_000,
        (r"\[a" + "\n") * 30_000,
        ("> " * 7 + "$$ a\n") * 8_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_text_takes_well_under_a_second(text):
    # Compared with counting, as machines differ and are busy; without a cap 200 kB of "![" takes 150 times as long.
    most = 40 * processor_seconds(lambda: sum(number * number for number in range(1_000_000)))

    assert processor_seconds(lambda: render(text)) < most
    assert processor_seconds(lambda: split(text)) < most


def test_text_deeper_than_the_parser_goes_is_still_shown():
    assert "treasure" in render("> " * 60 + "treasure")
    assert "treasure" in render("- " * 60 + "treasure")
