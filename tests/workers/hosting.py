"""A whole worker inside the test's own process, and the settings that make it quick."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from officeplane.config import Settings
from officeplane.domain.ids import WorkerId
from officeplane.runtime import Runtime, open_runtime, worker_services
from tests.kept import a_ledger, a_sandbox
from tests.workbench import Workbench
from workers.pool import Pool
from workers.signals import StopSignals

HANDLERS: Final = "tests.workers.handlers"
QUICK: Final[dict[str, Any]] = {
    "handlers": (HANDLERS,),
    # Longer than any machine stands still: tests of leases say how long theirs run.
    "lease_seconds": 30,
    "heartbeat_seconds": 0.2,
    "sweep_seconds": 0.3,
    "poll_seconds": 0.2,
    "lock_ttl_seconds": 5,
    "breaker_failure_threshold": 1_000_000,
    "retry_initial_seconds": 0.05,
    "drain_seconds": 5,
}


@dataclass(frozen=True, slots=True)
class HostedWorker:
    """A worker in this process; `running` ends when it has drained."""

    id: WorkerId
    runtime: Runtime
    pool: Pool
    signals: StopSignals
    running: asyncio.Task[None]


@asynccontextmanager
async def a_worker(bench: Workbench, **settings: Any) -> AsyncGenerator[HostedWorker, None]:
    """Run a worker beside the workbench; at the end it is hurried out."""
    known = bench.runtime.settings
    urls: dict[str, Any] = {"database_url": known.database_url, "redis_url": known.redis_url}
    given = Settings.model_validate(urls | QUICK | settings)
    async with (
        a_ledger(given.database_url) as ledger,
        a_sandbox(given) as sandbox,
        open_runtime(given, ledger=ledger, sandbox=sandbox) as runtime,
    ):
        services = worker_services(runtime)
        pool, signals = Pool(runtime, services), StopSignals()
        running = asyncio.create_task(pool.run(signals))
        try:
            yield HostedWorker(services.worker_id, runtime, pool, signals, running)
        finally:
            signals.heard()
            signals.heard()
            await running
