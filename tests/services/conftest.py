"""A workbench on an empty plane for every test."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from officeplane.dispatch import announcements, bells
from officeplane.services.claims import lanes
from tests.fault_proxy import FaultProxy, fault_proxy
from tests.kept import empty
from tests.workbench import Workbench, open_workbench

HANDLERS = ("tests.services.handlers",)

AnotherBench = Callable[..., AbstractAsyncContextManager[Workbench]]


@pytest.fixture
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a machine that stands still for a moment lose no ring and leave no lane; a Redis that fails is a proxy's."""
    monkeypatch.setattr(lanes, "HOLD_SECONDS_MAX", 3_600.0)
    if "redis_proxy" not in request.fixturenames:
        monkeypatch.setattr(bells, "RING_SECONDS", 20.0)
        monkeypatch.setattr(announcements, "ANNOUNCE_SECONDS", 20.0)


@pytest.fixture
async def bench(database_url: str, redis_url: str, patience: None) -> AsyncIterator[Workbench]:
    """A plane and one worker of it, with nothing in it yet."""
    await empty(database_url, redis_url)
    async with open_workbench(database_url, redis_url, HANDLERS) as workbench:
        yield workbench


@pytest.fixture
def another_bench(bench: Workbench) -> AnotherBench:
    """Opens another process's plane on the same servers; settings override the defaults."""

    @asynccontextmanager
    async def open_another(**settings: Any) -> AsyncGenerator[Workbench, None]:
        theirs = bench.runtime.settings
        given: dict[str, Any] = {"database_url": theirs.database_url, "redis_url": theirs.redis_url}
        given |= {"handlers": HANDLERS, **settings}
        async with open_workbench(**given) as workbench:
            yield workbench

    return open_another


@pytest.fixture
async def polling(another_bench: AnotherBench) -> AsyncIterator[Workbench]:
    """A worker without Redis, beside the bench's own."""
    async with another_bench(redis_url="") as workbench:
        yield workbench


@pytest.fixture
async def redis_proxy(redis_url: str) -> AsyncIterator[FaultProxy]:
    """A way to Redis that fails on command."""
    async with fault_proxy(redis_url) as proxy:
        yield proxy


@pytest.fixture
async def postgres_proxy(database_url: str) -> AsyncIterator[FaultProxy]:
    """A way to Postgres that fails on command."""
    async with fault_proxy(database_url) as proxy:
        yield proxy
