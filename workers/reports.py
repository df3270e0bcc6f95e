"""Reports: progress of attempts, the latest of each stored by groups; checkpoints at once."""

import asyncio
import json
import math
from typing import Final

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import storable
from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.leases import Leases

PROGRESS_SECONDS: Final = 0.25
_log = structlog.stdlib.get_logger(__name__)


class LedgerReports:
    """Where the handlers of this process report to."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self._latest: dict[tuple[TaskId, ClaimId], str] = {}
        self._reported = asyncio.Event()

    def progress(self, task: ClaimedTask, fraction: float, message: str | None) -> None:
        """Keep the latest progress; it is stored with the next group."""
        if not math.isfinite(fraction):
            complaint = f"progress is a fraction from 0 to 1, not {fraction}"
            raise ValueError(complaint)
        told = None if message is None else storable(message)
        report = {"fraction": min(max(fraction, 0.0), 1.0), "message": told}
        self._latest[task.id, task.claim_id] = json.dumps(report)
        self._reported.set()

    async def checkpoint(self, task: ClaimedTask, value: object) -> None:
        """Store a checkpoint; on return it is durable."""
        await self._leases.save_checkpoint(task, json.dumps(value, allow_nan=False))

    async def flush(self) -> None:
        """Store progress a few times a second until cancelled."""
        while True:
            await self._reported.wait()
            self._reported.clear()
            latest, self._latest = self._latest, {}
            try:
                await self._leases.report_progress([(*claim, report) for claim, report in latest.items()])
            except DatabaseUnavailableError as error:
                _log.debug("progress.not_stored", error=str(error))
            await asyncio.sleep(PROGRESS_SECONDS)
