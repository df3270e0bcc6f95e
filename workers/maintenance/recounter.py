"""The recounter: lets tasks go on and DAGs end that wait for nothing any more, should anything have missed it."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore

MORE_SECONDS: Final = 3.0
ROUND_SECONDS: Final = 30.0


async def _round(services: WorkerServices, _settings: Settings) -> float:
    looks = await services.redelivery.recount(), await services.redelivery.update_dags()
    return MORE_SECONDS if any(looks) else ROUND_SECONDS


RECOUNTER: Final = Chore("recounter", needs_redis=False, round=_round)
