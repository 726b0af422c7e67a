"""What is asked of the database often, or of its largest tables: the real functions and pages, each under a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.test import Client
from django.urls import reverse

from bench.millions import Crowd
from chatapp import auditing, passes, presenting, searching, sign_ins
from chatapp.history import (
    allowing,
    chats,
    deleting,
    drafts,
    importing,
    ledger,
    loading,
    ordering,
    paths,
    queueing,
    temporary,
    turns,
)
from chatapp.models import Chat, Message, SignIn, UsageRecord
from chatapp.requesting import read_request
from chatapp.runs import reaper
from compaction.transcript import Usage
from tests.people import make_user, signed_in

BY = "explaining:1:a"
PASSES = 500
WORDS_FIRST = "what holds the words is looked at beside what is the person's"


@dataclass(frozen=True, slots=True)
class Case:
    """`by_nature`: why it may look at more rows than it gives."""

    name: str
    work: Callable[[], object]
    by_nature: str = ""


def cases_of(crowd: Crowd) -> Iterator[Case]:
    yield from _pages(crowd)
    yield from _turns(crowd)
    yield from _commands(crowd)
    yield from _searches(crowd)
    yield from _watching()
    yield from _admin()


def _pages(crowd: Crowd) -> Iterator[Case]:
    own, busy, filer = (signed_in(person) for person in (crowd.ordinary, crowd.busy, crowd.filer))
    of_own = crowd.ordinary.chats.newest_first()[0]
    longest = crowd.chats["longest"]
    yield Case("page without a chat, ten in the list", _get(own, reverse("home")))
    yield Case("page without a chat, ten thousand in the list", _get(busy, reverse("home")))
    yield Case("page of a chat of ten, one of ten", _get(own, of_own.get_absolute_url()))
    for name, chat in crowd.chats.items():
        by_nature = "counts a chat without usage, once a revision" if "elsewhere" in name else ""
        yield Case(f"page of a chat: {name}", _get(busy, chat.get_absolute_url()), by_nature)
    yield Case("the list of ten thousand", _get(busy, reverse("list_chats")))
    yield Case("a folder of ten thousand, open", _get(filer, reverse("list_chats")), "puts what it holds in order")
    yield Case("the archive of one who has ten thousand", _get(busy, reverse("archived_chats")))
    yield Case("earlier messages of the longest", _get(busy, f"{longest.get_absolute_url()}archived/?before=50000"))
    yield Case("its first messages", _get(busy, f"{longest.get_absolute_url()}?m=0"))
    yield Case("what changed since", lambda: presenting.read_changes(crowd.busy, longest.pk, longest.revision - 1))
    yield Case("what is sent", lambda: read_request(longest.pk))
    yield Case("its meter", lambda: loading.load_situation(longest.pk).meter(pending_text="Hello"))
    yield Case("copies that are shared", _get(busy, reverse("shares")))
    yield Case("what was used", _get(own, reverse("usage")))


def _turns(crowd: Crowd) -> Iterator[Case]:
    for name in ("short", "longest"):
        yield Case(f"a turn, from send to end, in a chat: {name}", _turn(crowd, crowd.chats[name]))
    yield Case("a save of a reply of 50,000 tokens", _long_save(crowd))
    yield Case("a new chat by one who has ten thousand", lambda: _start(crowd))
    yield Case("a draft in the longest chat", lambda: _draft(crowd, crowd.chats["longest"]))
    yield Case("a draft of one who has ten thousand chats", lambda: _draft(crowd, None))


def _long_save(crowd: Crowd) -> Callable[[], object]:
    """What is done each second while it is written."""
    turn = queueing.send(chat_id=crowd.chats["short"].pk, text="At length", idempotency_key="long", by=BY)
    assert turn
    assert turn.run
    run_id, text = turn.run.pk, " ".join(f"word{n % 3000}" for n in range(50_000))
    return lambda: turns.save_partial(run_id=run_id, attempt=1, content=text, reasoning="")


def _start(crowd: Crowd) -> object:
    return turns.start_chat(
        owner_id=crowd.busy.pk, text="Hello", idempotency_key="new", model=crowd.model, system_prompt="", by=BY
    )


def _draft(crowd: Crowd, chat: Chat | None) -> None:
    drafts.save_draft(owner_id=crowd.busy.pk, chat_id=chat and chat.pk, text="What I am typing")


def _turn(crowd: Crowd, chat: Chat) -> Callable[[], object]:
    def work() -> None:
        turn = queueing.send(chat_id=chat.pk, text="And then?", idempotency_key="once", by=BY)
        assert turn
        assert turn.run
        mine = {"run_id": turn.run.pk, "attempt": turn.run.attempt}
        situation = loading.load_situation(chat.pk, before_reply=turn.run.reply_id, to_send=True)
        situation.meter()
        turns.begin_writing(**mine, model_name="scripted", estimated_prompt_tokens=400)
        turns.save_partial(**mine, content="So far", reasoning="")
        turns.finish_turn(**mine, status=Message.Status.COMPLETE, content="So.", reasoning="", prompt_tokens=400)
        ledger.record_usage(
            kind=UsageRecord.Kind.REPLY,
            chat_id=chat.pk,
            owner_id=chat.owner_id,
            model=crowd.model,
            usage=Usage(prompt=400, completion=1),
            measured=True,
        )
        chats.wants_title(chat.pk)
        queueing.begin_next(chat_id=chat.pk, by=BY)

    return work


def _commands(crowd: Crowd) -> Iterator[Case]:
    longest, own = crowd.chats["longest"], crowd.ordinary.chats.newest_first()[0]
    last = longest.messages.on_path().without_texts().last()
    assert last
    yield Case(
        "another reply in the longest chat", lambda: turns.begin_again(chat_id=longest.pk, reply_id=last.pk, by=BY)
    )
    yield Case(
        "another version in the longest chat",
        lambda: paths.show_version(chat_id=longest.pk, message_id=last.pk),
        "walks the tree of the chat, by its ids",
    )
    yield Case(
        "its last reply deleted",
        lambda: deleting.delete_message(chat_id=longest.pk, message_id=last.pk),
        "what is after it is looked at, and which segments are stale",
    )
    yield Case("a chat of ten deleted", lambda: chats.delete_chat(chat_id=own.pk))
    yield Case(
        "a hundred chats archived",
        lambda: ordering.archive_chats(
            owner_id=crowd.busy.pk,
            chat_ids=list(crowd.busy.chats.newest_first().values_list("pk", flat=True)[5:105]),
            archived=True,
        ),
        "the list's index is looked at beside the ids",
    )


def _searches(crowd: Crowd) -> Iterator[Case]:
    for whose, person in (("one of many", crowd.ordinary), ("one who has ten thousand chats", crowd.busy)):
        for what, text in (("a word in every message", "w0 "), ("a rare word", "n777 "), ("two words", "w20 w30 ")):
            yield Case(f"search by {whose}: {what}", lambda p=person, t=text: searching.search(p, t), WORDS_FIRST)
    longest = crowd.chats["longest"]
    for what, text in (("a common word", "w9 "), ("a rare word", "n777 ")):
        yield Case(f"find in the longest chat: {what}", lambda t=text: searching.find_in_chat(longest, t), WORDS_FIRST)
    yield Case("find a chat among ten thousand", lambda: searching.find_chats(crowd.busy, "w4"))


def _watching() -> Iterator[Case]:
    """What every process asks every few seconds."""
    held = [
        passes.Pass(key, person, "") for key, person in SignIn.objects.values_list("session_key", "user_id")[:PASSES]
    ]
    yield Case("looks for dead runs", reaper.reap)
    yield Case("messages whose time has come", queueing.due)
    yield Case("temporary chats whose time is over", temporary.delete_expired)
    yield Case("what is to be erased", lambda: deleting.erase_deleted(due_within=reaper.DUE_WITHIN))
    yield Case("sessions that are over", sign_ins.forget_ended, "each row is looked up beside its session")
    yield Case("the audit log pruned", auditing.prune)
    yield Case(f"whether {PASSES} are still signed in", lambda: passes.gone(held))
    yield Case("an import to be read", lambda: importing.claim(by=BY))


def _admin() -> Iterator[Case]:
    staff = signed_in(make_user("staff", is_staff=True))
    whole = {
        "user": "counts all people",
        "usagerecord": "sums what is chosen",
        "compaction": "sums what is chosen",
        "auditentry": "counts all rows",
    }
    for name, by_nature in whole.items():
        app = "auth" if name == "user" else "chatapp"
        yield Case(f"admin: {name}s", _get(staff, reverse(f"admin:{app}_{name}_changelist")), by_nature)
    yield Case("what a person used in 30 days", lambda: allowing.use_of_days(SignIn.objects.all()[0].user_id, 30))


def _get(client: Client, address: str) -> Callable[[], object]:
    def work() -> None:
        response = client.get(address)
        assert response.status_code == 200, (address, response.status_code)

    return work
