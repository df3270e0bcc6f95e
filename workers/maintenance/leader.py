"""The leader: whoever holds a chore's row does the chore; it lapses soon after its holder.

Two leaders at once do no harm, so the row saves work and guards nothing.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import structlog

from officeplane.config import Settings
from officeplane.dispatch.availability import Availability, RedisUnavailable
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore

FAILED_SECONDS: Final = 1.0
_log = structlog.stdlib.get_logger(__name__)


class Leader:
    """One worker's part in the chores."""

    def __init__(
        self, services: WorkerServices, settings: Settings, availability: Availability, chores: Sequence[Chore]
    ) -> None:
        self._services = services
        self._settings = settings
        self._availability = availability
        self._chores = chores
        self._led = {chore.name: asyncio.Event() for chore in chores}

    async def run(self) -> None:
        """Stand for every chore and do those that are led, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._stand())
            for chore in self._chores:
                group.create_task(self._do(chore))

    async def _stand(self) -> None:
        while True:
            wanted = [chore.name for chore in self._chores if self._availability.available or not chore.needs_redis]
            try:
                led = await self._services.leases.lead(
                    self._services.worker_id, wanted, 1.5 * self._settings.sweep_seconds
                )
            except DatabaseUnavailableError as error:
                _log.warning("chores.not_led", error=str(error))
                led = set[str]()
            for name, event in self._led.items():
                if name in led:
                    event.set()
                else:
                    event.clear()
            await asyncio.sleep(self._settings.sweep_seconds / 2)

    async def _do(self, chore: Chore) -> None:
        led = self._led[chore.name]
        while True:
            await led.wait()
            pause = FAILED_SECONDS
            try:
                pause = await chore.round(self._services, self._settings)
            except (DatabaseUnavailableError, RedisUnavailable) as error:
                _log.warning("chore.postponed", chore=chore.name, error=str(error))
            except Exception:  # noqa: BLE001 - a chore that fails is tried again; its worker must not die of it
                _log.exception("chore.failed", chore=chore.name)
            await asyncio.sleep(pause)
