"""Installations of the product, with real processes: one for many journeys, or one for a test of its own."""

import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from officeplane.store.migrate import migrate
from officeplane.store.roles import admit_app
from tests.conftest import NewDatabase, as_role
from tests.forks import Forks
from tests.journeys.processes import Process, Processes, Server, processes
from tests.kept import empty
from tests.workers.marks import Marks


@dataclass(frozen=True, slots=True)
class Installation:
    """A database, an API server on it, and a way to start more."""

    database_url: str
    redis_url: str
    key_prefix: str
    processes: Processes
    api: Server


@dataclass(frozen=True, slots=True)
class Working(Installation):
    """An installation at which workers work."""

    workers: tuple[Process, ...]


Install = Callable[..., AbstractAsyncContextManager[Installation]]


@pytest.fixture(scope="session")
def install(
    new_database: NewDatabase, redis_url: str, forks: Forks, tmp_path_factory: pytest.TempPathFactory
) -> Install:
    """Makes an installation with an API server and nobody who works; other servers can be named."""

    @asynccontextmanager
    async def make(*, at_database: str = "", at_redis: str | None = None) -> AsyncGenerator[Installation, None]:
        folder = tmp_path_factory.mktemp("installation")
        database, prefix = at_database or await new_database(), f"journey-{secrets.token_hex(4)}"
        await migrate(database)
        app = as_role(database, f"app_{secrets.token_hex(4)}", "p@ss word")
        await admit_app(database, app)
        redis = redis_url if at_redis is None else at_redis
        # Processes may not do more than the app; tests that look in are the owner.
        async with processes(folder, database_url=app, redis_url=redis, key_prefix=prefix, forks=forks) as started:
            api = await started.serve()
            try:
                yield Installation(database, redis, prefix, started, api)
            finally:
                await api.aclose()

    return make


@pytest.fixture(scope="session")
async def plane(install: Install) -> AsyncIterator[Working]:
    """One installation with two workers of four slots, for all journeys that harm nobody."""
    async with install() as made:
        workers = await made.processes.workers(2, concurrency=4)
        yield Working(made.database_url, made.redis_url, made.key_prefix, made.processes, made.api, tuple(workers))
        assert [await worker.stop() for worker in workers] == [0, 0]
        assert await made.api.process.stop() == 0


@pytest.fixture(scope="session")
async def lasting(install: Install) -> AsyncIterator[Installation]:
    """What `deserted` is made of."""
    async with install() as made:
        yield made


@pytest.fixture
async def deserted(lasting: Installation) -> AsyncIterator[Installation]:
    """An installation with nothing in it, at which nobody works yet; only its API server has seen other tests."""
    await empty(lasting.database_url, lasting.redis_url, lasting.key_prefix)
    yield lasting
    await lasting.processes.end_all(but=lasting.api.process)


@pytest.fixture
def marks(tmp_path: Path) -> Iterator[Marks]:
    made = Marks(tmp_path)
    yield made
    made.open_all_gates()
