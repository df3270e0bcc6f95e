"""Idle workers leave the servers alone."""

import asyncio

import asyncpg

from tests.fault_proxy import FaultProxy, fault_proxy
from tests.journeys.conftest import Installation
from tests.support import eventually
from workers.maintenance.all_chores import all_chores

# A whole minute: what comes once a minute comes once, wherever the window begins.
WINDOW_SECONDS = 60.0
SYNC = b"S\x00\x00\x00\x04"
# The longest round of any chore ends with this.
LAST_OF_PRUNER = b"prune_audit("
DEFAULT_TIMES = {
    "LEASE_SECONDS": "30",
    "HEARTBEAT_SECONDS": "5",
    "SWEEP_SECONDS": "2",
    "POLL_SECONDS": "1",
    "LOCK_TTL_SECONDS": "600",
}


def statements(proxy: FaultProxy) -> int:
    """Return how many statements went to Postgres: each ends with one of these messages."""
    return proxy.count(SYNC)


def commands(proxy: FaultProxy) -> int:
    """Return how many commands went to Redis: each begins with its number of words."""
    return sum(proxy.count(b"*%d\r\n$" % words) for words in range(1, 20))


async def test_an_idle_worker_asks_little_of_the_servers(deserted: Installation) -> None:
    async with fault_proxy(deserted.database_url) as database, fault_proxy(deserted.redis_url) as redis:
        urls = {"DATABASE_URL": database.url(deserted.database_url), "REDIS_URL": redis.url(deserted.redis_url)}
        await deserted.processes.worker(concurrency=3, **urls, **DEFAULT_TIMES)
        task = await deserted.api.submit("noop")
        await deserted.api.final(task)

        observer = await asyncpg.connect(deserted.database_url)

        async def leads() -> bool:
            led = await observer.fetchval("SELECT count(*) FROM chore_leaders")
            # The first rounds of all of them at once are no part of what it asks from then on.
            return bool(led == len(all_chores())) and database.count(LAST_OF_PRUNER) > 0

        try:
            await eventually(leads)
        finally:
            await observer.close()
        database.forget()
        redis.forget()

        await asyncio.sleep(WINDOW_SECONDS)

        asked = statements(database) / WINDOW_SECONDS, commands(redis) / WINDOW_SECONDS
        assert asked[0] < 5, "although it leads all the chores"
        assert asked[1] < 5
