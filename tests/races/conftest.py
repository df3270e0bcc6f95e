"""An arena of its own, so that no other test's processes stand in it."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from officeplane.store.migrate import migrate
from tests.conftest import NewDatabase
from tests.races.arena import Arena
from tests.workbench import open_workbench


@pytest.fixture(scope="session")
async def arena(new_database: NewDatabase, redis_url: str) -> AsyncIterator[Arena]:
    """Two processes, one with Redis and one that has lost sight of it, and a third party."""
    database_url = await new_database()
    await migrate(database_url)
    keeper, onlooker = await asyncpg.connect(database_url), await asyncpg.connect(database_url)
    async with open_workbench(database_url, redis_url) as seeing, open_workbench(database_url, "") as blind:
        yield Arena(seeing, blind, keeper, onlooker)
    await keeper.close()
    await onlooker.close()
