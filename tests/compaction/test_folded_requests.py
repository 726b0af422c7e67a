"""What holds of the request after a fold, whatever the chat was: tools, pins, queued, failed, broken off."""

from dataclasses import dataclass, replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from compaction.budget import measure
from compaction.pinning import may_pin
from compaction.planning import Accepted, Plan, accept, folded, plan
from compaction.request import RequestMessage, assemble
from compaction.transcript import Transcript, first_unanswered
from tests.compaction.talk import LIMITS, pinned, random_chat, words

WIDE = replace(LIMITS, window=4_000)


@dataclass
class Fold:
    """A chat before and after, with the plan between and a summary of `size` words."""

    before: Transcript
    plan: Plan
    summary: str
    after: Transcript


@st.composite
def random_fold(draw: st.DrawFn) -> Fold:
    chat = draw(random_chat())
    assume(len(chat.messages) > 4)
    for index in draw(st.lists(st.integers(0, len(chat.messages) - 1), max_size=4)):
        if may_pin(chat, chat.messages[index], WIDE) is None:
            messages = (*chat.messages[:index], pinned(chat.messages[index]), *chat.messages[index + 1 :])
            chat = replace(chat, messages=messages)
    found = plan(chat, draw(st.sampled_from([WIDE, replace(WIDE, window=0), replace(WIDE, threshold_percent=0)])))
    assume(isinstance(found, Plan))
    summary = words(draw(st.integers(3, 60)), "sumy")
    return Fold(chat, found, summary, folded(found, chat, summary))


def said(request: tuple[RequestMessage, ...]) -> list[RequestMessage]:
    return [message for message in request if message.role != "system"]


@settings(max_examples=30, deadline=None)
@given(random_fold())
def test_g1_one_system_message_with_one_record_is_first(fold: Fold) -> None:
    request = assemble(fold.after)

    assert [message.role for message in request].count("system") == 1
    assert request[0].content.startswith(fold.before.system_prompt)
    assert request[0].content.count(fold.summary) == 1


@settings(max_examples=30, deadline=None)
@given(random_fold())
def test_g2_c1_roles_alternate_and_every_call_has_its_results(fold: Fold) -> None:
    role, owed = "assistant", set()
    for message in said(assemble(fold.after)):
        if message.role == "tool":
            owed.remove(message.tool_call_id)
            continue
        assert not owed
        assert message.role != role or role == "assistant"
        role, owed = message.role, {call.id for call in message.tool_calls}
    assert not owed
    assert said(assemble(fold.after))[0].role == "user"


@settings(max_examples=30, deadline=None)
@given(random_fold())
def test_g2_c2_the_unanswered_message_is_the_last_before_and_after(fold: Fold) -> None:
    index = first_unanswered(fold.before.messages)
    assume(index < len(fold.before.messages))
    assume(not any(message.role == "tool" for message in fold.before.messages[index:]))

    for chat in (fold.before, fold.after):
        assert assemble(chat)[-1].role == "user"
        assert assemble(chat)[-1].content.endswith(fold.before.messages[index].content)


@settings(max_examples=30, deadline=None)
@given(random_fold())
def test_g4_c6_of_what_is_archived_only_pins_are_sent_once_and_whole(fold: Fold) -> None:
    sent = [message.content for message in said(assemble(fold.after))]

    for message in fold.plan.archived:
        if message.content.strip() and message.role != "tool":
            assert sent.count(message.content) == message.is_pinned


@settings(max_examples=30, deadline=None)
@given(random_fold())
def test_d2_the_size_after_is_what_was_promised_and_at_most_four_fifths(fold: Fold) -> None:
    accepted = accept(fold.plan, fold.before, fold.summary, WIDE)
    assume(isinstance(accepted, Accepted))

    assert measure(fold.after, WIDE).used == accepted.tokens_after
    assert accepted.tokens_after * 100 <= measure(fold.before, WIDE).used * 80
    assert accepted.tokens_after < WIDE.trigger
