"""Demands in the ledger: each is kept once, and never changes."""

import json
from collections.abc import Collection
from typing import Final

from officeplane.domain.demand import Demand
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("demands")


async def intern(executor: Executor, demands: Collection[Demand]) -> dict[Demand, int]:
    """Return the numbers of demands; those that the ledger does not have yet are added."""
    # In this order two who add the same wait for each other, and never in a circle.
    digests = {demand.digest: demand for demand in sorted(demands, key=lambda demand: demand.digest)}
    rows = await _SQL["find"].fetch(executor, digests=list(digests))
    numbers = {row["digest"]: row["id"] for row in rows}
    missing = {digest: demand for digest, demand in digests.items() if digest not in numbers}
    if missing:
        added = await _SQL["add"].fetch(
            executor,
            digests=list(missing),
            spaces=[demand.space for demand in missing.values()],
            task_types=[demand.task_type for demand in missing.values()],
            capabilities=[json.dumps(demand.capabilities) for demand in missing.values()],
            models=[json.dumps(demand.models) for demand in missing.values()],
            fallback_models=[json.dumps(demand.fallback_models) for demand in missing.values()],
        )
        numbers |= {row["digest"]: row["id"] for row in added}
    return {demand: numbers[digest] for digest, demand in digests.items()}
