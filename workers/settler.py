"""The settler: outcomes that gather while one settlement is under way go with the next."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import DocumentId
from officeplane.domain.outcome import Outcome
from officeplane.domain.task import ClaimedTask
from officeplane.services.claiming import Claiming
from officeplane.services.settlement import Attempt, Settlements
from officeplane.store.settlements import Settled

GROUP_LIMIT: Final = 500
PAUSE_SECONDS: Final = 0.2
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """An attempt that has ended, when it did, and how; no outcome when its claim was lost."""

    task: ClaimedTask
    outcome: Outcome | None
    at: float


class Settler:
    """Settles by groups, then goes on in the lanes or gives their documents back."""

    def __init__(
        self,
        settling: Settlements,
        claiming: Claiming,
        *,
        lease_seconds: float,
        finished: Callable[[Sequence[ClaimedTask], Sequence[ClaimedTask]], None],
    ) -> None:
        self._settling = settling
        self._claiming = claiming
        self._lease_seconds = lease_seconds
        self._finished = finished
        self._ended: list[Ended] = []
        self._some_ended = asyncio.Event()
        self.may_continue = True

    def add(self, task: ClaimedTask, outcome: Outcome | None) -> None:
        """Hand over an attempt that has ended."""
        self._ended.append(Ended(task, outcome, time.monotonic()))
        self._some_ended.set()

    async def run(self) -> None:
        """Settle until cancelled."""
        while True:
            await self._some_ended.wait()
            group, self._ended = self._ended[:GROUP_LIMIT], self._ended[GROUP_LIMIT:]
            if not self._ended:
                self._some_ended.clear()
            try:
                finished_lanes = await self._settle(group)
            except DatabaseUnavailableError as error:
                await self._keep(group, error)
            else:
                await self._go_on(group, finished_lanes)

    async def _settle(self, group: Sequence[Ended]) -> set[DocumentId]:
        """Settle what has an outcome and return the documents in whose lanes nothing else waits."""
        attempts = [Attempt(ended.task, ended.outcome) for ended in group if ended.outcome is not None]
        settled = await self._settling.settle(attempts)
        return {
            attempt.task.document_id
            for attempt, how in zip(attempts, settled, strict=True)
            if attempt.task.document_id is not None
            # A batch's next child was made QUEUED after the lane was looked at.
            and attempt.task.parent_id is None
            and isinstance(how, Settled)
            and not how.lane_waits
        }

    async def _keep(self, group: Sequence[Ended], error: DatabaseUnavailableError) -> None:
        """Try these again, except those whose lease is over by now: they are the reaper's."""
        now = time.monotonic()
        hopeless = [ended for ended in group if now - ended.at > self._lease_seconds]
        _log.warning("settlement.postponed", tasks=len(group), given_up=len(hopeless), error=str(error))
        self._ended = [ended for ended in group if now - ended.at <= self._lease_seconds] + self._ended
        if self._ended:
            self._some_ended.set()
        # Their documents too: a lock in hand is renewed, and these are no longer ours.
        await self._claiming.quit_lanes(_documents(hopeless))
        self._finished([ended.task for ended in hopeless], [])
        await asyncio.sleep(PAUSE_SECONDS)

    async def _go_on(self, group: Sequence[Ended], finished_lanes: Collection[DocumentId]) -> None:
        for ended in group:
            self._claiming.forget_suspect(ended.task.id)
        documents = _documents(group)
        following: list[ClaimedTask] = []
        if documents:
            try:
                if self.may_continue:
                    await self._claiming.quit_lanes(finished_lanes)
                    following = await self._claiming.continue_lanes(documents)
                else:
                    await self._claiming.leave_lanes(documents)
            except DatabaseUnavailableError as error:
                # The locks that stay behind are found by the sweeper.
                _log.warning("lanes.not_continued", documents=len(documents), error=str(error))
        self._finished([ended.task for ended in group], following)


def _documents(group: Sequence[Ended]) -> list[DocumentId]:
    return [ended.task.document_id for ended in group if ended.task.document_id is not None]
