"""The regulator: ends slowdowns, and tries types again whose breaker was open for long enough."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore


async def _round(services: WorkerServices, settings: Settings) -> float:
    pause = await services.valve_timers.tend()
    return settings.heartbeat_seconds if pause is None else pause


REGULATOR: Final = Chore("regulator", needs_redis=False, round=_round)
