"""The deliverer: tells addresses outside what the outbox holds for them."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore

MORE_SECONDS: Final = 0.1
ROUND_SECONDS: Final = 1.0
IDLE_SECONDS: Final = 60.0


async def _round(services: WorkerServices, settings: Settings) -> float:
    if await services.deliveries.send():
        return MORE_SECONDS
    return ROUND_SECONDS if settings.alert_url else IDLE_SECONDS


DELIVERER: Final = Chore("deliverer", needs_redis=False, round=_round)
