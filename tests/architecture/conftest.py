"""A workbench on an empty plane for every test."""

from collections.abc import AsyncIterator

import pytest

from tests.kept import empty
from tests.workbench import Workbench, open_workbench


@pytest.fixture
async def bench(database_url: str, redis_url: str) -> AsyncIterator[Workbench]:
    """A plane and one worker of it, with nothing in it yet."""
    await empty(database_url, redis_url)
    async with open_workbench(database_url, redis_url) as workbench:
        yield workbench
