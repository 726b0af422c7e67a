"""The whole history over random commands, crashes and open pages, held against a list, a path and a stack."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from itertools import count, pairwise
from typing import Any
from unittest.mock import patch

import pytest
from django.db.models import F
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from chatapp import events, presenting
from chatapp.compacting import working
from chatapp.history import (
    boundary,
    chats,
    compactions,
    continuing,
    deleting,
    editing,
    forking,
    loading,
    metering,
    paths,
    queueing,
    turns,
    wishes,
)
from chatapp.history.errors import ChatBusy, NotPossible
from chatapp.llm import errors
from chatapp.models import Chat, Compaction, LanguageModel, Message, QueuedMessage, Run, SiteSettings
from chatapp.presenting import once, pages
from chatapp.runs import preparing, reaper
from chatapp.runs.live import LiveRun
from compaction.request import as_payload, assemble
from compaction.resuming import GO_ON
from compaction.segments import Segment, joined
from tests.chatapp.open_page import OpenPage, ids_in
from tests.chatapp.plain_chat import LIVE, PlainChat, Record, Said
from tests.factories import make_model, make_user
from tests.inline import Summariser, cancel, press_button, work_inline, written

EXAMPLES = int(os.environ.get("FOLDLINE_EXAMPLES") or 0)
LAST_WORDS = " ".join(
    ["They spoke of bread, and of the warmer place that the dough wants when it is winter outside."] * 2
)
ENDINGS = ["complete", "complete", "complete", "stopped", "failed", "interrupted"]
MEANWHILE = ["nothing", "nothing", "send", "show", "pin", "rename", "policy", "cancel"]
SIZES = st.sampled_from([1, 5, 40, 120])


class History(RuleBasedStateMachine):
    summariser: Summariser

    @initialize(system_prompt=st.sampled_from(["", "Be brief."]))
    def begin(self, system_prompt: str) -> None:
        self.numbers = count(1)
        self.user = make_user()
        LanguageModel.objects.all().delete()
        SiteSettings.objects.all().delete()
        self.models = [make_model("first", window=1500), make_model("second", window=0)]
        turn = turns.start_chat(
            owner_id=self.user.pk,
            text=self.text(5),
            idempotency_key="",
            model=self.models[0],
            system_prompt=system_prompt,
            by=events.PROCESS,
        )
        self.plain = PlainChat(system_prompt)
        self.chat_id = turn.chat.pk
        self.run: Run | None = None
        self.waiting: list[str] = []
        self.goes_on = self.is_wanted_now = False
        self.is_compacting = False
        self.took(turn)
        self.applied_ever = self.undone_ever = 0
        self.before: dict[int, tuple[Any, ...]] = {}
        self.continued = ""
        self.erased: set[int] = set()
        self.steps = count(1)
        self.pages = [self.open_page(), self.open_page()]

    def teardown(self) -> None:
        if hasattr(self, "chat_id"):
            chats.delete_chat(chat_id=self.chat_id)
            for rows in (Message, Compaction, Run, QueuedMessage):
                assert not rows.objects.exists()

    # What the rules are made of

    @property
    def chat(self) -> Chat:
        return Chat.objects.select_related("compacted_through").get(pk=self.chat_id)

    def open_page(self) -> OpenPage:
        page = OpenPage(self.user, self.chat)
        page.catch_up()
        return page

    def text(self, size: int) -> str:
        """One that says its number, so that it is found wherever it goes."""
        number = next(self.numbers)
        return f"word{number}x" + " and bread" * size

    def took(self, turn: turns.Turn) -> None:
        """Into the model: the person's message, where it is new, and the reply's placeholder."""
        assert turn.run is not None
        if turn.message.pk not in self.plain.said:
            self.plain.add(self.said(turn.message))
        self.plain.add(self.said(turn.run.reply))
        self.run, self.former = turn.run, turn.continued

    def said(self, row: Message) -> Said:
        return Said(row.pk, row.parent_id, row.role, row.content, row.status)

    def pick(self, data: st.DataObject, things: list[Any]) -> Any:
        return things[data.draw(st.integers(0, len(things) - 1))]

    def request(self) -> list[dict[str, Any]]:
        situation = loading.load_situation(self.chat_id)
        return as_payload(assemble(situation.to_send().transcript, no_system_role=situation.no_system_role))

    def texts(self) -> dict[int, tuple[str, ...]]:
        rows = Message.objects.filter(chat_id=self.chat_id)
        return {pk: rest for pk, *rest in rows.values_list("pk", "content", "reasoning", "role", "parent_id")}

    # Turns

    @rule(size=SIZES)
    @precondition(lambda self: self.run is None)
    def send(self, size: int) -> None:
        self.took(turns.begin_turn(chat_id=self.chat_id, text=self.text(size), idempotency_key="", by=events.PROCESS))

    @rule()
    @precondition(lambda self: self.run)
    def send_meanwhile(self) -> None:
        """It waits; what waits is in no request, as each is compared with the plain one's."""
        self.waiting.append(self.text(5))
        sent = {"text": self.waiting[-1], "idempotency_key": self.waiting[-1], "by": events.PROCESS}
        assert queueing.send(chat_id=self.chat_id, **sent) is None
        assert queueing.send(chat_id=self.chat_id, **sent) is None
        with pytest.raises(ChatBusy, match="run_live"):
            turns.begin_turn(chat_id=self.chat_id, **sent)

    @rule()
    @precondition(lambda self: self.waiting and self.run is None)
    def send_next(self) -> None:
        """The end of a run, or the reaper: by itself after a reply that ended well, or for "Send now"."""
        turn = queueing.begin_next(chat_id=self.chat_id, by=events.PROCESS)
        assert (turn is not None) == (self.goes_on or self.is_wanted_now)
        if turn:
            assert turn.message.content == self.waiting.pop(0)
            self.is_wanted_now = False
            self.took(turn)

    @rule(data=st.data())
    @precondition(lambda self: self.waiting)
    def send_now(self, data: st.DataObject) -> None:
        text = self.pick(data, self.waiting)
        row = QueuedMessage.objects.get(text=text)
        begun = queueing.send_now(chat_id=self.chat_id, queued_id=row.pk, by=events.PROCESS)
        self.waiting.sort(key=lambda other: (other != text, int(other[4 : other.index("x")])))
        self.is_wanted_now = isinstance(begun, Run)
        assert self.is_wanted_now == bool(self.run)
        if isinstance(begun, turns.Turn):
            self.waiting.remove(text)
            self.took(begun)

    @rule(data=st.data())
    @precondition(lambda self: self.waiting)
    def take_back(self, data: st.DataObject) -> None:
        text = self.pick(data, self.waiting)
        self.is_wanted_now = self.is_wanted_now and text != self.waiting[0]
        self.waiting.remove(text)
        row = QueuedMessage.objects.get(text=text)
        assert queueing.take_back(chat_id=self.chat_id, queued_id=row.pk) == (text, [])

    @invariant()
    def what_waits_is_there_in_its_order(self) -> None:
        assert list(QueuedMessage.objects.in_order().values_list("text", flat=True)) == self.waiting

    @rule(
        size=SIZES, ending=st.sampled_from(ENDINGS), usage=st.sampled_from(["none", "fair", "tiny", "huge", "cached"])
    )
    @precondition(lambda self: self.run and not self.is_compacting)
    def answer(self, size: int, ending: str, usage: str) -> None:
        """From the queue to the end, as a run's task does it."""
        reply = self.plain.messages[-1]
        prepared = self.prepared(reply)
        facts = {"attempt": self.run.attempt, "run_id": self.run.pk}
        turns.begin_writing(
            **facts,
            model_name=prepared.situation.model.name,
            window_tokens=prepared.situation.limits.window,
            estimated_prompt_tokens=prepared.estimated_tokens,
            request_through_id=prepared.situation.chat.compacted_through_id,
            left_out=list(prepared.left_out),
        )
        text = "" if ending in {"failed", "stopped"} and size == 1 else self.text(size)
        turns.save_partial(**facts, content=self.continued + text[:4], reasoning="")
        estimated = prepared.estimated_tokens
        told = {
            "none": (None, None, None),
            "fair": (estimated, size * 3, 0),
            "tiny": (max(1, estimated // 3), size, 0),
            "huge": (9000, 50, 0),
            "cached": (estimated, size, estimated * 2),
        }[usage]
        counted = dict(zip(("prompt_tokens", "completion_tokens", "cached_tokens"), told, strict=True))
        reply.text = self.continued + text
        turns.finish_turn(**facts, status=Message.Status(ending), content=reply.text, reasoning="", **counted)
        reply.status, self.run, self.continued, self.goes_on = ending, None, "", ending == "complete"

    def prepared(self, reply: Said) -> preparing.Prepared:
        """What is sent for it: the plain model's request, which ends with what is to be answered, or to be gone on."""
        prepared = preparing._read_prepared(
            LiveRun(self.run.pk, self.run.attempt, self.chat_id, 0, reply.id, self.former)
        )
        expected = self.plain.request(without=prepared.left_out)
        if self.continued:
            with patch.object(reply, "status", "stopped"):
                expected = [*self.plain.request(without=prepared.left_out), {"role": "user", "content": GO_ON}]
        request = as_payload(prepared.request)
        assert request == expected
        assert request[-1]["role"] == "user"
        assert self.continued or request[-1]["content"].endswith(self.plain.messages[-2].text)
        return prepared

    @rule(data=st.data())
    @precondition(lambda self: self.run is None)
    def write_again(self, data: st.DataObject) -> None:
        replies = [message for message in self.plain.messages if message.role == "assistant"]
        if not replies:
            return
        reply = self.pick(data, replies)
        if self.plain.said[reply.parent].deletion:
            with pytest.raises(NotPossible):
                turns.begin_again(chat_id=self.chat_id, reply_id=reply.id, by=events.PROCESS)
            return
        turn = turns.begin_again(chat_id=self.chat_id, reply_id=reply.id, by=events.PROCESS)
        self.plain.cut_from(reply.id)
        self.took(turn)

    @rule(data=st.data())
    @precondition(lambda self: self.run is None)
    def show_version(self, data: st.DataObject) -> None:
        self._show_any(data)

    @rule()
    @precondition(lambda self: self.run is None)
    def go_on(self) -> None:
        """A reply that broke off is written on in its place."""
        last = self.plain.messages[-1]
        broke_off = last.status in {"stopped", "interrupted", "failed"} and not last.is_empty
        if not broke_off or self.plain.said[last.parent].deletion:
            with pytest.raises(NotPossible):
                continuing.begin_continuation(chat_id=self.chat_id, reply_id=last.id, by=events.PROCESS)
            return
        turn = continuing.begin_continuation(chat_id=self.chat_id, reply_id=last.id, by=events.PROCESS)
        self.run, self.former, self.continued = turn.run, turn.continued, last.text
        last.status = "queued" if self.is_compacting else "streaming"

    @rule(data=st.data(), following=st.booleans())
    @precondition(lambda self: not self.is_busy())
    def delete(self, data: st.DataObject, following: bool) -> None:
        message = self.pick(data, self.plain.messages)
        if message.is_empty:
            return
        deleting.delete_message(chat_id=self.chat_id, message_id=message.id, with_following=following)
        number = next(self.numbers)
        below = self.plain.below(message, all_of_it=following) if message.role == "user" or following else []
        for one in [message, *below]:
            if not one.deletion:
                one.deletion, one.is_pinned = number, False

    @rule(data=st.data())
    @precondition(lambda self: not self.is_busy() and any(one.deletion for one in self.plain.said.values()))
    def restore(self, data: st.DataObject) -> None:
        message = self.pick(data, [one for one in self.plain.said.values() if one.deletion])
        if message.deletion in self.erased:
            with pytest.raises(NotPossible):
                deleting.restore_message(chat_id=self.chat_id, message_id=message.id)
            return
        deleting.restore_message(chat_id=self.chat_id, message_id=message.id)
        deletion = message.deletion
        for one in self.plain.said.values():
            if one.deletion == deletion:
                one.deletion = 0

    @rule()
    @precondition(lambda self: any(one.deletion for one in self.plain.said.values()))
    def erase(self) -> None:
        """Two hours later."""
        for rows, name in ((Message, "deleted_at"), (Compaction, "started_at"), (Compaction, "ended_at")):
            rows.objects.update(**{name: F(name) - timedelta(hours=2)})
        deleting.erase_deleted()
        for one in self.plain.said.values():
            if one.deletion:
                one.text = ""
                self.erased.add(one.deletion)

    @rule(data=st.data(), answers=st.booleans())
    @precondition(lambda self: self.run is None)
    def edit(self, data: st.DataObject, answers: bool) -> None:
        """Another wording: with a reply of its own, or under which the later turns stay."""
        asked = [one for one in self.plain.messages if one.role == "user" and not one.deletion]
        if not asked or (self.is_compacting and not answers):
            return
        former = self.pick(data, asked)
        wording = {"message_id": former.id, "text": self.text(5), "idempotency_key": ""}
        if answers:
            turn = editing.begin_edited(chat_id=self.chat_id, **wording, by=events.PROCESS)
            self.plain.cut_from(former.id)
            self.took(turn)
        else:
            self.plain.replace(former, self.said(editing.save_edited(chat_id=self.chat_id, **wording)))

    @rule()
    @precondition(lambda self: self.run is None and self.plain.messages[-1].role == "user")
    def answer_at_last(self) -> None:
        last = self.plain.messages[-1]
        if not last.deletion:
            self.took(editing.begin_answer(chat_id=self.chat_id, message_id=last.id, by=events.PROCESS))

    @rule(data=st.data())
    def fork(self, data: st.DataObject) -> None:
        """The copy sends what the original would, had it ended there; the original stays as it is."""
        at = data.draw(st.integers(0, len(self.plain.path) - 1))
        last = self.plain.messages[at]
        if last.status in LIVE:
            with pytest.raises(ChatBusy):
                forking.fork(chat_id=self.chat_id, message_id=last.id)
            return
        copy = forking.fork(chat_id=self.chat_id, message_id=last.id)
        situation = loading.load_situation(copy.pk)
        until_there = replace(self.plain, path=self.plain.path[: at + 1])
        if situation.chat.policy != Chat.Policy.WINDOW:
            assert as_payload(assemble(situation.to_send().transcript)) == until_there.request()
        meter = metering.load_meter(situation.chat, situation.site, situation.model)
        assert meter == situation.meter()
        rows = copy.messages.on_path()
        assert list(rows.values_list("content", flat=True)) == [one.text for one in until_there.messages]
        assert bool(situation.chat.compacted_through) == bool(until_there.in_force)
        chats.delete_chat(chat_id=copy.pk)

    # Compactions

    @rule(
        data=st.data(),
        outcome=st.sampled_from(["good", "good", "good", "good", "bad", "fails", "killed"]),
        meanwhile=st.sampled_from(MEANWHILE),
        up_to=st.booleans(),
    )
    @precondition(lambda self: not self.is_busy())
    def compact(self, data: st.DataObject, outcome: str, meanwhile: str, up_to: bool) -> None:
        wishes = {"up_to": self.pick(data, self.plain.messages).id} if up_to else {}
        before, request, record = self.texts(), self.request(), self.chat.record()
        self.was_interrupted = False

        def answer() -> Any:
            if not self.was_interrupted:
                self.was_interrupted = True
                self.do_meanwhile(data, meanwhile)
            if outcome == "fails":
                raise errors.EndpointFailed("out of memory")
            return written(f"sum{next(self.numbers)}x {LAST_WORDS}" if outcome != "bad" else "Bread.")

        self.summariser.answer = answer
        if outcome == "killed":
            self.compact_until_killed(wishes)
            return
        compaction = press_button(self.chat_id, **wishes)
        if compaction.status != "applied":
            assert compaction.status in {"refused", "failed", "cancelled"}
            assert (compaction.status == "cancelled") == bool(compaction.reason in {"", "path_changed"})
            return
        assert outcome == "good"
        assert meanwhile != "cancel"
        assert {pk: text for pk, text in self.texts().items() if pk in before} == before
        if meanwhile == "nothing":
            self.before[compaction.pk] = (request, record, self.fingerprint())
        self.applied(compaction)

    def applied(self, compaction: Compaction) -> None:
        earlier = joined(boundary.segments_of(compaction)[:-1])
        known = self.plain.in_force.text if self.plain.in_force else ""
        self.plain.records.append(Record(compaction.pk, compaction.through_id, self.chat.summary))
        assert earlier == known or not earlier.startswith(known)  # older segments stay byte for byte, or are merged
        assert self.plain.in_force.id == compaction.pk
        self.applied_ever += 1

    def fingerprint(self) -> tuple[Any, ...]:
        """What the next request is made of, the record aside."""
        chat = self.chat
        path = [(one.id, one.text, one.status, one.is_pinned, one.deletion) for one in self.plain.messages]
        return (*path, chat.policy, chat.model_id, *LanguageModel.objects.values_list("window_reported"))

    def do_meanwhile(self, data: st.DataObject, what: str) -> None:
        match what:
            case "send":
                turn = turns.begin_turn(chat_id=self.chat_id, text=self.text(5), idempotency_key="", by=events.PROCESS)
                assert turn.run.reply.status == "queued"
                self.took(turn)
            case "show":
                self._show_any(data)
            case "pin":
                self._pin_any(data)
            case "rename":
                chats.rename(chat_id=self.chat_id, title=self.text(1))
            case "policy":
                wishes.choose_policy(chat_id=self.chat_id, policy=Chat.Policy.WINDOW)
            case "cancel":
                cancel(Compaction.objects.live().get())
        self.check_page(self.pages[0])

    def compact_until_killed(self, wished: dict[str, Any]) -> None:
        """The process dies in the middle of the call, so nothing ends it."""

        def die() -> Any:
            raise errors.EndpointFailed("killed")

        async def nothing(*_: Any) -> None: ...

        self.summariser.answer = die
        with patch.object(working, "_end", nothing):
            press_button(self.chat_id, **wished)
        self.is_compacting = True

    @rule()
    @precondition(lambda self: self.is_busy())
    def press_too_soon(self) -> None:
        with pytest.raises(ChatBusy, match="already_running" if self.is_compacting else "run_live"):
            press_button(self.chat_id)

    @rule()
    def crash(self) -> None:
        """Whoever wrote or compacted is gone; its lease runs out."""
        over = timezone.now() - timedelta(seconds=1)
        Run.objects.live().update(lease_until=over)
        Compaction.objects.live().update(lease_until=over)
        reaper.reap()
        assert not Run.objects.live().exists()
        assert not Compaction.objects.live().exists()
        self.is_compacting = False
        if self.run:
            self.plain.messages[-1].status, self.run, self.continued = "interrupted", None, ""
            self.goes_on = False

    @rule()
    @precondition(lambda self: self.plain.in_force)
    def undo(self) -> None:
        if self.is_busy():
            with pytest.raises(ChatBusy):
                compactions.undo_compaction(chat_id=self.chat_id, compaction_id=self.plain.in_force.id)
            return
        undone = self.plain.in_force
        compactions.undo_compaction(chat_id=self.chat_id, compaction_id=undone.id)
        self.plain.records.remove(undone)
        self.undone_ever += 1
        request, record, then = self.before.get(undone.id, (None, None, None))
        if then == self.fingerprint() and record["compacted_through_id"] == self.chat.compacted_through_id:
            assert self.request() == request
            assert self.chat.record() == record

    @rule(text=st.sampled_from(["By hand: rye.", ""]))
    @precondition(lambda self: self.plain.in_force and not self.is_busy())
    def edit_summary(self, text: str) -> None:
        force = self.plain.in_force
        row = Compaction.objects.get(pk=force.id)
        if not row.segments:
            with pytest.raises(NotPossible):
                compactions.edit_summary(chat_id=self.chat_id, compaction_id=force.id, text=text)
            return
        *earlier, last = boundary.segments_of(row)
        compactions.edit_summary(chat_id=self.chat_id, compaction_id=force.id, text=text)
        force.text = joined([*earlier, Segment(text or row.model_summary or last.text)])

    @rule(data=st.data())
    @precondition(lambda self: not self.is_busy())
    def start_fresh(self, data: st.DataObject) -> None:
        message = self.pick(data, self.plain.messages)
        request, record = self.request(), self.chat.record()
        try:
            compaction = wishes.start_fresh(chat_id=self.chat_id, message_id=message.id, user_id=self.user.pk)
        except NotPossible:
            return
        assert message.role == "user"
        self.plain.records.append(Record(compaction.pk, message.parent, ""))
        self.before[compaction.pk] = (request, record, self.fingerprint())
        self.applied_ever += 1
        assert self.plain.live[0] is message

    # Wishes and settings

    @rule(data=st.data())
    def pin(self, data: st.DataObject) -> None:
        self._pin_any(data)

    def _pin_any(self, data: st.DataObject) -> None:
        message = self.pick(data, self.plain.messages)
        try:
            wishes.pin(chat_id=self.chat_id, message_id=message.id, pinned=not message.is_pinned)
        except NotPossible:
            assert not message.is_pinned
        else:
            message.is_pinned = not message.is_pinned

    def _show_any(self, data: st.DataObject) -> None:
        message = self.pick(data, list(self.plain.said.values()))
        paths.show_version(chat_id=self.chat_id, message_id=message.id)
        self.plain.show(message.id)

    @rule(which=st.integers(0, 1))
    def choose_model(self, which: int) -> None:
        if self.is_busy():
            with pytest.raises(ChatBusy):
                chats.choose_model(chat_id=self.chat_id, model=self.models[which])
        else:
            chats.choose_model(chat_id=self.chat_id, model=self.models[which])

    @rule(policy=st.sampled_from(Chat.Policy))
    def choose_policy(self, policy: Chat.Policy) -> None:
        wishes.choose_policy(chat_id=self.chat_id, policy=policy)

    @rule(threshold=st.sampled_from([0, 50, 85]), window=st.sampled_from([0, 700, 1500, 8000]))
    def change_settings(self, threshold: int, window: int) -> None:
        site = SiteSettings.get_solo()
        site.threshold_percent = threshold
        site.save()
        self.models[0].window_reported = window
        self.models[0].save()

    # Pages

    @rule(data=st.data())
    def reload(self, data: st.DataObject) -> None:
        """One page is opened again, and all that can be opened in it."""
        page = self.pages[data.draw(st.integers(0, 1))] = self.open_page()
        if page.parts.get("fold"):
            page.open_archived()
        if page.parts.get("earlier"):
            page.load_earlier()

    def check_page(self, page: OpenPage) -> None:
        """Whatever it had seen, it shows now what a page opened now shows."""
        was_behind = page.seen < self.chat.revision
        page.catch_up()
        fresh = self.open_page()
        shown, expected = page.shown(), fresh.shown()
        assert shown[-len(expected) :] == expected
        live = [message.id for message in self.plain.live]
        assert ids_in("".join(shown)) == live[len(live) - len(shown) :]
        assert bool(page.parts.get("earlier")) == (len(shown) < len(live))
        if page.archived:
            fresh.open_archived()
            assert page.archived == fresh.archived
        for name in ("fold", "title", "run-buttons", *(("meter", "compaction") if was_behind else ())):
            assert page.parts.get(name, "") == fresh.parts.get(name, ""), name

    # What always holds

    def is_busy(self) -> bool:
        return self.run is not None or self.is_compacting

    @invariant()
    def there_is_one_path(self) -> None:
        rows = list(Message.objects.filter(chat_id=self.chat_id, active=True).order_by("position"))
        assert [row.pk for row in rows] == self.plain.path
        assert [row.position for row in rows] == list(range(len(rows)))
        assert rows[0].parent_id is None
        assert all(row.parent_id == before.pk for before, row in pairwise(rows))
        for row, message in zip(rows, self.plain.messages, strict=True):
            assert (row.role, row.content, row.status) == (message.role, message.text, message.status)
            assert (row.pinned, row.is_deleted) == (message.is_pinned, message.deletion > 0)

    @invariant()
    def record_is_whole_and_on_the_path(self) -> None:
        chat, force = self.chat, self.plain.in_force
        assert (chat.compacted_through_id, chat.summary) == ((force.through, force.text) if force else (None, ""))
        assert (chat.compacted_at is None) == (force is None)
        assert chat.compacted_through is None or chat.compacted_through.active
        applied = Compaction.objects.filter(chat_id=self.chat_id, status="applied")
        assert applied.count() == self.applied_ever - self.undone_ever == len(self.plain.records)
        assert Run.objects.live().count() == (self.run is not None)
        assert Compaction.objects.live().count() == self.is_compacting

    @invariant()
    def request_and_meter_are_those_of_the_plain_model(self) -> None:
        situation = loading.load_situation(self.chat_id)
        quick = metering.load_meter(situation.chat, situation.site, situation.model, pending_text="typing")
        assert quick == situation.meter(pending_text="typing")
        shrunk = situation.to_send()
        request = as_payload(assemble(shrunk.transcript))
        assert request == self.plain.request(without=shrunk.dropped)
        live = [message.id for message in self.plain.live]
        assert list(shrunk.dropped) == live[: len(shrunk.dropped)]
        assert not shrunk.dropped or situation.chat.policy == Chat.Policy.WINDOW
        said = [message for message in request if message["role"] != "system"]
        assert [message["role"] for message in request].count("system") == bool(request[len(said) :])
        assert [message["role"] for message in said] == (["user", "assistant"] * len(said))[: len(said)]
        words = {word for message in said for word in json.dumps(message["content"])[1:-1].split()}
        for message in self.plain.archived:
            if message.text and not message.deletion:
                assert (message.text.split()[0] in words) == message.is_pinned

    def check_older_messages(self) -> None:
        """What is behind the links of a page is the rest of the path."""
        page = presenting.read_page(self.chat_id)
        shown, before = [message.id for message in page.messages], page.earlier_before
        while before is not None:
            older = presenting.read_earlier(page.chat, presenting.Place(before=before))
            shown, before = [message.id for message in older.messages] + shown, older.before
        assert shown == [message.id for message in self.plain.live]
        archived, before = self.read_archived(page.chat, None)
        while before is not None:
            older, before = self.read_archived(page.chat, before)
            archived = older + archived
        assert archived == [message.id for message in self.plain.archived]
        assert bool(page.divider) == bool(self.plain.in_force)

    def read_archived(self, chat: Chat, before: int | None) -> tuple[list[int], int | None]:
        older = presenting.read_archived(chat, presenting.Place(before=before))
        return [message.id for message in older.messages], older.before

    @invariant()
    def every_page_is_right(self) -> None:
        """One of them after every third command; the other has missed a few by then."""
        step = next(self.steps)
        if step % 3 == 0:
            self.check_page(self.pages[step // 3 % 4 // 3])
        if step % 6 == 0:
            self.check_older_messages()


@pytest.mark.django_db(transaction=True)
def test_a_g_i_j_the_history_holds_over_random_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    History.summariser = work_inline(monkeypatch)
    monkeypatch.setattr(pages, "MESSAGES_ON_A_PAGE", 6)
    monkeypatch.setattr(once, "SECONDS_KEPT", -1)  # settings of the admin change here within a second
    run_state_machine_as_test(
        History,
        settings=settings(
            max_examples=EXAMPLES or 24,
            stateful_step_count=40 if EXAMPLES else 18,
            derandomize=not EXAMPLES,
            deadline=None,
            phases=[Phase.generate],  # making a failure smaller takes minutes
            suppress_health_check=list(HealthCheck),
        ),
    )
