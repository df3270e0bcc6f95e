"""The API on a database of its own, and ways to talk to it."""

from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from officeplane.config import Settings
from officeplane.handlers.agent_types import AGENT_TYPES
from officeplane.store.migrate import migrate
from tests.api.client import Api, client_of, running, served, worker_of
from tests.api.spaces import rows_of
from tests.conftest import NewDatabase


@pytest.fixture(scope="session")
async def api_settings(new_database: NewDatabase, redis_url: str) -> Settings:
    database_url = await new_database()
    await migrate(database_url)
    return Settings(database_url=database_url, redis_url=redis_url, key_prefix="api-tests")


@pytest.fixture(scope="session")
async def app(api_settings: Settings) -> AsyncIterator[FastAPI]:
    async with running(api_settings) as started:
        yield started


@pytest.fixture(scope="session")
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(app) as opened:
        yield opened


@pytest.fixture(scope="session")
def api(client: httpx.AsyncClient, app: FastAPI, api_settings: Settings) -> Api:
    return Api(client, app, api_settings, worker_of(app))


@pytest.fixture
async def nothing_for_agents(api: Api) -> None:
    """Let nothing that another test has left wait for agents, or keep them from what waits."""
    await rows_of(
        api,
        "UPDATE tasks SET state = 'CANCELLED', finished_at = now(), lease_until = NULL, hold_id = NULL"
        " WHERE demand_id IS NOT NULL AND finished_at IS NULL",
    )
    await rows_of(api, "DELETE FROM valves WHERE task_type = ANY($1)", [known.name for known in AGENT_TYPES])


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    """Where the application answers over a real socket."""
    async with served(app) as address:
        yield address
