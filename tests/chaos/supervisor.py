"""The installation under test: its own servers, its processes, and a proxy on every link between them."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import asyncpg

from officeplane.embedded.ports import free_port
from officeplane.embedded.stack import EmbeddedStack, embedded_stack
from officeplane.store.migrate import migrate
from tests.chaos.background import in_background
from tests.chaos.marks import MARKS_VARIABLE
from tests.chaos.processes import ProductProcess
from tests.chaos.terms import API_PROCESSES, WORKER_PROCESSES, Failpoints, Terms
from tests.fault_proxy import FaultProxy

FORGET_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class Member:
    """One process and its two links."""

    process: ProductProcess
    postgres: FaultProxy
    redis: FaultProxy
    port: int = 0

    @property
    def url(self) -> str:
        """Where an API process answers."""
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Installation:
    """Everything there is to break, and the direct ways past the proxies for those who look."""

    stack: EmbeddedStack
    apis: tuple[Member, ...]
    workers: tuple[Member, ...]
    marks: Path

    @property
    def members(self) -> tuple[Member, ...]:
        """Every process with its links."""
        return (*self.apis, *self.workers)


@dataclass(frozen=True, slots=True)
class Told:
    """What the processes are told."""

    seed: int
    terms: Terms
    failpoints: Failpoints
    mutant: str | None = None


@asynccontextmanager
async def installation(folder: Path, told: Told) -> AsyncGenerator[Installation, None]:
    """Bring up the whole of it in this folder, and take it down again."""
    async with AsyncExitStack() as leaving:
        stack = await leaving.enter_async_context(embedded_stack(folder / "data"))
        await _prepare(stack)
        marks = folder / "marks.txt"
        marks.touch()
        names = [f"api-{index}" for index in range(API_PROCESSES)]
        names += [f"worker-{index}" for index in range(WORKER_PROCESSES)]
        members = [await _member(leaving, stack, name, marks, told) for name in names]
        proxies = [proxy for member in members for proxy in (member.postgres, member.redis)]
        await leaving.enter_async_context(in_background(_forget(proxies)))
        for member in members:
            leaving.push_async_callback(member.process.end)
            member.process.start()
            await leaving.enter_async_context(in_background(member.process.keep()))
        yield Installation(stack, tuple(members[:API_PROCESSES]), tuple(members[API_PROCESSES:]), marks)


async def _prepare(stack: EmbeddedStack) -> None:
    # The checker orders events by when they were committed, which is later than when they were written.
    connection = await asyncpg.connect(stack.database_url)
    await connection.execute("ALTER SYSTEM SET track_commit_timestamp = on")
    await connection.close()
    await stack.postgres.restart()
    await migrate(stack.database_url)


async def _member(leaving: AsyncExitStack, stack: EmbeddedStack, name: str, marks: Path, told: Told) -> Member:
    postgres = await _link(leaving, stack.database_url)
    redis = await _link(leaving, stack.redis_url)
    is_api = name.startswith("api")
    port = free_port() if is_api else 0
    failpoints = told.failpoints.apis if is_api else told.failpoints.workers

    def environment(incarnation: int) -> Mapping[str, str]:
        return {
            **told.terms.environment(),
            "OFFICEPLANE_DATABASE_URL": postgres.url(stack.database_url),
            "OFFICEPLANE_REDIS_URL": redis.url(stack.redis_url),
            "OFFICEPLANE_PORT": str(port),
            "OFFICEPLANE_FAILPOINTS": failpoints,
            # A successor must not throw its predecessor's dice.
            "OFFICEPLANE_FAILPOINTS_SEED": str(told.seed * 10_007 + sum(name.encode()) * 101 + incarnation),
            MARKS_VARIABLE: str(marks),
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PYTHONFAULTHANDLER": "1",
        }

    process = ProductProcess(
        name, _command("serve" if is_api else "worker", told.mutant), environment, marks.parent, stack.watchdog
    )
    return Member(process, postgres, redis, port)


async def _link(leaving: AsyncExitStack, url: str) -> FaultProxy:
    parts = urlsplit(url)
    proxy = FaultProxy("127.0.0.1", parts.port or 0)
    await proxy.heal()
    leaving.push_async_callback(proxy.aclose)
    return proxy


def _command(verb: str, mutant: str | None) -> Sequence[str]:
    if mutant is None:
        return [sys.executable, "-m", "officeplane.cli.main", verb]
    return [sys.executable, "-m", "tests.chaos.broken", mutant, "--", verb]


async def _forget(proxies: Sequence[FaultProxy]) -> None:
    # A proxy remembers what passed, for tests that wait for it; nobody does here.
    while True:
        for proxy in proxies:
            proxy.forget()
        await asyncio.sleep(FORGET_SECONDS)
