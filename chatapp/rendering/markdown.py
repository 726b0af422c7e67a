"""Markdown to blocks: the parser's rules, and the top-level blocks of a text with the cost of reading each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.utils.safestring import SafeString
from linkify_it import LinkifyIt
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore, linkify
from markdown_it.token import Token

from chatapp.rendering.formulas import read_formulas
from chatapp.rendering.highlighting import code_box
from chatapp.rendering.sanitising import sanitise
from chatapp.rendering.text import plain_block

# Eight lists inside each other; every level reads its lines again.
MAX_NESTING = 16
# What reading was measured to take on hostile text, in microseconds each: 200 kB of "![" took 6 s.
COST_OF_BRACKET = 60
COST_OF_MARK = 10
COST_OF_CODE = 2
COST_OF_LINE = 25
COST_OF_BLOCK = 60
COST_OF_ADDRESS = 150
MARKS = "*_~`<|&\\!(:$"
# A text may cost about a quarter of a second; the blocks after that are shown as plain text.
BUDGET = 250_000

LINK_SCHEMES = frozenset({"http", "https", "mailto"})
# Looking for addresses takes the square of a word's length: 60 kB of "https://a" took 6 s.
OVERLONG_WORD = re.compile(r"\S{2000}")


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block: its tokens, the lines it was read from, and its source."""

    tokens: Sequence[Token]
    first_line: int
    source: str

    @property
    def cost(self) -> int:
        """About how many microseconds its inline text takes."""
        if self.is_fence:
            return COST_OF_BLOCK + COST_OF_CODE * len(self.source)
        count = self.source.count
        lines = COST_OF_BLOCK + COST_OF_LINE * count("\n")
        inline = COST_OF_BRACKET * count("[") + COST_OF_MARK * sum(map(count, MARKS))
        return lines + inline + COST_OF_ADDRESS * count("://")

    @property
    def is_fence(self) -> bool:
        return self.tokens[0].type == "fence"

    @property
    def language(self) -> str:
        return (self.tokens[0].info.split() or [""])[0]

    @property
    def is_too_deep(self) -> bool:
        """The parser drops what lies deeper than it may go; such a block is shown as it was written."""
        return max(token.level for token in self.tokens) >= MAX_NESTING - 1


def is_web_link(url: str) -> bool:
    try:
        return urlsplit(url).scheme.lower() in LINK_SCHEMES
    except ValueError:
        return False


def link_addresses(state: StateCore) -> None:
    """An address that stands in the text is a link, too; only where it says http:// or https:// itself."""
    if not any(OVERLONG_WORD.search(block.content) for block in state.tokens):
        linkify(state)


def drop_empty_links(state: StateCore) -> None:
    """A link without an address, as in "[here]()", is its text."""
    for block in state.tokens:
        is_kept, children = True, []
        for token in block.children or ():
            if token.type == "link_open":
                is_kept = bool(token.attrs.get("href"))
            if is_kept or token.type not in {"link_open", "link_close"}:
                children.append(token)
        if block.children:
            block.children = children


def replace_images(state: StateCore) -> None:
    """Every image becomes a link to it, or its text inside another link: a picture is never fetched unasked."""
    for block in state.tokens:
        links = 0
        children: list[Token] = []
        for token in block.children or ():
            links += {"link_open": 1, "link_close": -1}.get(token.type, 0)
            children += [token] if token.type != "image" else image_as_link(token, inside_link=links > 0)
        if block.children:
            block.children = children


def image_as_link(image: Token, *, inside_link: bool) -> list[Token]:
    source = str(image.attrs.get("src", ""))
    text = Token("text", "", 0, content=image.content or source)
    if inside_link or not is_web_link(source):
        return [text]
    return [Token("link_open", "a", 1, attrs={"href": source}), text, Token("link_close", "a", -1)]


def make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": True, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    # A reference may be defined after its use: then a block that is already on the page would have to change.
    parser.disable("reference")
    read_formulas(parser)
    parser.core.ruler.push("addresses", link_addresses)
    parser.core.ruler.push("empty links", drop_empty_links)
    parser.core.ruler.push("images", replace_images)
    finder = LinkifyIt(options={"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    parser.linkify = finder.add("ftp:", None).add("//", None)
    parser.validateLink = is_web_link  # type: ignore[method-assign]
    return parser


PARSER = make_parser()


def blocks_of(text: str) -> Iterator[Block]:
    """The top-level blocks of a clean text in their order; inline text isn't read yet."""
    state = StateCore(text, PARSER, {})
    PARSER.block.parse(text, PARSER, state.env, state.tokens)
    lines = text.split("\n")
    start = 0
    for index, token in enumerate(state.tokens):
        if token.level == 0 and token.nesting <= 0 and token.type != "inline":
            opening = state.tokens[start]
            first, last = opening.map or (0, len(lines))
            yield Block(state.tokens[start : index + 1], first, "\n".join(lines[first:last]))
            start = index + 1


def cheap_html(block: Block) -> SafeString:
    """What takes next to no time: code without colours, anything else as it was written. One root element."""
    if block.is_fence:
        return code_box(block.tokens[0].content, language=block.language, colours=False)
    return plain_block(block.source)


def block_html(block: Block, *, colours: bool = True) -> SafeString:
    """The block as Markdown says, sanitised. Exactly one root element."""
    if block.is_too_deep:
        return cheap_html(block)
    state = StateCore("", PARSER, {}, tokens=list(block.tokens))
    for rule in PARSER.core.ruler.getRules(""):
        if rule.__name__ not in {"normalize", "block"}:
            rule(state)
    state.tokens[0].attrSet("dir", "auto")
    return sanitise(PARSER.renderer.render(state.tokens, PARSER.options, state.env), colours=colours)
