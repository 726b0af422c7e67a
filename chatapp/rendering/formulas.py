r"""Formulas in Markdown: \(x\), \[x\], $$x$$, and $x$ where that can't be money. Their TeX becomes an element's text.

Nothing is set here; the browser does that. Every rule decides by what it has read so far: a formula that stands by
itself begins with its opening line and has no blank line in it, so a finished block never changes as a reply grows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

# Characters; what is longer stays as it was written.
LONGEST = 2_000
# No second opening inside, so that each character is read once however many are never closed.
PARENTHESES = re.compile(r"\\\(((?:[^\\`]|\\[^()])+?)\\\)", re.DOTALL)
BRACKETS = re.compile(r"\\\[((?:[^\\`]|\\[^\[\]])+?)\\\](?!\()", re.DOTALL)
DOUBLE_DOLLARS = re.compile(r"\$\$((?:[^\\`$]|\\.)+?)\$\$(?!\$)", re.DOTALL)
# As pandoc: no blank inside the dollars; and no letter, digit or variable at their outside.
DOLLARS = re.compile(r"\$(?=[^\s$])((?:[^\\`$]|\\.)+?)(?<=\S)\$(?![\w{($])", re.DOTALL | re.ASCII)
STANDS_ALONE = {"$$": re.compile(r"\$\$(?!\$)"), r"\[": re.compile(r"\\\[")}
ENDS = {"$$": re.compile(r"\$\$(?P<rest>.*)"), r"\[": re.compile(r"(?<!\\)(?:\\\\)*\\\](?P<rest>.*)")}
PUNCTUATION = re.compile(r"[.,;:]?\s*")
FENCE = re.compile(r"\s*(?:```|~~~)")
TEX = re.compile(r"[\\^_=<>]")
WORD = re.compile(r"[A-Za-z]{2,}")
FUNCTIONS = frozenset({"cos", "det", "dim", "exp", "gcd", "lim", "ln", "log", "max", "min", "mod", "sin", "tan"})


def is_formula(text: str) -> bool:
    """Whether text between dollars or brackets can be nothing else: it has a mark of TeX, or no words."""
    if TEX.search(text):
        return True
    words = [word for word in WORD.findall(text) if word not in FUNCTIONS]
    return not any(len(word) > 2 or " " in text for word in words)


def unless_words(found: re.Match[str] | None) -> re.Match[str] | None:
    return found if found and is_formula(found[1]) else None


def find_inline(state: StateInline) -> tuple[re.Match[str], bool] | None:
    """The formula that begins at the state's position, and whether it is displayed."""
    source, at = state.src, state.pos
    if source.startswith(r"\(", at):
        found, is_displayed = PARENTHESES.match(source, at), False
    elif source.startswith(r"\[", at):
        found, is_displayed = unless_words(BRACKETS.match(source, at)), True
    elif source.startswith("$", at) and not re.match(r"[\w$]", source[max(0, at - 1) : at], re.ASCII):
        is_displayed = source.startswith("$$", at)
        found = unless_words((DOUBLE_DOLLARS if is_displayed else DOLLARS).match(source, at))
    else:
        return None
    return (found, is_displayed) if found and found[1].strip() and len(found[1]) <= LONGEST else None


def inline_formula(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 (the parser's signature)
    found = find_inline(state)
    if not found:
        return False
    match, is_displayed = found
    if not silent:
        token = state.push("formula_inline", "span", 0)
        token.content, token.meta = match[1].strip(), {"is_displayed": is_displayed}
    state.pos = match.end()
    return True


def opening_of(line: str) -> str:
    """The mark that opens a formula on lines of its own; "" where the line also closes it and goes on with words."""
    for mark, opening in STANDS_ALONE.items():
        if opening.match(line):
            closing = ENDS[mark].search(line, 2)
            return mark if not closing or PUNCTUATION.fullmatch(closing["rest"]) else ""
    return ""


def block_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 (the parser's signature)
    if state.is_code_block(start):
        return False
    line = line_of(state, start)
    mark = opening_of(line)
    if not mark or silent:
        return bool(mark)
    lines, tex = [line], closed(line, mark, 2)
    while tex is None and (at := start + len(lines)) < end and belongs(state, at):
        lines.append(line_of(state, at))
        if (last := closed(lines[-1], mark, 0)) is not None:
            tex = "\n".join([*lines[:-1], last])
    state.line = start + len(lines)
    push_block(state, start, lines, tex if tex is None or len(lines) == 1 else tex[2:])
    return True


def push_block(state: StateBlock, start: int, lines: Sequence[str], tex: str | None) -> None:
    is_set = tex is not None and bool(tex.strip()) and len(tex) <= LONGEST
    token = state.push("formula_block" if is_set else "formula_source", "div" if is_set else "p", 0)
    token.content = tex.strip() if tex and is_set else "\n".join(lines)
    token.map = [start, state.line]


def belongs(state: StateBlock, line: int) -> bool:
    """Whether a line still belongs to an open formula; blank lines, fences and the end of a list item end it."""
    outdented = state.sCount[line] < state.blkIndent
    return not state.isEmpty(line) and not outdented and not FENCE.match(line_of(state, line))


def line_of(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def closed(line: str, mark: str, after: int) -> str | None:
    """What stands in the line before the closing mark, with a full stop or comma after it; None where none closes."""
    closing = ENDS[mark].search(line, after)
    return line[after : closing.end() - len(closing["rest"]) - 2] + closing["rest"] if closing else None


def formula_html(_renderer: object, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType) -> str:
    token = tokens[at]
    is_displayed = token.type == "formula_block" or token.meta["is_displayed"]
    kind = "math display" if is_displayed else "math"
    return f'<{token.tag} class="{kind}">{escapeHtml(token.content)}</{token.tag}>'


def source_html(_renderer: object, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType) -> str:
    return f'<p dir="auto">{escapeHtml(tokens[at].content)}</p>'


def read_formulas(parser: MarkdownIt) -> None:
    """Teach the parser formulas."""
    interrupts = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("fence", "formula", block_formula, {"alt": interrupts})
    parser.inline.ruler.before("escape", "formula", inline_formula)
    parser.add_render_rule("formula_block", formula_html)
    parser.add_render_rule("formula_inline", formula_html)
    parser.add_render_rule("formula_source", source_html)
