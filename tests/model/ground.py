"""The ground of a search: a database of its own, and the product on the one connection that the search has."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import asyncpg

from officeplane.config import Settings
from officeplane.runtime import open_runtime, worker_services
from tests.kept import empty
from tests.model.rows import ORDERS, rows_of, task_name
from tests.model.search import Found, Search
from tests.model.stepped import SteppedLedger
from tests.model.steps import Site, World, as_text
from tests.workbench import open_workbench

_EMPTIED: Final = " ".join(
    [
        "BEGIN; SET LOCAL session_replication_role = replica;",
        *(f"DELETE FROM {table};" for table in [*ORDERS, "events"]),  # noqa: S608
        "COMMIT",
    ]
)
STATES_MAX: Final = 200_000


async def searched(world: World, database_url: str, redis_url: str) -> Found:
    """Search a world to its end."""
    await empty(database_url, redis_url)
    async with open_workbench(database_url, "") as bench:
        await world.build(bench)
    async with connected(database_url) as connection:
        rows = await rows_of(connection)
        first = (await rows.read(connection)).tables
        text = as_text(first)
        for number, task in enumerate(first["tasks"], start=1):
            text = text.replace(task["id"], task_name(number))
        await connection.execute(_EMPTIED)
        ledger = SteppedLedger(connection)
        settings = Settings(database_url=database_url, redis_url="", breaker_failure_threshold=1_000_000)
        async with open_runtime(settings, for_worker=True, ledger=ledger) as runtime:
            site = Site(runtime, worker_services(runtime))
            return await Search(world, site, ledger, connection, rows).run(text, states_max=STATES_MAX)


@asynccontextmanager
async def connected(database_url: str) -> AsyncGenerator["asyncpg.Connection[asyncpg.Record]", None]:
    """Give a connection on which a search takes place."""
    connection = await asyncpg.connect(
        database_url,
        max_cacheable_statement_size=0,
        # A plan made anew takes longer than what it is for.
        server_settings={"plan_cache_mode": "force_generic_plan", "enable_seqscan": "off", "jit": "off"},
    )
    try:
        yield connection
    finally:
        await connection.close()
