"""Server-sent events out of bytes, whatever their borders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatapp.llm.lines import LONGEST_LINE_BYTES, EventLines, LineTooLong, ServerEvent


def events(*chunks: bytes) -> list[ServerEvent]:
    lines = EventLines()
    return [event for chunk in chunks for event in lines.feed(chunk)] + list(lines.finish())


def test_events_of_each_line_end_are_the_same() -> None:
    stream = b"event: x\ndata: 1\ndata: 2\n\ndata: 3\n\n"
    expected = [ServerEvent("x", b"1\n2"), ServerEvent("", b"3")]
    for end in (b"\n", b"\r\n", b"\r"):
        assert events(stream.replace(b"\n", end)) == expected


@given(
    st.lists(st.sampled_from([b"data: ", b"{}", b"\r", b"\n", b"\r\n", b": c", b"event: e", b"x"]), max_size=14),
    st.data(),
)
def test_events_are_the_same_in_whatever_chunks(pieces: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(pieces)
    cut = data.draw(st.integers(0, len(stream)))
    single = [stream[i : i + 1] for i in range(len(stream))]
    assert events(stream[:cut], stream[cut:]) == events(stream) == events(*single)


def test_line_too_long_is_found_before_it_ends() -> None:
    lines = EventLines()
    for _ in range(LONGEST_LINE_BYTES // 100_000):
        assert list(lines.feed(b"x" * 100_000)) == []
    with pytest.raises(LineTooLong):
        list(lines.feed(b"x"))
