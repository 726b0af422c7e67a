from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from chatapp.llm import close_clients
from tests.scripted import ScriptedEndpoint


@pytest.fixture
async def endpoint() -> AsyncIterator[ScriptedEndpoint]:
    async with ScriptedEndpoint() as scripted:
        yield scripted
        await close_clients()
