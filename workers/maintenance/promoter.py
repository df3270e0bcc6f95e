"""The promoter: queues tasks whose time has come, and rings for retries that are due."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore

LONGEST_SLEEP_SECONDS: Final = 1.0
SHORTEST_SLEEP_SECONDS: Final = 0.01


async def _round(services: WorkerServices, _settings: Settings) -> float:
    next_due = await services.redelivery.promote()
    if next_due is None:
        return LONGEST_SLEEP_SECONDS
    return min(max(next_due, SHORTEST_SLEEP_SECONDS), LONGEST_SLEEP_SECONDS)


PROMOTER: Final = Chore("promoter", needs_redis=False, round=_round)
