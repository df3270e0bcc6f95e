"""The settler: outcomes that gather while settlements are under way go with the next.

Three stages, each with a loop of its own, so that none waits for what another
does: attempts are ended in the ledger, their lanes go on, and then everybody
is told. A lane's next task is started before the end of the last is announced.
Two settlements may be under way: what ends just after one has begun need not
wait for its commit.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import DocumentId
from officeplane.domain.outcome import Outcome
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.claiming import Claiming
from officeplane.services.claims.following import Following
from officeplane.services.settle.settlement import Attempt, News, Settlements
from officeplane.store.settlements import Settled

GROUP_LIMIT: Final = 500
FOLLOW_MAX: Final = 64
PAUSE_SECONDS: Final = 0.2
_log = structlog.stdlib.get_logger(__name__)


Thing = TypeVar("Thing")


@dataclass(slots=True)
class Ended:
    """An attempt that has ended, when it did, and how; no outcome when its claim was lost."""

    task: ClaimedTask
    outcome: Outcome | None
    at: float


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
        if not self._things:
            self._none.set()
        await self._some.wait()
        group, self._things = self._things[:GROUP_LIMIT], self._things[GROUP_LIMIT:]
        if not self._things:
            self._some.clear()
        return group

    async def wait_none(self) -> None:
        """Return when nothing waits and nothing is under way."""
        await self._none.wait()


class Settler:
    """Settles by groups, then goes on in the lanes or gives their documents back."""

    def __init__(
        self,
        settling: Sequence[Settlements],
        claiming: Claiming,
        *,
        lease_seconds: float,
        finished: Callable[[Sequence[ClaimedTask], Sequence[ClaimedTask]], None],
    ) -> None:
        self._settling = settling
        self._claiming = claiming
        self._lease_seconds = lease_seconds
        self._finished = finished
        self._ended = Gathering[Ended]()
        self._in_lanes = Gathering[tuple[Ended, bool]]()
        self._news = Gathering[News]()
        self.may_continue = True

    def add(self, task: ClaimedTask, outcome: Outcome | None) -> None:
        """Hand over an attempt that has ended."""
        self._ended.add((Ended(task, outcome, time.monotonic()),))

    async def run(self) -> None:
        """Settle until cancelled."""
        async with asyncio.TaskGroup() as stages:
            for settling in self._settling:
                stages.create_task(self._settle_groups(settling))
            stages.create_task(self._continue_groups())
            stages.create_task(self._tell_groups())

    async def wait_told(self) -> None:
        """Return when everything that was settled has been told."""
        await self._news.wait_none()

    async def _settle_groups(self, settling: Settlements) -> None:
        while True:
            group = await self._ended.take()
            following = self._following(group)
            try:
                finished_lanes, news = await self._settle(settling, group, following)
            except DatabaseUnavailableError as error:
                if following is not None:
                    self._claiming.doubt(following)
                await self._keep(group, error)
                continue
            self._forget_suspects(group)
            heads: list[ClaimedTask] = []
            if following is not None:
                heads = await following.claimed()
                self._claiming.rode(following)
            continued: set[DocumentId | None] = {None, *(head.document_id for head in heads)}
            self._finished([ended.task for ended in group if ended.task.document_id in continued], heads)
            self._in_lanes.add(
                [
                    (ended, ended.task.document_id in finished_lanes)
                    for ended in group
                    if ended.task.document_id not in continued
                ]
            )
            freed = self._claiming.freed(ended.task for ended in group)
            if freed:
                news.append(News(freed=freed))
            # Last of all: what follows in the lanes runs before anybody is told.
            self._news.add(news)

    async def _continue_groups(self) -> None:
        while True:
            group = await self._in_lanes.take()
            await self._go_on(
                [ended.task for ended, lane_is_finished in group if not lane_is_finished],
                [ended.task for ended, lane_is_finished in group if lane_is_finished],
            )

    async def _tell_groups(self) -> None:
        while True:
            news = await self._news.take()
            try:
                await self._settling[0].tell(news)
            except DatabaseUnavailableError as error:
                # It is settled all the same. Whoever waits looks again, and what was not rung is the sweeper's.
                _log.warning("news.not_told", settlements=len(news), error=str(error))

    def _following(self, group: Sequence[Ended]) -> Following | None:
        """Return the lanes that may go on in the statement that settles; none in a big group, which gains nothing."""
        documents = _documents([ended.task for ended in group])
        if not documents or len(documents) > FOLLOW_MAX or not self.may_continue:
            return None
        return self._claiming.following(documents)

    async def _settle(
        self, settling: Settlements, group: Sequence[Ended], following: Following | None
    ) -> tuple[set[DocumentId], list[News]]:
        """Settle what has an outcome; return the documents in whose lanes nothing else waits, and the news."""
        attempts = [Attempt(ended.task, ended.outcome) for ended in group if ended.outcome is not None]
        settled, news = await settling.write(attempts, following)
        finished_lanes = {
            attempt.task.document_id
            for attempt, how in zip(attempts, settled, strict=True)
            if attempt.task.document_id is not None
            # A batch's next child was made QUEUED after the lane was looked at.
            and attempt.task.parent_id is None
            and isinstance(how, Settled)
            and not how.lane_waits
        }
        return finished_lanes, news

    async def _keep(self, group: Sequence[Ended], error: DatabaseUnavailableError) -> None:
        """Try these again, except those whose lease is over by now: they are the reaper's."""
        now = time.monotonic()
        hopeless = [ended for ended in group if now - ended.at > self._lease_seconds]
        _log.warning("settlement.postponed", tasks=len(group), given_up=len(hopeless), error=str(error))
        self._ended.add([ended for ended in group if now - ended.at <= self._lease_seconds], first=True)
        # Their documents too: a lock in hand is renewed, and these are no longer ours.
        self._forget_suspects(hopeless)
        await self._quit([ended.task for ended in hopeless])
        await asyncio.sleep(PAUSE_SECONDS)

    def _forget_suspects(self, group: Sequence[Ended]) -> None:
        for ended in group:
            self._claiming.forget_suspect(ended.task.id)

    async def _go_on(self, tasks: Sequence[ClaimedTask], last_in_lane: Sequence[ClaimedTask]) -> None:
        """Start the next heads, then give back what is finished: a document with work does not wait for that."""
        if tasks:
            following: list[ClaimedTask] = []
            try:
                if self.may_continue:
                    following = await self._claiming.continue_lanes(_documents(tasks))
                else:
                    await self._claiming.leave_lanes(_documents(tasks))
            except DatabaseUnavailableError as error:
                # The locks that stay behind are found by the sweeper.
                _log.warning("lanes.not_continued", documents=len(tasks), error=str(error))
            self._finished(tasks, following)
        if last_in_lane:
            await self._quit(last_in_lane)

    async def _quit(self, tasks: Sequence[ClaimedTask]) -> None:
        """Give back documents in whose lanes nothing is left for this worker."""
        try:
            await self._claiming.quit_lanes(_documents(tasks))
        except DatabaseUnavailableError as error:
            _log.warning("lanes.not_continued", documents=len(tasks), error=str(error))
        self._finished(tasks, [])


def _documents(tasks: Sequence[ClaimedTask]) -> list[DocumentId]:
    return [task.document_id for task in tasks if task.document_id is not None]
