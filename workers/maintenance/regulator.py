"""The regulator: ends slowdowns, and tries types again whose breaker was open for long enough."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore


async def _round(services: WorkerServices, _settings: Settings) -> float:
    return await services.tending.tend()


REGULATOR: Final = Chore("regulator", needs_redis=False, round=_round)
