"""Leases: what a worker does for the attempts in its hands, and to be seen alive."""

import json
from collections.abc import Collection, Sequence
from typing import Final

from pydantic import JsonValue

from officeplane.domain.ids import ClaimId, TaskId, WorkerId
from officeplane.domain.reference import PAYLOAD_BYTES_MAX, Resolution
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.observe.observations import Meter
from officeplane.store import claims, observations, workers
from officeplane.store.connection import Ledger
from officeplane.store.workers import Heartbeat

RESULTS_AT_ONCE: Final = 16
"""How many results are in memory at a time, of which a payload may need little."""


class ClaimLostError(Exception):
    """The attempt is no longer this worker's; nothing was written."""


class Leases:
    """Leases, cancel flags, progress, checkpoints and heartbeats."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def renew(self, held: Collection[tuple[TaskId, ClaimId]], lease_seconds: float) -> set[TaskId]:
        """Extend leases and return the tasks whose claim was lost."""
        await reach("before_renewal")
        seen = await claims.renew(self._ledger, held, lease_seconds)
        return {task_id for task_id, stands in seen.items() if not stands}

    async def cancelled(self, held: Collection[tuple[TaskId, ClaimId]]) -> list[TaskId]:
        """Return the tasks that were asked to stop."""
        return await claims.cancelled(self._ledger, held)

    async def beat(self, heartbeat: Heartbeat) -> None:
        """Say that the worker is alive."""
        await workers.beat(self._ledger, heartbeat)

    async def report(self, worker_id: WorkerId, meter: Meter) -> None:
        """Add what the worker has measured since its last report."""
        report = meter.report()
        if report.observed:
            await observations.add(self._ledger, worker_id, report.number, report.observed)
            meter.reported()

    async def leave(self, worker_id: WorkerId) -> None:
        """Say that the worker has stopped."""
        await workers.leave(self._ledger, worker_id)

    async def lead(self, worker_id: WorkerId, chores: Collection[str], seconds: float) -> set[str]:
        """Take or keep the lead of chores; return those now led."""
        return await workers.lead(self._ledger, worker_id, chores, seconds)

    async def report_progress(self, reports: Sequence[tuple[TaskId, ClaimId, str]]) -> None:
        """Store the latest progress of attempts."""
        await claims.report_progress(self._ledger, reports)

    async def save_checkpoint(self, task: ClaimedTask, value_json: str) -> None:
        """Store a checkpoint; raise when the attempt is no longer this worker's."""
        if not await claims.save_checkpoint(self._ledger, task.id, task.claim_id, value_json):
            raise ClaimLostError(task.id)

    async def resolve_payload(self, task: ClaimedTask, bytes_max: int = PAYLOAD_BYTES_MAX) -> str:
        """Return the payload with the results put in that it refers to: of earlier siblings, of dependencies."""
        resolution = Resolution(json.loads(task.payload_json), bytes_max)
        if not resolution.keys:
            return task.payload_json
        for start in range(0, len(resolution.keys), RESULTS_AT_ONCE):
            keys = resolution.keys[start : start + RESULTS_AT_ONCE]
            resolution.take(keys, await self._results(task, set(keys)))
        return json.dumps(resolution.resolved())

    async def _results(self, task: ClaimedTask, keys: set[str]) -> dict[str, JsonValue]:
        results: dict[str, JsonValue] = {}
        if task.parent_id is not None:
            results = await claims.results_of_siblings(self._ledger, task.parent_id, keys)
        if keys - results.keys():
            results |= await claims.results_of_dependencies(self._ledger, task.id, keys - results.keys())
        return results
