"""Texts that were made to run something, to reach outside, or to take for ever."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.rendering import render, render_plain, split
from tests.rendering.reading import elements
from tests.timing import processor_seconds

ATTACKS = [
    "<script>alert(1)</script>",
    "<svg onload=alert(1)>",
    "<img src=x onerror=alert(1)>",
    '<div hx-get="/admin/" hx-trigger="load">x</div>',
    '<form action="https://evil.test"><input name=p></form>',
    '<p style="position:fixed" id="log" class="x" data-frame="1">x</p>',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](vbscript:x)",
    "[x](//evil.test/path)",
    "[x](/accounts/logout/)",
    "![x](https://evil.test/pixel.png)",
    "[![x](https://evil.test/pixel.png)](https://evil.test)",
    "<javascript:alert(1)>",
    '[x](https://e.test "t\\" onclick=alert(1)")',
    '```"><script>alert(1)</script>\nx\n```',
    "```js\n</code></pre><script>alert(1)</script>\n```",
    "```python\n'<img src=x onerror=alert(1)>'\n```",
    "    <script>alert(1)</script>",
    "- ```html\n  <svg onload=alert(1)>\n  ```",
    "| <script>alert(1)</script> |\n|-|\n| <svg onload=alert(1)> |",
    '<pre><code class="language-js">\'</code></pre>',
    'https://e.test/"onclick=alert(1)',
    "https://e.test/<script>alert(1)</script>",
    "javascript://e.test/%0aalert(1)",
    "\x00<scr\x00ipt>alert(1)</script>",
    r"$<img src=x onerror=alert(1)>$ \(</span><script>alert(1)</script>\)",
    "$$\n</div><svg onload=alert(1)>\n$$",
    r"$$\href{javascript:alert(1)}{x}$$ and \[\htmlData{frame=1}{x}\]",
    '<span class="math" id="log">x</span><div class="math" data-frame="1">x</div>',
]
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


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_is_only_text_whole_streamed_or_plain(text):
    frame = split(text)

    assert_harmless(render(text))
    assert_harmless("".join(frame.blocks) + frame.tail)
    assert_harmless(render_plain(text))
    assert [tag for tag, _ in elements(render_plain(text))] == ["p"]


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
