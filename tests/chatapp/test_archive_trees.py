"""Any tree of versions with folds goes out, comes in and goes out again as the same bytes (rule J3)."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chatapp.archives import chat_json
from chatapp.archives.reading import read_chats, usable_models
from chatapp.history.boundary import record_for_path
from chatapp.history.candidates import import_chat
from chatapp.history.texts import storable
from chatapp.models import Chat, Compaction, Message
from tests.factories import make_user

pytestmark = pytest.mark.django_db
_names = itertools.count(1)

TEXTS = st.text(max_size=30).map(storable)
COUNTS = st.none() | st.integers(0, 2**31 - 1)
MESSAGE = st.fixed_dictionaries(
    {
        "content": TEXTS,
        "reasoning": TEXTS,
        "status": st.sampled_from(["complete", "stopped", "interrupted", "failed"]),
        "pinned": st.booleans(),
        "prompt_tokens": COUNTS,
        "completion_tokens": COUNTS,
        "cached_tokens": COUNTS,
        "usage_outdated": st.booleans(),
        "model_name": TEXTS,
        "request_extras": st.dictionaries(TEXTS, st.floats(0, 2) | TEXTS, max_size=2),
    }
)
# Each message and which of those before it it answers; 0 begins the talk anew.
TREES = st.lists(st.tuples(st.integers(0, 1_000), MESSAGE), min_size=1, max_size=14)
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "seed": st.integers(-7, 7),
        "stop": st.lists(TEXTS.filter(bool), min_size=1, max_size=4),
    },
)
# How far along the path, the texts of its segments, and whether it was undone later.
FOLDS = st.lists(st.tuples(st.integers(0, 1_000), st.lists(TEXTS, min_size=1, max_size=3), st.booleans()), max_size=4)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tree=TREES,
    shown=st.integers(0, 1_000),
    folds=FOLDS,
    title=TEXTS,
    parameters=PARAMETERS,
)
def test_j3_any_tree_exported_imported_and_exported_again_is_equal(
    tree: list[tuple[int, dict[str, Any]]], shown: int, folds: list[Any], title: str, parameters: dict[str, Any]
) -> None:
    chat = plant(tree, shown, title, parameters)
    for fold in folds:
        record(chat, *fold)
    Chat.objects.filter(pk=chat.pk).update(**record_for_path(chat))

    told = "".join(chat_json(chat.pk))
    copied = bring_in(told)

    assert "".join(chat_json(copied.pk)) == told
    chat.refresh_from_db()
    assert copied.summary == chat.summary
    assert texts_of_path(copied) == texts_of_path(chat)


def plant(tree: list[tuple[int, dict[str, Any]]], shown: int, title: str, parameters: dict[str, Any]) -> Chat:
    chat = Chat.objects.create(owner=make_user(f"gardener{next(_names)}"), title=title, parameters=parameters)
    rows: list[Message] = []
    for choice, facts in tree:
        above = ([None, *rows])[choice % (len(rows) + 1)]
        position = above.position + 1 if above else 0
        role = "assistant" if position % 2 else "user"
        rows.append(
            Message.objects.create(chat=chat, parent=above, position=position, role=role, active=False, **facts)
        )
    here: Message | None = rows[shown % len(rows)]
    while here:
        Message.objects.filter(pk=here.pk).update(active=True)
        here = here.parent
    return chat


def record(chat: Chat, how_far: int, texts: list[str], is_undone: bool) -> None:
    path = list(chat.messages.on_path())
    through = path[how_far % len(path)]
    compaction = Compaction.objects.create(
        chat=chat,
        trigger="button",
        status="undone" if is_undone else "applied",
        through=through,
        from_position=0,
        through_position=through.position,
        summary=texts[-1],
        ended_at=chat.created_at,
    )
    compaction.segments = [
        {
            "text": text,
            "compaction_id": compaction.pk,
            "from_position": 0,
            "through_position": through.position,
            "rank": rank,
        }
        for rank, text in enumerate(texts)
    ]
    compaction.save()
    later = chat.messages.on_path().filter(position__gt=through.position)
    later.update(request_through_id=through.pk, left_out=[path[0].pk])


def bring_in(told: str) -> Chat:
    data = f'{{"format": "foldline-chats", "version": 1, "chats": [{told}]}}'.encode()
    owner = make_user(f"importer{next(_names)}")
    [candidate] = read_chats([data], owner_id=owner.pk, usable=usable_models())
    assert candidate.original, candidate.problem
    copied = import_chat(candidate.original, key=candidate.key)
    assert copied
    return Chat.objects.get(pk=copied.pk)


def texts_of_path(chat: Chat) -> list[str]:
    return list(chat.messages.on_path().values_list("content", flat=True))
