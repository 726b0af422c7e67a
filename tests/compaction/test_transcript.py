from __future__ import annotations

import pytest

from compaction.transcript import split_at_boundary
from tests.compaction.talk import chat, turns


def test_j1_a_boundary_on_the_path_parts_archived_from_live() -> None:
    path = chat(*turns(3)).messages
    assert split_at_boundary(path, path[3].id) == (path[:4], path[4:])


@pytest.mark.parametrize("through_id", [None, 7])
def test_j1_a_boundary_on_another_path_does_not_count(through_id: int | None) -> None:
    path = chat(*turns(3)).messages
    assert split_at_boundary(path, through_id) == ((), path)
