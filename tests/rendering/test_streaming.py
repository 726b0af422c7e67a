"""A text while it is being written: what is finished stays, and nothing odd is seen in between."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatapp.rendering import StreamedText, render, split
from tests.rendering.reading import roots, visible
from tests.timing import processor_seconds

PIECES = r"a/b *c*/#/# h/-/- i/  - j/    k/1. n/> q/>/---/===/```/```py/~~~/  ```/`/|a|b|/|-|-|///![/[x]: u/[x]/**/  l"
FORMULAS = ["$$", "$$x$$", "x$$ y", "\\[", "\\]", "> \\[", "- $$", "  \\].", "\\(x\\) $y$", "$$$"]
LINES = st.sampled_from([*PIECES.split("/"), *FORMULAS, "\ttab", "a\r", "\x00", "x" * 50])
TEXTS = st.lists(LINES, max_size=14).map("\n".join)
SAMPLE = "Here:\n\n```python\nprint('x')\n```\n\nand `code` and **bold**\n\n- a\n  ```\n  b\n  ```\n- c\n\nend"


def stream(text, *, piece=1):
    streamed = StreamedText()
    return [streamed.update(text[:end]) for end in [*range(piece, len(text), piece), len(text)]]


def all_blocks(frames):
    return [block for frame in frames for block in frame.blocks]


@given(TEXTS, st.integers(1, 9))
@example("p\n#\nx", 1)
@example("para\n-\nb", 1)
@example("- a\n\n- b\n\nc\nd", 3)
def test_finished_blocks_are_the_same_in_whatever_pieces_the_text_came(text, piece):
    assert tuple(all_blocks(stream(text, piece=piece))) == split(text).blocks


@given(TEXTS, TEXTS)
def test_finished_blocks_never_change_as_the_text_grows(text, more):
    before = split(text).blocks

    assert split(text + more).blocks[: len(before)] == before


@given(TEXTS)
def test_each_finished_block_is_exactly_one_element(text):
    assert all(len(roots(block)) == 1 for block in split(text).blocks)


@given(TEXTS)
def test_finished_blocks_are_the_beginning_of_the_canonical_html(text):
    assert render(text.replace("\r", "")).startswith("".join(split(text.replace("\r", "")).blocks))


def test_a_tab_that_reaches_beyond_the_indent_of_its_fence_leaves_its_rest_as_spaces():
    text = "  ```\n\ttab\n```\na"

    assert render(text).startswith("".join(split(text).blocks))


@given(TEXTS, st.integers(1, 5))
def test_frames_follow_each_other_without_a_gap(text, piece):
    known = 0
    for frame in stream(text, piece=piece):
        assert frame.done_from == known
        known += len(frame.blocks)


def test_snapshot_does_not_take_blocks_away_from_the_next_frame():
    streamed = StreamedText()
    streamed.update("a")
    streamed._take("a\n\nb\n\n")

    assert len(streamed.snapshot().blocks) == 1
    assert len(streamed.update("a\n\nb\n\nc\n").blocks) == 2


@pytest.mark.parametrize("text", [SAMPLE, SAMPLE.replace("```", "~~~"), SAMPLE.replace("```", "````")])
def test_a_fence_fed_a_character_at_a_time_shows_no_stray_marks(text):
    for frame in stream(text):
        for markup in (*frame.blocks, frame.tail):
            assert not set("`~") & set(visible(markup))


def test_bold_text_fed_a_character_at_a_time_shows_no_stars():
    assert not any("*" in visible(frame.tail) for frame in stream("so **very bold** it is"))


def test_all_text_so_far_is_in_a_first_paint():
    frame = split("one\n\ntwo\n\n```py\nthree\nfour")

    assert [word in "".join(frame.blocks) + frame.tail for word in ("one", "two", "three", "four")] == [True] * 4


def test_a_long_code_block_is_given_out_in_parts():
    code = "".join(f"line {number}\n" for number in range(2_000))
    frames = stream("```\n" + code, piece=200)

    assert max(len(frame.tail) for frame in frames) < 6_000
    assert code in "".join(visible(block).removeprefix("code") for block in all_blocks(frames)) + visible(
        frames[-1].tail
    )


@pytest.mark.parametrize(
    "line", ["word " * 8, "- item\n", "| a | b |\n", "code\n"], ids=["paragraph", "list", "table", "code"]
)
def test_cost_of_a_character_does_not_grow_with_an_unfinished_block(line):
    opening = "```\n" if line == "code\n" else "|a|b|\n|-|-|\n" if line.startswith("|") else ""

    def seconds(length):
        return processor_seconds(lambda: stream(opening + (line * length)[:length], piece=20))

    # Eight times the text may take eight times as long, not sixty-four; the rest is left for noise.
    assert seconds(16_000) < 8 * 3 * seconds(2_000)
