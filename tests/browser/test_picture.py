"""The README's one picture, docs/page.png: taken anew with FOLDLINE_PICTURE=1, else only seen to be takeable."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from chatapp.models import Chat, Compaction, LanguageModel
from tests.browser.acting import Visit, messages
from tests.browser.pictures import FOLDER, SIZES

pytestmark = [pytest.mark.browser, pytest.mark.server]

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "page.png"
TITLE = "Moving the shop to Postgres"
SUMMARY = """The shop runs on MySQL 5.7 with 41 tables; it moves to PostgreSQL 16 on the same host.

- Copy with pgloader, then a trial run against last night's backup.
- `orders.total` becomes `numeric(12,2)`; timestamps are stored in UTC.
- The window is Sunday, 3 to 5 in the morning; Mia watches the till."""
EARLIER = [
    "We want to move our shop from MySQL to Postgres. Where do we start?",
    "With a list of what the shop asks of its database: the tables, the queries that matter, and what must not stop.",
    "There are 41 tables, and the till must not stand still for more than two hours.",
    "Then copy with pgloader into a second database first, and let last night's backup be the trial run.",
    "Sunday between three and five in the morning nobody buys anything.",
    "Good: that is the window. Two trial runs before it, and the second one with a clock.",
]
NEWEST = [
    "The trial run took 38 minutes. What should I check before Sunday?",
    """Three things, in this order:

1. **Counts.** Compare the rows of each table on both sides; 38 minutes is fine, a missing order isn't.
2. **Sequences.** pgloader sets them, but look at the three tables that the till writes to.
3. **Time zones.** Print one order from last summer on both sides and compare the hour.

```sql
select 'orders' as name, count(*), max(id) from orders
union all
select 'payments', count(*), max(id) from payments;
```""",
]


def test_picture_of_a_folded_chat(visit: Callable[..., Visit]) -> None:
    alice = visit(
        viewport=SIZES["wide"], color_scheme="light", device_scale_factor=2, timezone_id="UTC", locale="en-GB"
    )
    for title in ("A rota for the summer", "Letter to the landlord", "Why bread goes stale"):
        alice.rows(name, alice.chat("Hello", "Hello."), title)
    path = alice.chat(*(EARLIER * 7)[:38], *NEWEST, folded_through=37, summary=SUMMARY)
    alice.rows(dress, path)
    page = alice.open(path)

    expect(messages(page)).to_have_count(2)
    expect(page.locator("section[data-divider]")).to_contain_text("38 earlier messages")
    page.mouse.move(1, 1)
    page.evaluate("document.activeElement.blur()")
    target = PICTURE if os.environ.get("FOLDLINE_PICTURE") == "1" else FOLDER / "page.png"
    target.parent.mkdir(exist_ok=True)
    page.screenshot(path=target)


def name(path: str, title: str) -> Chat:
    chat = Chat.objects.get(pk=path.split("/")[2])
    chat.title = title
    chat.save(update_fields=["title"])
    return chat


def dress(path: str) -> None:
    """The figures that a chat of this length has in life, and a model that somebody might have."""
    chat = name(path, TITLE)
    known = chat.model
    chat.model, _ = LanguageModel.objects.get_or_create(
        endpoint=known.endpoint, name="qwen3-14b", defaults={"window_set": 8_192}
    )
    chat.save(update_fields=["model"])
    facts = {"tokens_before": 6_912, "tokens_after": 1_784, "before_is_measured": True, "calls": 1}
    Compaction.objects.filter(chat=chat).update(**facts, prompt_tokens=6_204, completion_tokens=214)
    usage = {"prompt_tokens": 1_809, "completion_tokens": 203, "estimated_prompt_tokens": 1_790}
    chat.messages.filter(role="assistant").update(
        **usage, model_name="qwen3-14b", request_through_id=chat.compacted_through_id, window_tokens=8_192
    )
