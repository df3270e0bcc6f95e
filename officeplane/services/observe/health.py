"""Health: what this process can reach, and how work is being dispatched."""

import asyncio
from dataclasses import dataclass
from typing import Final, Literal

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.store import workers
from officeplane.store.connection import Ledger

CHECK_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class Health:
    """How the installation is, seen from this process."""

    status: Literal["ok", "degraded", "unavailable"]
    postgres: bool
    redis: bool
    dispatch: Literal["redis", "polling"]
    workers: int


class Checkup:
    """Looks at Postgres, Redis and the workers."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, lease_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._lease_seconds = lease_seconds

    async def check(self) -> Health:
        """Return how things are, within a few seconds whatever happens."""
        alive, redis = await asyncio.gather(self._workers(), self._redis())
        return Health(
            status="unavailable" if alive is None else "ok" if redis else "degraded",
            postgres=alive is not None,
            redis=redis,
            dispatch="redis" if redis else "polling",
            workers=alive or 0,
        )

    async def _workers(self) -> int | None:
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                return len(await workers.alive(self._ledger, self._lease_seconds))
        except (DatabaseUnavailableError, TimeoutError):
            return None

    async def _redis(self) -> bool:
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                # A write: a server that is full or a replica reads well and takes no hint.
                await self._doorbell.connection.probe()
        except (RedisUnavailable, TimeoutError):
            return False
        return True
