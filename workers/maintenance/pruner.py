"""The pruner: removes what ended long ago, window by window."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore

MORE_SECONDS: Final = 0.5
ROUND_SECONDS: Final = 60.0


async def _round(services: WorkerServices, _settings: Settings) -> float:
    return MORE_SECONDS if await services.retention.prune() else ROUND_SECONDS


PRUNER: Final = Chore("pruner", needs_redis=False, round=_round)
