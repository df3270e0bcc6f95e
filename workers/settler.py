"""The settler: outcomes that gather while settlements are under way go with the next.

Three stages, each with loops of its own, so that none waits for what another
does: attempts are ended in the ledger, their lanes go on, and then everybody
is told. A lane's next task is started before the end of the last is announced.
Two settlements may be under way: what ends just after one has begun need not
wait for its commit. An attempt whose end leads to more, because it failed, is
part of a batch or is awaited, gathers beside the others: it takes a longer
transaction, which they need not wait for.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final, Generic, TypeVar

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import DocumentId
from officeplane.domain.outcome import Outcome
from officeplane.domain.space import QualifiedType
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.continuation import Continuation
from officeplane.services.claims.desk import WorkerDesk
from officeplane.services.settle.aftermath import Aftermath
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Settlements
from officeplane.store.settlements import Settled

GROUP_LIMIT: Final = 500
LANES_MAX: Final = 64
PAUSE_SECONDS: Final = 0.2
_log = structlog.stdlib.get_logger(__name__)


Thing = TypeVar("Thing")


class Gathering(Generic[Thing]):
    """What has gathered for one stage while it was busy."""

    def __init__(self) -> None:
        self._things: list[Thing] = []
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()

    def add(self, things: Sequence[Thing], *, first: bool = False) -> None:
        """Hand these over, before or after what waits already."""
        if things:
            place = 0 if first else len(self._things)
            self._things[place:place] = things
            self._some.set()
            self._none.clear()

    async def take(self) -> list[Thing]:
        """Return a group once there is one; to ask again says that the last one is done with."""
        while not self._things:
            self._none.set()
            self._some.clear()
            await self._some.wait()
        group, self._things = self._things[:GROUP_LIMIT], self._things[GROUP_LIMIT:]
        return group

    async def wait_none(self) -> None:
        """Return when nothing waits and nothing is under way."""
        await self._none.wait()


class Settler:
    """Settles by groups, then goes on in the lanes or gives their documents back."""

    def __init__(
        self,
        settlements: Settlements,
        desk: WorkerDesk,
        *,
        counted_by: Sequence[str],
        counted_together_by: str,
        lease_seconds: float,
        finished: Callable[[Sequence[ClaimedTask], Sequence[ClaimedTask]], None],
    ) -> None:
        """Settle in as many loops as there are names to count by, and in one more what leads to more."""
        self._settlements = settlements
        self._desk = desk
        self._counted_by = counted_by
        self._counted_together_by = counted_together_by
        self._lease_seconds = lease_seconds
        self._finished = finished
        self._plain = Gathering[EndedAttempt]()
        self._leading_to_more = Gathering[EndedAttempt]()
        # Types, each of its space, of which an attempt has succeeded since the last group of ends that lead to more.
        self._succeeded: set[QualifiedType] = set()
        self._in_lanes = Gathering[tuple[ClaimedTask, bool]]()
        self._told = Gathering[Aftermath]()
        self.may_continue = True

    def add(self, task: ClaimedTask, outcome: Outcome | None) -> None:
        """Hand over an attempt that has ended; without an outcome its claim was lost, and nothing of it is written."""
        if outcome is None:
            self._settled([task], (), [], [])
            return
        ended = EndedAttempt(task, outcome, time.monotonic())
        if ended.went_well:
            self._succeeded.add(task.qualified_type)
        (self._leading_to_more if ended.leads_to_more else self._plain).add((ended,))

    async def run(self) -> None:
        """Settle until cancelled."""
        async with asyncio.TaskGroup() as stages:
            for name in self._counted_by:
                stages.create_task(self._settle_plain(name))
            stages.create_task(self._settle_leading_to_more())
            stages.create_task(self._continue_groups())
            stages.create_task(self._tell_groups())

    async def wait_told(self) -> None:
        """Return when everything that was settled has been told."""
        await self._told.wait_none()

    async def _settle_plain(self, counted_by: str) -> None:
        while True:
            group = await self._plain.take()
            continuation = self._continuation(group)
            try:
                finished_lanes, told = await self._settle(group, continuation, counted_by=counted_by)
            except DatabaseUnavailableError as error:
                if continuation is not None:
                    self._desk.doubt(continuation)
                await self._keep(self._plain, group, error)
                continue
            heads = [] if continuation is None else await self._desk.continued(continuation)
            self._settled(_tasks(group), finished_lanes, heads, told)

    async def _settle_leading_to_more(self) -> None:
        while True:
            group = await self._leading_to_more.take()
            succeeded, self._succeeded = self._succeeded, set()
            try:
                finished_lanes, told = await self._settle(
                    group, None, counted_by=self._counted_together_by, succeeded=succeeded
                )
            except DatabaseUnavailableError as error:
                self._succeeded |= succeeded
                await self._keep(self._leading_to_more, group, error)
                continue
            self._settled(_tasks(group), finished_lanes, [], told)

    def _settled(
        self,
        tasks: Sequence[ClaimedTask],
        finished_lanes: Collection[DocumentId],
        heads: Sequence[ClaimedTask],
        told: list[Aftermath],
    ) -> None:
        """Start the heads that followed, then hand lanes and news on to the next stages."""
        self._desk.forget_suspects(tasks)
        continued: set[DocumentId | None] = {None, *(head.document_id for head in heads)}
        self._finished([task for task in tasks if task.document_id in continued], heads)
        self._in_lanes.add(
            [(task, task.document_id in finished_lanes) for task in tasks if task.document_id not in continued]
        )
        freed = self._desk.freed(tasks)
        # Announcing comes last: the next tasks of the lanes start before anybody is told.
        self._told.add([*told, Aftermath(freed=freed)] if freed else told)

    async def _continue_groups(self) -> None:
        while True:
            group = await self._in_lanes.take()
            await self._go_on(
                [task for task, lane_is_finished in group if not lane_is_finished],
                [task for task, lane_is_finished in group if lane_is_finished],
            )

    async def _tell_groups(self) -> None:
        while True:
            told = await self._told.take()
            try:
                await self._settlements.tell(told)
            except DatabaseUnavailableError as error:
                # The group is settled all the same: callers that wait look again, and the sweeper rings.
                _log.warning("news.not_told", settlements=len(told), error=str(error))

    def _continuation(self, group: Sequence[EndedAttempt]) -> Continuation | None:
        """Return the lanes that may go on in the statement that settles; none in a big group, which gains nothing."""
        documents = _documents(_tasks(group))
        if not documents or len(documents) > LANES_MAX or not self.may_continue:
            return None
        return self._desk.continuation(documents)

    async def _settle(
        self,
        group: Sequence[EndedAttempt],
        continuation: Continuation | None,
        *,
        counted_by: str,
        succeeded: Collection[QualifiedType] = (),
    ) -> tuple[set[DocumentId], list[Aftermath]]:
        """Settle what has ended; return the documents in whose lanes nothing else waits, and what is to be told."""
        settled, told = await self._settlements.write(group, continuation, counted_by=counted_by, succeeded=succeeded)
        finished_lanes = {
            ended.task.document_id
            for ended, how in zip(group, settled, strict=True)
            if ended.task.document_id is not None
            # A batch's next child was made QUEUED after the lane was looked at.
            and ended.task.parent_id is None
            and isinstance(how, Settled)
            and not how.lane_waits
        }
        return finished_lanes, told

    async def _keep(
        self, gathering: Gathering[EndedAttempt], group: Sequence[EndedAttempt], error: DatabaseUnavailableError
    ) -> None:
        """Try these again, except those whose lease is over by now: they are the reaper's."""
        now = time.monotonic()
        hopeless = [ended.task for ended in group if now - ended.at > self._lease_seconds]
        _log.warning("settlement.postponed", tasks=len(group), given_up=len(hopeless), error=str(error))
        gathering.add([ended for ended in group if now - ended.at <= self._lease_seconds], first=True)
        # Their documents are given back: a lock in hand is renewed, and these are no longer ours.
        self._desk.forget_suspects(hopeless)
        await self._quit(hopeless)
        await asyncio.sleep(PAUSE_SECONDS)

    async def _go_on(self, tasks: Sequence[ClaimedTask], last_in_lane: Sequence[ClaimedTask]) -> None:
        """Start the next heads, then give back what is finished: a document with work does not wait for that."""
        if tasks:
            following: list[ClaimedTask] = []
            try:
                if self.may_continue:
                    following = await self._desk.continue_lanes(_documents(tasks))
                else:
                    await self._desk.leave_lanes(_documents(tasks))
            except DatabaseUnavailableError as error:
                # The locks that stay behind are found by the sweeper.
                _log.warning("lanes.not_continued", documents=len(tasks), error=str(error))
            self._finished(tasks, following)
        if last_in_lane:
            await self._quit(last_in_lane)

    async def _quit(self, tasks: Sequence[ClaimedTask]) -> None:
        """Give back documents in whose lanes nothing is left for this worker."""
        try:
            await self._desk.quit_lanes(_documents(tasks))
        except DatabaseUnavailableError as error:
            _log.warning("lanes.not_continued", documents=len(tasks), error=str(error))
        self._finished(tasks, [])


def _tasks(group: Sequence[EndedAttempt]) -> list[ClaimedTask]:
    return [ended.task for ended in group]


def _documents(tasks: Sequence[ClaimedTask]) -> list[DocumentId]:
    return [task.document_id for task in tasks if task.document_id is not None]
