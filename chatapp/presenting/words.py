"""The words in what is rendered once for everybody who listens or reads: put in by the language of each."""

from __future__ import annotations

from datetime import timedelta

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from chatapp.events import Framed
from chatapp.rendering import CODE_TOOLS, UNNAMED_CODE, code_tools, unnamed_code

WAITING = "<p data-waiting></p>"


def in_words(html: str) -> SafeString:
    """A rendered text with the labels of its code boxes in the language in force.

    What is replaced can't come from the text itself, in which every mark of HTML is escaped.
    """
    if CODE_TOOLS in html or UNNAMED_CODE in html:
        html = html.replace(CODE_TOOLS, code_tools(wrap=gettext("Wrap"), copy=gettext("Copy")))
        html = html.replace(UNNAMED_CODE, unnamed_code(gettext("code")))
    return mark_safe(html)  # noqa: S308 (rendered, and put together from it)


def frame_in_words(frame: Framed) -> str:
    """A frame of a reply being written, in the language in force; as cheap as it is long, however many listen."""
    html = in_words(frame.html)
    if not frame.waiting:
        return html
    at = timezone.now() + timedelta(seconds=frame.waiting_seconds)
    words = render_to_string("chat/_waiting.html", {"waiting": frame.waiting, "at": at})
    return html.replace(WAITING, f"<p data-waiting>{words}</p>")
