"""The sweeper: rings runnable work that Redis does not know, frees orphaned locks."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore


async def _round(services: WorkerServices, settings: Settings) -> float:
    await services.redelivery.sweep()
    return settings.sweep_seconds


SWEEPER: Final = Chore("sweeper", needs_redis=True, round=_round)
