"""One short run of the benchmark on the run's own servers, looked at by many tests."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg
import pytest

from officeplane.config import Settings
from officeplane.dispatch.commands import packed
from officeplane.dispatch.doorbell import open_doorbell
from tests.cli.conftest import run_program

SCENARIOS = ("drain-documents", "submit", "post", "lanes", "hot-document")
DOCUMENT_SCENARIOS = ("many-files", "hot-file", "edit-latency", "long-text", "grid", "revision-storage")
# It takes ten where nothing else runs.
TASKS_SECONDS = 240
DOCUMENTS_SECONDS = 400


@dataclass(frozen=True, slots=True)
class Run:
    """What a run said, and what it left behind on the servers."""

    report: dict[str, Any]
    databases_left: list[str]
    keys_left: list[str]

    def result(self, scenario: str) -> dict[str, Any]:
        """The one result of a scenario."""
        (result,) = self.report["scenarios"][scenario]["results"]
        return dict(result)

    def ratio(self, scenario: str) -> float:
        """How much of its limit the rate of a scenario is."""
        (figure,) = [f for f in self.report["figures"] if f["scenario"] == scenario and f["name"] == "rate"]
        return float(figure["ratio"])


@dataclass(frozen=True, slots=True)
class Servers:
    """The two servers, and what benchmarks have left there."""

    database_url: str
    redis_url: str

    async def databases(self) -> list[str]:
        connection = await asyncpg.connect(self.database_url)
        try:
            rows = await connection.fetch("SELECT datname FROM pg_database WHERE datname LIKE 'officeplane_bench_%'")
        finally:
            await connection.close()
        return [row["datname"] for row in rows]

    async def keys(self) -> list[str]:
        async with open_doorbell(Settings(redis_url=self.redis_url)) as doorbell:
            (reply,) = await doorbell.connection.ask([packed("KEYS", "officeplane_bench_*")])
        return [str(key) for key in reply] if isinstance(reply, list) else []

    async def clear(self) -> None:
        """Remove what a killed benchmark could not."""
        connection = await asyncpg.connect(self.database_url)
        try:
            for name in await self.databases():
                await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        finally:
            await connection.close()


@pytest.fixture(scope="session")
def servers(database_url: str, redis_url: str) -> Servers:
    return Servers(database_url, redis_url)


@pytest.fixture(scope="session")
async def bench_run(servers: Servers) -> Run:
    return await run("tasks", SCENARIOS, servers, within=TASKS_SECONDS)


@pytest.fixture(scope="session")
async def documents_run(servers: Servers) -> Run:
    return await run("documents", DOCUMENT_SCENARIOS, servers, within=DOCUMENTS_SECONDS)


async def run(what: str, scenarios: Sequence[str], servers: Servers, *, within: float) -> Run:
    urls = ("--database-url", servers.database_url, "--redis-url", servers.redis_url)
    async with asyncio.timeout(within):
        ended = await run_program(
            "bench", what, "--quick", "--json", *urls, "--only", ",".join(scenarios), within=within
        )
    assert ended.code == 0, ended.err
    return Run(ended.object, await servers.databases(), await servers.keys())
