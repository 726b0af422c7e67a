"""The whole core over random histories, held against a plain list of messages and one boundary in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from compaction.budget import Limits, measure
from compaction.memory import Memory, after_failure, after_refusal, after_success, may_try, recall
from compaction.pinning import may_pin
from compaction.planning import Accepted, Plan, Refusal, accept, folded, plan
from compaction.policies import fresh_boundary, windowed
from compaction.request import as_payload, assemble
from compaction.segments import Segment, joined, merged, over_limit, which_to_merge
from compaction.shrinking import shorten_old_results, shrink
from compaction.tokens import estimate_request
from compaction.transcript import Message, Status, ToolCall, Transcript, first_unanswered
from tests.compaction.talk import words

LIMITS = Limits(window=1_500, threshold_percent=85, tail_percent=30, summary_percent=5)
# What a mark ("this reply broke off here") or a seam costs at most; unpinning can leave one more of them.
MARK_TOKENS = 16


@dataclass
class Chat:
    """A chat as rows hold it: every message for ever, a boundary, and the segments that stand for what is before."""

    rows: list[Message] = field(default_factory=list)
    boundary: int = 0
    segments: tuple[Segment, ...] = ()
    offset: int = 0

    @property
    def transcript(self) -> Transcript:
        return Transcript(
            system_prompt="Be brief.",
            summary=joined(self.segments),
            messages=tuple(self.rows[self.boundary :]),
            model="toy",
            archived_count=self.boundary,
            measured_offset=self.offset,
            pinned=tuple(row for row in self.rows[: self.boundary] if row.is_pinned),
        )


class Core(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.chat = Chat()
        self.before: list[Chat] = []
        self.memory = Memory()

    def add(self, role: str, text: str, **options: Any) -> None:
        number = len(self.chat.rows)
        self.chat.rows.append(Message(100 + number, number, role, f"m{number}x {text}", model="toy", **options))

    @property
    def is_answered(self) -> bool:
        live = self.chat.transcript.messages
        return first_unanswered(live) == len(live)

    @property
    def waits_for_reply(self) -> bool:
        rows = self.chat.rows
        return bool(rows) and rows[-1].role in ("user", "tool") and not rows[-1].is_waiting

    @rule(size=st.integers(1, 60))
    @precondition(lambda self: self.is_answered or self.chat.rows[-1].role == "assistant")
    def send(self, size: int) -> None:
        self.add("user", words(size, f"ask{len(self.chat.rows)}x"))

    @rule(turns=st.integers(2, 9), size=st.integers(10, 60), pinned=st.integers(0, 20))
    @precondition(lambda self: self.is_answered)
    def talk(self, turns: int, size: int, pinned: int) -> None:
        for number in range(turns * 2):
            role = "assistant" if number % 2 else "user"
            self.add(role, words(size, f"talk{len(self.chat.rows)}x"))
            if number == pinned and may_pin(self.chat.transcript, self.chat.rows[-1], LIMITS) is None:
                self.chat.rows[-1] = replace(self.chat.rows[-1], is_pinned=True)

    @rule()
    @precondition(lambda self: not self.is_answered)
    def send_meanwhile(self) -> None:
        self.add("user", "queued", status=Status.QUEUED)

    @rule(size=st.integers(1, 80), ending=st.sampled_from(["complete", "complete", "stopped", "failed", "interrupted"]))
    @precondition(lambda self: self.waits_for_reply)
    def answer(self, size: int, ending: str) -> None:
        self.add("assistant", words(size, f"say{len(self.chat.rows)}x"), status=Status(ending))

    @rule()
    @precondition(lambda self: self.waits_for_reply)
    def fail_without_a_word(self) -> None:
        self.add("assistant", "", status=Status.FAILED)
        self.chat.rows[-1] = replace(self.chat.rows[-1], content="")

    @rule(count=st.integers(1, 3), size=st.integers(0, 90))
    @precondition(lambda self: self.waits_for_reply)
    def use_tools(self, count: int, size: int) -> None:
        name = len(self.chat.rows)
        calls = tuple(ToolCall(f"call{name}{letter}", "look_up", "{}") for letter in "abc"[:count])
        self.add("assistant", "", tool_calls=calls)
        for call in reversed(calls):
            self.add("tool", words(size, f"found{name}x"), tool_call_id=call.id)

    @rule()
    @precondition(lambda self: self.chat.rows and self.chat.rows[-1].status is Status.QUEUED and self.is_next)
    def begin_queued(self) -> None:
        self.chat.rows[-1] = replace(self.chat.rows[-1], status=Status.COMPLETE)

    @property
    def is_next(self) -> bool:
        return sum(row.is_waiting for row in self.chat.rows) == 1 and self.chat.rows[-2].role == "assistant"

    @rule(data=st.data())
    @precondition(lambda self: self.chat.rows)
    def pin(self, data: st.DataObject) -> None:
        index = data.draw(st.integers(0, len(self.chat.rows) - 1))
        if may_pin(self.chat.transcript, self.chat.rows[index], LIMITS) is None:
            self.chat.rows[index] = replace(self.chat.rows[index], is_pinned=True)

    @rule(data=st.data())
    @precondition(lambda self: any(row.is_pinned for row in self.chat.rows))
    def unpin(self, data: st.DataObject) -> None:
        index = data.draw(st.sampled_from([n for n, row in enumerate(self.chat.rows) if row.is_pinned]))
        self.chat.rows[index] = replace(self.chat.rows[index], is_pinned=False)

    @rule(size=st.integers(5, 60), fails=st.sampled_from([False, False, False, True]))
    @precondition(lambda self: measure(self.chat.transcript, LIMITS).over_trigger)
    def compact_when_idle(self, size: int, fails: bool) -> None:
        transcript = self.chat.transcript
        meter = measure(transcript, LIMITS)
        self.memory = recall(self.memory, meter, transcript)
        if fails:
            self.memory = after_failure(self.memory, transcript)
        elif not may_try(self.memory, meter, transcript):
            self.compact(size)

    @rule(size=st.integers(5, 60))
    @precondition(lambda self: len(self.chat.transcript.messages) > 4)
    def press_the_button(self, size: int) -> None:
        self.compact(size)

    @rule(size=st.integers(5, 60), data=st.data())
    @precondition(lambda self: len(self.chat.transcript.messages) > 8)
    def compact_up_to_here(self, size: int, data: st.DataObject) -> None:
        self.compact(size, up_to=data.draw(st.sampled_from(self.chat.transcript.messages[4:])).id)

    def compact(self, size: int, *, up_to: int | None = None) -> None:
        transcript = self.chat.transcript
        found = plan(transcript, LIMITS, up_to=up_to, keeps_summary=True)
        assert found == plan(transcript, LIMITS, up_to=up_to, keeps_summary=True)
        if isinstance(found, Refusal):
            self.refuse(transcript)
            return
        self.check_partition(found, transcript)
        segments = self.settled((*self.chat.segments, self.segment_of(found, size)))
        outcome = accept(found, transcript, joined(segments), LIMITS)
        if isinstance(outcome, Refusal):
            self.refuse(transcript)
            return
        self.apply(found, segments, outcome)

    def refuse(self, transcript: Transcript) -> None:
        meter = measure(transcript, LIMITS)
        self.memory = after_refusal(self.memory, meter, transcript)
        is_urgent = meter.used * 100 >= LIMITS.window * 90
        assert bool(may_try(self.memory, meter, transcript)) == (self.memory.is_resting or not is_urgent)

    def check_partition(self, found: Plan, transcript: Transcript) -> None:
        assert found.archived + found.kept == transcript.messages
        assert found.kept[0].role == "user"
        assert len(found.archived) <= first_unanswered(transcript.messages)
        called = {call.id for message in found.archived for call in message.tool_calls}
        assert called.isdisjoint(message.tool_call_id for message in found.kept)

    def segment_of(self, found: Plan, size: int) -> Segment:
        edges = (found.archived[0].position, found.through.position)
        return Segment(words(size, f"sum{edges[1]}y"), 0, edges[1], *edges)

    def settled(self, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
        while over_limit(segments, LIMITS.window) and (bounds := which_to_merge(segments)):
            segments = merged(segments, bounds, words(20, f"merged{len(segments)}y"), compaction_id=0)
        return segments

    def apply(self, found: Plan, segments: tuple[Segment, ...], outcome: Accepted) -> None:
        transcript = self.chat.transcript
        self.before.append(replace(self.chat, rows=list(self.chat.rows)))
        self.chat.segments, self.chat.offset = segments, outcome.measured_offset
        self.chat.boundary += len(found.archived)
        live = [replace(row, made_after_boundary=False) for row in self.chat.rows[self.chat.boundary :]]
        self.chat.rows[self.chat.boundary :] = live
        self.memory = after_success()
        assert self.chat.transcript == folded(found, transcript, joined(segments))
        assert measure(self.chat.transcript, LIMITS).used == outcome.tokens_after <= 0.8 * found.size_before
        assert outcome.tokens_after < LIMITS.trigger
        assert plan(self.chat.transcript, LIMITS) == Refusal("nothing_new") or not self.is_answered

    @rule()
    @precondition(lambda self: self.before and len(self.before[-1].rows) == len(self.chat.rows))
    def undo(self) -> None:
        self.chat = self.before.pop()

    @rule(data=st.data())
    @precondition(lambda self: len(self.chat.transcript.messages) > 12)
    def start_fresh(self, data: st.DataObject) -> None:
        live = self.chat.transcript.messages
        through = fresh_boundary(live, data.draw(st.sampled_from([message.id for message in live])))
        if isinstance(through, Message):
            self.before.append(replace(self.chat, rows=list(self.chat.rows)))
            self.chat.boundary, self.chat.segments, self.chat.offset = through.position + 1, (), 0

    @invariant()
    def the_request_is_sound(self) -> None:
        self.check_request(self.chat.transcript)

    @invariant()
    def so_is_every_smaller_one(self) -> None:
        transcript = self.chat.transcript
        for shrunk in (
            windowed(transcript, LIMITS),
            shrink(transcript, LIMITS),
            shorten_old_results(transcript, LIMITS),
        ):
            self.check_request(shrunk.transcript)
            assert {row.id for row in transcript.messages} == {
                *shrunk.dropped,
                *(row.id for row in shrunk.transcript.messages),
            }

    def check_request(self, transcript: Transcript) -> None:
        request = assemble(transcript)
        said = [message for message in request if message.role != "system"]
        assert [message.role for message in request].count("system") == 1
        assert request[0].content.count("<record") == request[0].content.count("</record>") == bool(transcript.summary)
        assert not said or said[0].role == "user"
        owed: list[str] = []
        role = ""
        for message in said:
            if message.role == "tool":
                owed.remove(message.tool_call_id)
            else:
                assert not owed
                assert message.role != role or message.role == "assistant"
                owed = [call.id for call in message.tool_calls]
            role = message.role
        assert not owed

    @invariant()
    def no_archived_text_but_pins_is_sent(self) -> None:
        sent = {word for message in as_payload(assemble(self.chat.transcript)) for word in message["content"].split()}
        for row in self.chat.rows[: self.chat.boundary]:
            is_sent = row.is_pinned and bool(row.content.strip())
            assert (f"m{row.position}x" in sent) == is_sent

    @invariant()
    def the_unanswered_message_is_last(self) -> None:
        live = self.chat.transcript.messages
        index = first_unanswered(live)
        if index < len(live) and not any(row.role == "tool" for row in live[index:]):
            answering = next(row for row in live[index:] if row.role == "user")
            last = assemble(self.chat.transcript)[-1]
            assert last.role == "user"
            assert answering.content in last.content

    @invariant()
    def the_meter_adds_up(self) -> None:
        meter = measure(self.chat.transcript, LIMITS)
        assert meter.system + meter.summary + meter.pinned + meter.live == meter.used
        if not self.chat.offset and not any(row.is_waiting for row in self.chat.rows):
            sent = estimate_request(assemble(self.chat.transcript))
            assert abs(meter.used - sent) <= MARK_TOKENS * (len(self.chat.rows) + 1)

    @invariant()
    def pins_stay_within_their_share(self) -> None:
        pinned = sum(row.is_pinned for row in self.chat.rows)
        assert measure(self.chat.transcript, LIMITS).pinned <= LIMITS.window * 15 // 100 + MARK_TOKENS * pinned


def test_g_c_d_e6_the_core_holds_over_random_histories() -> None:
    run_state_machine_as_test(Core, settings=settings(max_examples=40, stateful_step_count=40, deadline=None))
