"""The ranker: moves tasks whose urgency has changed to their place, and rings for those that rose."""

from typing import Final

from officeplane.config import Settings
from officeplane.runtime import WorkerServices
from workers.maintenance.chore import Chore

ROUND_SECONDS: Final = 10.0


async def _round(services: WorkerServices, _settings: Settings) -> float:
    await services.ranks.rank_anew()
    return ROUND_SECONDS


RANKER: Final = Chore("ranker", needs_redis=False, round=_round)
