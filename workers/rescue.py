"""The rescue: ends in the ledger what a blocked loop cannot end, and at last the process.

A step that blocks the loop cannot be stopped from within the process. So where
an attempt should have ended long ago, the process ends, and whoever supervises
it starts it again: what kept the loop is charged for it, everything else in hand
is handed back. Claims guard all of it, as ever.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Final

import structlog

from officeplane.domain.blockage import Blockage
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import WorkerId
from officeplane.domain.outcome import HandedBack
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.leases import Leases
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Settlements
from officeplane.store.connection import open_ledger

EXIT_CODE: Final = 75
"""What `sysexits.h` calls a temporary failure."""
RESCUE_SECONDS: Final = 5.0
# The blocked loop may be within a transaction, and hold what one of these waits for.
SETTLE_SECONDS: Final = 1.0
SAY_SECONDS: Final = 1.0
_log = structlog.stdlib.get_logger(__name__)


class Rescue:
    """Settles in place of a loop that does not turn, on a connection of its own."""

    def __init__(self, database_url: str, worker_id: WorkerId, settlements: Settlements, *, counted_by: str) -> None:
        self._database_url = database_url
        self._worker_id = worker_id
        self._settlements = settlements
        self._counted_by = counted_by

    async def hand_back(self, tasks: Sequence[ClaimedTask]) -> list[ClaimedTask]:
        """Hand attempts back uncharged; return those that are in nobody's hands here any more."""
        settled = await self._within_its_time([EndedAttempt(task, HandedBack()) for task in tasks], leaves=False)
        if settled:
            said = [task.id for task in settled]
            await say(lambda: _log.warning("tasks.handed_back", task_ids=said, reason="the event loop is blocked"))
        return settled

    async def end_process(self, blockage: Blockage, ended: Sequence[EndedAttempt], cause: str) -> None:
        """Settle what can be, say why, and end the process."""
        settled = await self._within_its_time(ended, leaves=True)

        def last_words() -> None:
            _log.error(
                "worker.gave_up",
                task_id=blockage.task_id,
                task_type=blockage.task_type,
                at=blockage.at,
                settled=len(settled),
                left=len(ended) - len(settled),
            )
            sys.stderr.write(
                f"This worker ends itself (exit code {EXIT_CODE}): its event loop is {blockage}, and {cause}. "
                "Do not block in an `async def`: await, or make the handler a plain `def`. "
                "If nothing starts workers again here, start it again.\n"
            )
            sys.stderr.flush()

        try:
            await say(last_words)
        finally:
            os._exit(EXIT_CODE)

    async def _within_its_time(self, ended: Sequence[EndedAttempt], *, leaves: bool) -> list[ClaimedTask]:
        """Settle one by one, so that none waits for what only one of them waits for."""
        settled: list[ClaimedTask] = []
        settling = asyncio.create_task(self._settle(ended, settled, leaves=leaves))
        # A server that went silent is not waited for any longer, nor is the closing of a connection to it.
        await asyncio.wait({settling}, timeout=RESCUE_SECONDS)
        settling.cancel()
        return settled

    async def _settle(self, ended: Collection[EndedAttempt], settled: list[ClaimedTask], *, leaves: bool) -> None:
        with suppress(DatabaseUnavailableError):
            async with open_ledger(self._database_url, connections=1) as ledger:
                settlements = self._settlements.on(ledger)
                for attempt in ended:
                    with suppress(TimeoutError, DatabaseUnavailableError):
                        async with asyncio.timeout(SETTLE_SECONDS):
                            # Nothing is announced or rung: the doorbell belongs to the blocked loop. The sweeper rings.
                            await settlements.write([attempt], counted_by=self._counted_by)
                            settled.append(attempt.task)
                if leaves:
                    await Leases(ledger).leave(self._worker_id)


async def say(words: Callable[[], object]) -> None:
    """Log or write something, and let it be if standard error is what keeps the loop."""
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.to_thread(words), SAY_SECONDS)
