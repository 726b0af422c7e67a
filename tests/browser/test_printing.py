"""A chat on paper: all of it, the folded part and the reasoning too, and nothing to press."""

from __future__ import annotations

import io
import re

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from chatapp.models import Message
from tests.browser.acting import Visit

pytestmark = [pytest.mark.browser, pytest.mark.server]

LONG_LINE = "x = '" + "-".join(f"part{number}" for number in range(80)) + "'"
REPLY = f"""Look at [the bakery](https://example.org/bread?loaf=rye) and at https://example.org/plain.

So it is, since $a^2 + b^2$.

```python
{LONG_LINE}
```

| one | two |
|---|---|
| {"wide " * 30} | {"w" * 200} |
"""


def test_k1_print_page_holds_everything_and_nothing_to_press(alice: Visit) -> None:
    alice.context.add_init_script(
        "window.print = () => { window.hasPrinted = !document.querySelector('.math:not([data-tex])') }"
    )
    texts = [f"Word {number} of the talk." for number in range(60)]
    address = alice.chat(*texts[:-1], REPLY, folded_through=39)
    alice.rows(lambda: Message.objects.filter(content=REPLY).update(reasoning="I thought of rye."))

    page = alice.open(f"{address}print/")
    page.wait_for_function("() => window.hasPrinted === true")
    text = pdf_text(page)

    assert all(f"Word {number} of the talk." in text for number in range(59))
    assert "They spoke about bread at length" in text
    assert "I thought of rye." in text
    assert "(https://example.org/bread?loaf=rye)" in text.replace(" (", "(")
    assert text.count("https://example.org/plain") == 1
    for chrome in ("Back to the chat", "Copy", "Edit", "Send", "Wrap"):
        assert chrome not in text
    page.emulate_media(media="print")
    cut = "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert page.locator(".printed pre, .printed .prose").evaluate_all(cut) == 0


def test_page_of_a_chat_prints_what_is_loaded_without_its_frame(alice: Visit) -> None:
    page = alice.open(alice.chat("Hello", "Hi.", "More", "Here.", folded_through=1))
    page.get_by_role("button", name="Show archived messages").click()
    expect(page.locator("#archived")).to_contain_text("Hi.")
    page.get_by_role("button", name="Hide archived messages").click()

    text = pdf_text(page)

    for said in ("Hello", "Hi.", "More", "Here.", "2 earlier messages"):
        assert said in text
    for chrome in ("New chat", "Send", "Search", "Show archived", "Compact now"):
        assert chrome not in text


def pdf_text(page: Page) -> str:
    reader = PdfReader(io.BytesIO(page.pdf()))
    return re.sub(r"\s+", " ", " ".join(part.extract_text() for part in reader.pages))
