"""A reply that broke off goes on: what is sent, and that nothing of it stays in later requests."""

from compaction.request import OTHER_ROLE, assemble
from compaction.resuming import GO_ON, asking_to_go_on, with_partial
from compaction.transcript import Message, Status, Transcript

PARTIAL = Message(3, 3, "assistant", "The dough wants", Status.INTERRUPTED)
CHAT = Transcript(
    system_prompt="Be kind.",
    summary="",
    messages=(
        Message(0, 0, "user", "Hello"),
        Message(1, 1, "assistant", "Good day."),
        Message(2, 2, "user", "Tell me of bread"),
    ),
    model="small",
)


def test_g2_the_partial_reply_is_sent_as_it_stands_and_the_question_is_last() -> None:
    request = asking_to_go_on(assemble(with_partial(CHAT, PARTIAL)))

    roles = [message.role for message in request]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [message.content for message in request[-2:]] == ["The dough wants", GO_ON]


def test_g3_it_only_adds_to_the_end_of_the_request_before() -> None:
    before = assemble(CHAT)

    assert asking_to_go_on(assemble(with_partial(CHAT, PARTIAL)))[: len(before)] == before


def test_request_that_ends_with_the_person_asks_for_nothing_more() -> None:
    request = assemble(CHAT)

    assert asking_to_go_on(request) == request
    assert asking_to_go_on(()) == ()


def test_g1_without_a_system_role_the_preamble_stays_before_the_first_message() -> None:
    first, *_, partial, question = asking_to_go_on(assemble(with_partial(CHAT, PARTIAL), no_system_role=True))

    assert first.content == "Be kind.\n\nHello"
    assert (partial.role, question.role) == ("assistant", OTHER_ROLE["assistant"])
