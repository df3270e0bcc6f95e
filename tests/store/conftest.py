"""A connection to the run's migrated ledger, and a workbench on an empty one."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from officeplane.store.connection import Connection
from tests.kept import empty
from tests.workbench import Workbench, open_workbench


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[Connection]:
    """A connection of the test's own, as an operator has with psql."""
    opened = await asyncpg.connect(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def bench(database_url: str, redis_url: str) -> AsyncIterator[Workbench]:
    """A plane and one worker of it, with nothing in it yet."""
    await empty(database_url, redis_url)
    async with open_workbench(database_url, redis_url) as workbench:
        yield workbench
