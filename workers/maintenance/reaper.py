"""The reaper: ends attempts whose lease ran out, and frees their documents."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore


async def _round(services: WorkerServices, settings: Settings) -> float:
    await services.redelivery.reap()
    return settings.sweep_seconds


REAPER: Final = Chore("reaper", needs_redis=False, round=_round)
