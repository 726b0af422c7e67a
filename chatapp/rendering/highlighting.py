"""The box around a block of code: its language, a Copy button, and colours where the language is known."""

from __future__ import annotations

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# Never guessed, and only languages that chats are about: a lexer is a pile of regular expressions run on what a
# stranger wrote.
LANGUAGE_NAMES = """
    bash c c++ cfg clojure cmake cpp cs csharp css dart diff docker dockerfile elixir erlang fish fsharp go golang
    graphql groovy haskell hcl html ini java javascript jinja js json jsx julia kotlin lua make makefile matlab
    nginx nix objective-c ocaml patch perl php postgresql powershell protobuf ps1 py python python3 r rb rs ruby
    rust scala sh shell sql sqlite svelte swift terraform tex latex toml ts tsx typescript vim vue xml yaml yml
    zig zsh
"""
LANGUAGES = frozenset(LANGUAGE_NAMES.split())
MAX_HIGHLIGHTED = 20_000
FORMATTER = HtmlFormatter(nowrap=True)


def code_tools(*, wrap: str, copy: str) -> str:
    """The buttons of a box, with these labels."""
    return (
        f'<button type="button" class="quiet" data-wrap-code>{escape(wrap)}</button>'
        f'<button type="button" class="quiet" data-copy-code>{escape(copy)}</button>'
    )


def unnamed_code(word: str) -> str:
    """The bar's word where the writer told no language."""
    return f'<div class="code-bar"><span>{escape(word)}</span>'


# As rendered, once for all readers: presenting/words.py puts those of another language in their place.
CODE_TOOLS = code_tools(wrap="Wrap", copy="Copy")
UNNAMED_CODE = unnamed_code("code")


def code_box(code: str, *, language: str = "", colours: bool = True) -> SafeString:
    """One element: the bar and the code. `colours=False` is for code that is still being written."""
    name = language.strip().lower()
    body = coloured(code, name) if colours else escape(code)
    return mark_safe(  # noqa: S308 (name and code are escaped)
        f'<div class="code"><div class="code-bar"><span>{escape(name or "code")}</span>{CODE_TOOLS}</div>'
        f'<pre tabindex="0" dir="ltr"><code>{body}</code></pre></div>'
    )


def code_part(code: str, *, language: str = "", first: bool = False) -> SafeString:
    """A stretch of a long code block that is still being written; the style sheet joins the parts without a seam."""
    bar = f'<div class="code-bar"><span>{escape(language or "code")}</span></div>' if first else ""
    kind = "code code-first" if first else "code code-more"
    return mark_safe(  # noqa: S308 (escaped)
        f'<div class="{kind}">{bar}<pre tabindex="0" dir="ltr"><code>{escape(code)}</code></pre></div>'
    )


def coloured(code: str, language: str) -> str:
    if language not in LANGUAGES or len(code) > MAX_HIGHLIGHTED:
        return escape(code)
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return escape(code)
    return str(highlight(code, lexer, FORMATTER))
