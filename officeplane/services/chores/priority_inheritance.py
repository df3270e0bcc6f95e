"""Priority inheritance: what urgent work waits for is as urgent as that work.

A task cannot overtake what has to end before it: earlier children of its batch,
what its batch waits for, what it depends on. So these inherit its rank, as far
as the way goes back, and give it up when nobody needs it any more. The order
between them does not change.
"""

import math
from typing import Final

from officeplane.domain.ids import TaskId
from officeplane.store import ranks
from officeplane.store.connection import Executor
from officeplane.store.ranks import WaitedFor

SOURCES_MAX: Final = 1_000
STEPS_MAX: Final = 1_000
INHERITING_MAX: Final = 20_000


async def inherited_ranks(executor: Executor) -> dict[TaskId, float]:
    """Return the ranks of those tasks that something more urgent waits for, however indirectly."""
    own = await ranks.behind_less_urgent(executor, limit=SOURCES_MAX)
    seen = {WaitedFor(task_id, is_whole=False): rank for task_id, rank in own.items()}
    asked = seen
    for _ in range(STEPS_MAX):
        if not asked or len(seen) > INHERITING_MAX:
            break
        found: dict[WaitedFor, float] = {}
        for behind, ahead in await ranks.ahead(executor, asked):
            if asked[behind] < seen.get(ahead, math.inf):
                seen[ahead] = found[ahead] = asked[behind]
        asked = found
    return {
        place.task_id: rank
        for place, rank in seen.items()
        if place.is_whole and rank < own.get(place.task_id, math.inf)
    }
