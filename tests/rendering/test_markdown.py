"""What a reply looks like once it is whole."""

import pytest

from chatapp.rendering import render, render_plain
from tests.rendering.reading import elements, roots, visible


def test_prose_lists_and_tables_are_set():
    markup = render("# Hi\n\n- a\n- **b**\n\n|x|y|\n|-|-|\n|1|~~2~~|")

    assert roots(markup) == ["h1", "ul", "div"]
    assert {"strong", "td", "s"} <= {tag for tag, _ in elements(markup)}


def test_finished_code_has_its_language_colours_and_a_copy_button():
    markup = render("```python\ndef f(): pass\n```")

    assert "<span>python</span>" in markup
    assert '<span class="k">def</span>' in markup
    assert "data-copy-code" in markup
    assert "def f(): pass\n" in visible(markup)


def test_code_inside_a_list_has_its_box_too():
    assert "data-copy-code" in render("1. a\n   ```sh\n   ls\n   ```")


def test_code_of_an_unknown_language_stays_as_it_is():
    assert "let x" in visible(render("```nosuchthing\nlet x\n```"))


def test_code_keeps_every_character():
    code = "\n\n  <a href='x'>&amp; \"q\"</a>\n\n\tend"

    assert code in visible(render(f"```html\n{code}\n```"))


def test_link_opens_elsewhere_and_tells_nothing():
    ((_, attributes),) = [found for found in elements(render("[a](https://e.test)")) if found[0] == "a"]

    assert attributes == {"href": "https://e.test", "target": "_blank", "rel": "noopener noreferrer nofollow"}


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("See https://e.test/a_b_(c)?d=1.", "https://e.test/a_b_(c)?d=1"),
        ("*http://e.test*", "http://e.test"),
        ("- https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/"),
    ],
)
def test_an_address_in_the_text_is_a_link(text, href):
    ((_, attributes),) = [found for found in elements(render(text)) if found[0] == "a"]

    assert attributes["href"] == href


@pytest.mark.parametrize(
    "text", ["`https://e.test`", "e.test", "a@e.test", "//e.test", "ftp://e.test", "javascript://e.test", "file:///etc"]
)
def test_what_is_no_address_for_a_browser_stays_text(text):
    assert "<a" not in render(text)


def test_a_link_to_nowhere_is_its_text():
    assert render("[here]() and [there](https://e.test)").count("<a") == 1


def test_an_address_inside_a_link_stays_one_link():
    assert render("[https://e.test](https://other.test)").count("<a") == 1


def test_remote_image_is_a_link_that_is_not_followed_by_itself():
    markup = render("![a cat](https://e.test/cat.png)")

    assert "<img" not in markup
    assert 'href="https://e.test/cat.png"' in markup
    assert visible(markup) == "a cat"


def test_image_inside_a_link_is_its_text():
    assert visible(render("[![a cat](https://e.test/c.png)](https://e.test)")) == "a cat"


@pytest.mark.parametrize("text", ["R$ 12,29 and R$ 15,83", "$5 or $6", "a_b_c", "2 * 3 * 4"])
def test_prices_and_sums_stay_text(text):
    assert render(text) == f'<p dir="auto">{text}</p>'


def test_every_top_level_block_finds_its_own_direction():
    assert 'dir="auto"' in render("مرحبا بالعالم")


def test_a_persons_own_text_is_kept_as_typed():
    assert render_plain("# a\n  b\n\n<b>") == (
        '<p class="plain" dir="auto"># a\n  b</p><p class="plain" dir="auto">&lt;b&gt;</p>'
    )
