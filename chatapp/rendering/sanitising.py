"""The second wall: whatever the Markdown renderer made, only what is listed here reaches a page."""

from __future__ import annotations

import html
import re
from functools import partial

import nh3
from django.utils.safestring import SafeString, mark_safe

from chatapp.rendering.highlighting import code_box

BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "table", "hr", "pre"}
TAGS = BLOCKS | {"a", "br", "code", "del", "div", "em", "li", "s", "span", "strong", "tbody", "td", "th", "thead", "tr"}
ATTRIBUTES = {
    **{tag: {"dir"} for tag in BLOCKS},
    "a": {"href", "title"},
    "code": {"class"},
    "div": {"class"},
    "span": {"class"},
    "ol": {"dir", "start"},
}
LANGUAGE_CLASS = re.compile(r"language-[\w+#.-]{1,30}")
FORMULA_CLASS = re.compile("math(?: display)?")
CODE_BLOCK = re.compile(r'<pre[^>]*><code(?: class="language-([^"]*)")?>(.*?)</code></pre>', re.DOTALL)


def keep_attribute(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "class":
        allowed = LANGUAGE_CLASS if tag == "code" else FORMULA_CLASS
        return value if allowed.fullmatch(value) else None
    if attribute == "dir":
        return value if value == "auto" else None
    return value


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    attribute_filter=keep_attribute,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
    set_tag_attribute_values={"a": {"target": "_blank"}},
)


def sanitise(markup: str, *, colours: bool = True) -> SafeString:
    """Allowed elements only; then our own boxes around code and tables, which no text can write itself."""
    safe = CODE_BLOCK.sub(partial(boxed_code, colours=colours), CLEANER.clean(markup).strip())
    safe = safe.replace("<table", '<div class="table" tabindex="0"><table').replace("</table>", "</table></div>")
    return mark_safe(safe)  # noqa: S308 (this is the sanitiser)


def boxed_code(match: re.Match[str], *, colours: bool) -> str:
    return code_box(html.unescape(match[2]), language=match[1] or "", colours=colours)
