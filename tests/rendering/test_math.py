"""Which text is a formula and which is money, and that its TeX reaches the page as text alone."""

import hashlib
import json
from pathlib import Path

import pytest

from chatapp.rendering import render, render_plain, split
from tests.rendering.reading import elements, visible

VENDORED = Path(__file__).parents[2] / "static" / "vendor"
PRICES = [
    "R$ 12,29 … R$ 15,83",
    "R$12,29 e R$15,83",
    "$5 and $10",
    "US$5-US$10",
    "$5/$6",
    "$5 (or 5$)",
    "it is 5$, not 10$",
    "$HOME/$USER",
    "$HOME_DIR/$USER_DIR",
    "${a}_${b}",
    "a $$ restaurant and a $$ bar",
    "$ x $",
    "$$",
    "$$$ x",
    r"\$x\$",
]


@pytest.mark.parametrize("text", PRICES)
def test_a_lone_dollar_is_money_or_a_variable(text):
    assert 'class="math' not in render(text)
    assert visible(render(text)) == text.replace("\\", "")


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        (r"so \(x\) is", "x"),
        (r"so \[x\] is", "x"),
        ("so $$x$$ is", "x"),
        ("so $x$ is", "x"),
        ("so $f(x)$.", "f(x)"),
        ("so $x_1 * y * z$", "x_1 * y * z"),
        ("so $O(n log n)$", "O(n log n)"),
        ("当$x$时", "x"),
        (r"a price of $5 and \(x^2\)", "x^2"),
        (r"**\(a_1 < b_2\)**", "a_1 < b_2"),
        ("| a |\n|-|\n| $x^2$ |", "x^2"),
        ("- $x^2$", "x^2"),
        (r"so \(\text{at 5\$}\)", r"\text{at 5\$}"),
    ],
)
def test_what_is_unmistakably_a_formula_is_marked_with_its_tex(text, tex):
    assert [attributes for tag, attributes in elements(render(text)) if tag == "span"] in (
        [{"class": "math"}],
        [{"class": "math display"}],
    )
    assert f">{tex.replace('<', '&lt;')}</span>" in render(text)


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("$$x$$", "x"),
        (r"\[x\].", "x."),
        ("so:\n$$\na\n= b\n- c\n$$\nand", "a\n= b\n- c"),
        ("\\[\na_1 \\\\[2pt]\n# b\n\\]", "a_1 \\\\[2pt]\n# b"),
        ("1. so\n   \\[\n   x\n   \\]\n2. and", "x"),
        ("> $$\n> x\n> $$", "x"),
    ],
)
def test_a_formula_on_lines_of_its_own_is_a_block(text, tex):
    assert f'<div class="math display">{tex}</div>' in render(text)


@pytest.mark.parametrize(
    "text",
    [
        r"`\(x\)` and `$$x$$` and `$x$`",
        "```\n$$x$$\n\\[x\\]\n```",
        "    $$x$$",
        "$5 `echo $x$`",
        "$$ is a process\n```\necho $$\n```",
        r"\(a `b\)` c",
    ],
)
def test_inside_code_nothing_is_a_formula(text):
    assert 'class="math' not in render(text)


@pytest.mark.parametrize("text", ["\\[ a_1 *b*\n\n*c*", "$$\na_1 *b*", "\\[" + "a " * 1_001 + "\\]"])
def test_what_is_not_finished_or_too_long_is_shown_as_it_was_written(text):
    assert 'class="math' not in render(text)
    assert visible(render(text)).startswith(text.split("\n\n")[0].strip())


def test_an_escaped_bracket_in_prose_is_a_bracket():
    assert visible(render(r"so \[citation needed\] it is")) == "so [citation needed] it is"


def test_a_person_who_writes_tex_reads_it_as_typed():
    assert 'class="math' not in render_plain("$$x$$")


def test_a_formula_is_marked_as_soon_as_it_is_closed():
    assert 'class="math' not in split(r"so \(x^2").tail
    assert '<span class="math">x^2</span>' in split(r"so \(x^2\)").tail
    assert '<div class="math display">x</div>' in split("$$\nx\n$$").tail


def test_vendored_files_are_those_that_were_fetched():
    """The manifest names each with its SHA-256, and the licence of what it belongs to."""
    packages = json.loads((VENDORED / "manifest.json").read_text())
    said = {f"{each['name']}/{name}": digest for each in packages for name, digest in each["files"].items()}
    found = {path for path in VENDORED.rglob("*") if path.is_file() and path.name != "manifest.json"}

    assert said == {str(path.relative_to(VENDORED)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}
    assert all("LICENSE" in each["files"] and each["version"] and each["licence"] for each in packages)
