"""What one person may use: counted exactly, refused in a sentence with the time it ends, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chatapp.database import in_database
from chatapp.history import allowing, chats, compactions, continuing, editing, ledger, queueing, turns
from chatapp.history.errors import LimitReached
from chatapp.models import Allowance, Chat, Compaction, DailyUse, Message, QueuedMessage, Run, SiteSettings, UsageRecord
from compaction.transcript import Usage
from tests.factories import make_chat, make_model, make_user
from tests.making_files import upload
from tests.scripted import Signal, done, finish, head, hold, reply, text
from tests.visiting import Visitor, last_message, settled

NOON = datetime(2026, 12, 1, 12, 0, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The clock of all limits: it stands at half a minute past noon until a test moves it."""
    times = [NOON]
    monkeypatch.setattr(allowing, "now", lambda: times[-1])
    return times


def limit(**limits: Any) -> None:
    SiteSettings.objects.update_or_create(pk=SiteSettings.singleton_instance_id, defaults=limits)


def use(owner: User, **amounts: Any) -> None:
    allowing.add_use(owner_id=owner.pk, **amounts)


def send(chat: Chat, words: str) -> turns.Turn | None:
    return queueing.send(chat_id=chat.pk, text=words, idempotency_key="", by="test")


def end(chat: Chat, status: Message.Status = Message.Status.COMPLETE, content: str = "OK") -> None:
    run = Run.objects.live().get(chat=chat)
    turns.finish_turn(run_id=run.pk, attempt=run.attempt, status=status, content=content, reasoning="")


def at_once(work: Callable[[int], Any], times: int = 30) -> list[str]:
    """What each of so many threads came to: "ok", or the limit that was in its way."""

    def one(number: int) -> str:
        try:
            work(number)
        except LimitReached as refused:
            return refused.reached.kind
        finally:
            connection.close()
        return "ok"

    with ThreadPoolExecutor(times) as people:
        return list(people.map(one, range(times)))


@pytest.mark.django_db(transaction=True)
def test_thirty_sends_at_once_in_thirty_chats_are_counted_exactly() -> None:
    alice = make_user()
    own = [make_chat(alice) for _ in range(30)]
    limit(sends_a_minute=12)

    came = at_once(lambda number: send(own[number], "Hello"))

    assert (came.count("ok"), came.count("sends")) == (12, 18)
    assert Message.objects.filter(role="user").count() == 12
    assert Run.objects.live().count() == 12
    assert DailyUse.objects.get().sends_in_minute == 12


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("limits", "most"), [({"runs_at_once": 3}, 3), ({"tokens_a_day": 10**6}, 4), ({"money_a_day": 5}, 4)]
)
def test_thirty_starts_at_once_begin_no_more_replies_than_are_allowed(limits: dict[str, int], most: int) -> None:
    """Where a day's tokens or money are limited that is four, even where no number is said."""
    alice, model = make_user(), make_model()
    limit(**limits)

    def start(number: int) -> None:
        turns.start_chat(
            owner_id=alice.pk, text="Hello", idempotency_key=str(number), model=model, system_prompt="", by="test"
        )

    came = at_once(start)

    assert (came.count("ok"), came.count("runs")) == (most, 30 - most)
    assert (Run.objects.live().count(), Chat.objects.count()) == (most, most)


@pytest.mark.django_db(transaction=True)
def test_thirty_uploads_at_once_come_to_no_more_bytes_than_are_allowed() -> None:
    alice = make_user()
    limit(upload_megabytes_a_day=1)

    came = at_once(lambda _: allowing.take_upload(owner_id=alice.pk, size=150_000))

    assert came.count("ok") == 6
    assert DailyUse.objects.get().upload_bytes == 900_000


@pytest.mark.django_db(transaction=True)
def test_thirty_calls_that_end_at_once_are_all_in_the_day() -> None:
    chat, model = make_chat(), make_model(prompt_price=Decimal(2), completion_price=Decimal(10))
    usage = Usage(prompt=100, completion=50)

    def record(_: int) -> None:
        kind = UsageRecord.Kind.REPLY
        facts = {"chat_id": chat.pk, "owner_id": chat.owner_id, "model": model, "usage": usage}
        ledger.record_usage(kind=kind, measured=True, **facts)

    at_once(record)

    today = DailyUse.objects.get()
    assert (today.tokens, today.cost) == (30 * 150, 30 * Decimal("0.0007"))


@pytest.mark.django_db
def test_without_a_limit_nothing_is_asked_and_with_limits_it_is_the_same_number_of_queries() -> None:
    def queries_of_a_send() -> list[str]:
        chat = make_chat()
        with CaptureQueriesContext(
            connection,
        ) as asked:
            send(chat, "Hello")
        return [query["sql"] for query in asked.captured_queries]

    free = queries_of_a_send()
    limit(sends_a_minute=100, runs_at_once=100, tokens_a_day=10**9, money_a_day=10**3)
    one = queries_of_a_send()
    for _ in range(20):
        use(make_user(), tokens=5)
        make_chat(make_user(), *["Hello", "Hi."] * 10)
    many = queries_of_a_send()

    assert not [sql for sql in free if "dailyuse" in sql or sql.startswith('SELECT "chatapp_allowance')]
    assert len(one) == len(many)


@pytest.mark.django_db
def test_minute_of_the_clock_ends_and_the_next_message_goes(clock: list[datetime]) -> None:
    alice = make_user()
    limit(sends_a_minute=1)
    send(make_chat(alice), "First")

    with pytest.raises(LimitReached) as refused:
        send(make_chat(alice), "Second")
    clock.append(NOON + timedelta(seconds=30))
    send(make_chat(alice), "Second")

    assert refused.value.reached.ends_at == NOON + timedelta(seconds=30)
    assert Message.objects.filter(content="Second").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("limits", "used", "kind"),
    [
        ({"tokens_a_day": 200_000}, {"tokens": 200_000}, "tokens"),
        ({"money_a_day": Decimal("0.5")}, {"cost": Decimal("0.5")}, "money"),
    ],
)
def test_day_that_is_used_up_ends_at_midnight(
    clock: list[datetime], limits: dict[str, Any], used: dict[str, Any], kind: str
) -> None:
    chat = make_chat()
    limit(**limits)
    use(chat.owner, **used)

    with pytest.raises(LimitReached) as refused:
        send(chat, "Hello")
    assert (refused.value.reached.kind, refused.value.reached.ends_at) == (kind, allowing.end_of_day())

    clock.append(allowing.end_of_day() - timedelta(seconds=1))
    with pytest.raises(LimitReached):
        send(chat, "Hello")
    clock.append(allowing.end_of_day())
    assert send(chat, "Hello")


@pytest.mark.django_db
def test_every_way_to_ask_a_model_is_closed_and_changes_nothing() -> None:
    chat = make_chat(None, "One", "Two", "Three")
    stopped = make_chat(chat.owner, "One", "Two")
    stopped.messages.filter(position=1).update(status=Message.Status.STOPPED)
    limit(tokens_a_day=10)
    use(chat.owner, tokens=10)
    last, broken = chat.messages.get(position=2), stopped.messages.get(position=1)
    rows = {Message: Message.objects.count(), Run: 0, Compaction: 0, Chat: 2}
    words = {"text": "Other", "idempotency_key": "", "by": "test"}
    ways: list[Callable[[], Any]] = [
        lambda: send(stopped, "Hello"),
        lambda: turns.start_chat(owner_id=chat.owner_id, model=None, system_prompt="", **words),
        lambda: turns.begin_again(chat_id=stopped.pk, reply_id=broken.pk, by="test"),
        lambda: continuing.begin_continuation(chat_id=stopped.pk, reply_id=broken.pk, by="test"),
        lambda: editing.begin_answer(chat_id=chat.pk, message_id=last.pk, by="test"),
        lambda: editing.begin_edited(chat_id=chat.pk, message_id=last.pk, **words),
        lambda: compactions.begin_compaction(chat_id=chat.pk, trigger=Compaction.Trigger.BUTTON, by="test"),
    ]

    for way in ways:
        with pytest.raises(LimitReached):
            way()

    assert {model: model.objects.count() for model in rows} == rows
    assert chat.messages.on_path().count() == 3


@pytest.mark.django_db
def test_compaction_of_a_run_that_was_let_in_goes_on() -> None:
    chat = make_chat()
    limit(tokens_a_day=10)
    turn = send(chat, "Hello")
    assert turn
    assert turn.run
    use(chat.owner, tokens=10)

    begun = compactions.begin_compaction(
        chat_id=chat.pk, trigger=Compaction.Trigger.SEND, by="test", run_id=turn.run.pk
    )

    assert begun.status == Compaction.Status.RUNNING


@pytest.mark.django_db
@pytest.mark.parametrize(("own", "is_let_in"), [(None, False), (0, True), (1000, True), (5, False)])
def test_own_limit_stands_in_place_of_everybodys(*, own: int | None, is_let_in: bool) -> None:
    chat = make_chat()
    limit(tokens_a_day=10)
    allowing.set_allowance(owner_id=chat.owner_id, **dict.fromkeys(allowing.NAMES) | {"tokens_a_day": own})
    use(chat.owner, tokens=10)

    try:
        came = send(chat, "Hello") is not None
    except LimitReached:
        came = False

    assert came is is_let_in
    assert Allowance.objects.exists() is (own is not None)


@pytest.mark.django_db
def test_own_limit_holds_where_nobody_else_has_one() -> None:
    chat = make_chat()
    allowing.set_allowance(owner_id=chat.owner_id, **dict.fromkeys(allowing.NAMES) | {"tokens_a_day": 5})
    use(chat.owner, tokens=5)

    with pytest.raises(LimitReached):
        send(chat, "Hello")
    assert send(make_chat(), "Hello")


@pytest.mark.django_db
def test_message_that_waits_goes_on_waiting_at_the_limit_and_goes_when_it_ends(clock: list[datetime]) -> None:
    chat = make_chat(titled_by_hand=True)
    limit(tokens_a_day=10, sends_a_minute=2)
    send(chat, "First")
    send(chat, "Second")
    use(chat.owner, tokens=10)
    end(chat)

    assert queueing.begin_next(chat_id=chat.pk, by="test") is None
    assert queueing.due() == [chat.pk]
    with pytest.raises(LimitReached):
        queueing.send_now(chat_id=chat.pk, queued_id=chat.queued.get().pk, by="test")
    clock.append(allowing.end_of_day())
    turn = queueing.begin_next(chat_id=chat.pk, by="test")

    assert turn
    assert turn.message.content == "Second"
    assert not chat.queued.exists()


@pytest.mark.django_db
def test_message_that_waits_was_counted_when_it_was_sent() -> None:
    chat = make_chat(titled_by_hand=True)
    limit(sends_a_minute=2)
    send(chat, "First")
    send(chat, "Second")

    with pytest.raises(LimitReached):
        send(chat, "Third")
    end(chat)

    assert queueing.begin_next(chat_id=chat.pk, by="test")
    assert DailyUse.objects.get().sends_in_minute == 2


async def test_refused_send_keeps_the_text_and_says_which_limit_and_when_it_ends(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))
    await in_database(lambda: limit(tokens_a_day=200_000))
    await in_database(lambda: use(alice.user, tokens=200_001))

    answers = [await alice.send(chat, "My words"), await alice.post("/chats/", text="My words")]
    pages = [await alice.post(f"/chats/{chat.pk}/send/", text="My words", htmx=False)]
    pages += [await alice.post("/chats/", text="My words", htmx=False)]

    for answer in answers + pages:
        words = " ".join(answer.content.decode().split())
        assert answer.status_code in {409, 422}
        assert "You have used your 200,000 tokens for today." in words
        assert "That frees itself at <time" in words
        assert "What you typed is still here." in words
    assert all("My words</textarea>" in page.content.decode() for page in pages)
    assert alice.endpoint.payloads == []


async def test_send_now_at_the_limit_says_so_and_the_message_goes_on_waiting(alice: Visitor) -> None:
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi."))
    waiting = await in_database(lambda: QueuedMessage.objects.create(chat=chat, text="Later", idempotency_key="k"))
    await in_database(lambda: limit(tokens_a_day=10))
    await in_database(lambda: use(alice.user, tokens=10))

    page = await alice.post(f"/chats/{chat.pk}/queue/{waiting.pk}/send/")

    assert page.status_code == 409
    assert "10 tokens" in page.content.decode()
    assert await in_database(lambda: chat.queued.get().text) == "Later"


async def test_page_says_why_a_message_waits(alice: Visitor) -> None:
    alice.endpoint.always(reply("OK"))
    chat = await in_database(lambda: make_chat(alice.user, "Hello", "Hi.", titled_by_hand=True))
    gate = Signal()
    alice.endpoint.will([head(), text("Thinking"), hold(gate), finish(), done()])
    await alice.send(chat, "First")
    await gate.reached()
    await alice.send(chat, "Second")
    await in_database(lambda: limit(tokens_a_day=1))
    gate.set()
    await settled(chat)

    page = " ".join((await alice.page(chat)).split())

    assert "You have used your 1 token for today." in page
    assert "1 message waits, and is sent by itself then." in page
    assert (await last_message(chat)).content == "Thinking"


async def test_chat_deleted_while_its_reply_is_written_still_counts(alice: Visitor) -> None:
    gate = Signal()
    alice.endpoint.will([head(), text("Many words " * 50), hold(gate), finish(), done()])
    chat = await alice.start("Hello")
    await gate.reached()

    await in_database(chats.delete_chat, chat_id=chat.pk)
    gate.set()
    await settled(chat)

    today = await in_database(DailyUse.objects.get)
    assert today.tokens > 100
    assert (await in_database(UsageRecord.objects.get)).chat_id is None


async def test_no_title_is_asked_for_once_the_day_is_used_up(alice: Visitor) -> None:
    await in_database(lambda: limit(tokens_a_day=1))
    alice.endpoint.always(reply("OK"))

    chat = await alice.start("Hello")
    await settled(chat)

    assert len(alice.endpoint.payloads) == 1


async def test_upload_over_the_day_is_refused_unread_and_says_so(alice: Visitor) -> None:
    await in_database(lambda: limit(upload_megabytes_a_day=1))
    large = upload("notes.txt", "word " * 150_000)

    taken = await alice.post("/files/", upload=large)
    refused = await alice.post("/files/", upload=upload("more.txt", "word " * 150_000))
    announced = await alice.post("/import/", name="chats.zip", size="500000")

    assert (taken.status_code, refused.status_code, announced.status_code) == (200, 422, 422)
    assert "“more.txt” can’t be taken now. You may upload 1 MB a day" in refused.content.decode()
    assert "You may upload 1 MB a day" in announced.content.decode()


async def test_person_sees_where_they_stand_and_nobody_else(alice: Visitor, charlie: Visitor) -> None:
    await in_database(lambda: limit(tokens_a_day=200_000, runs_at_once=3))
    await in_database(lambda: use(alice.user, tokens=54_321, cost=Decimal("0.25")))

    own = (await alice.client.get("/usage/")).content.decode()
    others = (await charlie.client.get("/usage/")).content.decode()

    assert "54,321" in own
    assert "200,000 tokens a day" in own
    assert "3 replies at once" in own
    assert "54,321" not in others
