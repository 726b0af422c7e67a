"""The application on the test's own loop, with a scripted endpoint behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from chatapp import llm, runs
from tests.scripted import ScriptedEndpoint
from tests.visiting import Visitor, model_at


@pytest.fixture
async def endpoint(transactional_db: None) -> AsyncIterator[ScriptedEndpoint]:
    """Window unknown, so nothing is compacted unless the test makes it known (`window_reported`)."""
    async with ScriptedEndpoint() as scripted:
        await model_at(scripted)
        runs.start_up(asyncio.get_running_loop())
        yield scripted
        await runs.shut_down()
        await llm.close_clients()


@pytest.fixture
async def alice(endpoint: ScriptedEndpoint) -> Visitor:
    return await Visitor.arrive(endpoint, "alice")


@pytest.fixture
async def charlie(endpoint: ScriptedEndpoint) -> Visitor:
    """A stranger to everything of alice's."""
    return await Visitor.arrive(endpoint, "charlie")
