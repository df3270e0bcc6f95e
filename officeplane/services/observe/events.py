"""Events: every event once, in order, to as many followers as ask.

One reader keeps the latest events in memory for all followers of the process;
a follower that is further behind reads the ledger itself, at its own pace.
What a follower has not heard yet is told by the group, so that a thousand of
them cost little. Nothing is queued per follower: one that reads nothing costs
nothing.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncGenerator, Sequence
from typing import Final, TypeAlias

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.event import Event, EventPosition, Reset
from officeplane.domain.principal import Principal
from officeplane.store import events, tasks
from officeplane.store.connection import Ledger

KEPT_EVENTS: Final = 10_000
EVENTS_AT_ONCE: Final = 500
EVENTS_PER_TURN: Final = 20
ROWS_PER_READ: Final = 200
READ_SECONDS: Final = 0.2
_log = structlog.stdlib.get_logger(__name__)

Followed: TypeAlias = Event | Reset


class Events:
    """What happens, as it happens."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._followers = 0
        self._followed = asyncio.Event()
        self._recent: list[Event] = []
        # Everything after `_since` up to `_until` is in `_recent`.
        self._since: EventPosition | None = None
        self._until: EventPosition | None = None
        self._news = asyncio.Event()

    async def follow(
        self, caller: Principal, position: EventPosition | None
    ) -> AsyncGenerator[Sequence[Followed], None]:
        """Yield groups of events that a caller may see, after a position or from now on.

        A `Reset` comes when some of them are gone.
        """
        self._followers += 1
        self._followed.set()
        try:
            is_lost = position is not None and not await events.is_held(self._ledger, position)
            if position is None or is_lost:
                position = await events.horizon(self._ledger)
            if is_lost:
                # Whoever reads this looks at the tasks next; what happens meanwhile is told after it.
                yield [Reset()]
            while True:
                found, position = await self._after(position)
                for start in range(0, len(found), EVENTS_PER_TURN):
                    yield await self._seen_by(caller, found[start : start + EVENTS_PER_TURN])
                    # A reader whose connection takes everything at once never waits by itself.
                    await asyncio.sleep(0)
        finally:
            self._followers -= 1
            if not self._followers:
                self._followed.clear()

    async def _seen_by(self, caller: Principal, group: Sequence[Event]) -> Sequence[Event]:
        """Return what a caller may see of a group; of one that is narrowed the ledger tells, for its tasks' types."""
        seen = [event for event in group if event.space == caller.space]
        sight = caller.sight
        if not sight.is_narrowed or not seen:
            return seen
        task_ids = {event.task_id for event in seen if event.task_id is not None}
        visible = await tasks.visible(self._ledger, task_ids, sight)
        return [
            event
            for event in seen
            if (
                event.task_id in visible
                if event.task_id is not None
                else event.document_id is not None and caller.sees(event.document_id)
            )
        ]

    async def read(self) -> None:
        """Keep the latest events at hand while anybody follows, until cancelled."""
        while True:
            if not self._followers:
                self._recent, self._since, self._until = [], None, None
                await self._followed.wait()
            try:
                await self._read_once()
            except DatabaseUnavailableError as error:
                _log.debug("feed.read_failed", error=str(error))
                await asyncio.sleep(READ_SECONDS)

    async def _read_once(self) -> None:
        if self._until is None:
            self._since = self._until = await events.horizon(self._ledger)
            # A follower that looked before this would not hear of what came in between.
            self._tell()
        found, self._until = await events.after(self._ledger, self._until, rows=ROWS_PER_READ)
        if not found:
            await asyncio.sleep(READ_SECONDS)
            return
        self._recent += found
        if len(self._recent) > 2 * KEPT_EVENTS:
            self._since = self._recent[-KEPT_EVENTS - 1].position
            del self._recent[:-KEPT_EVENTS]
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _after(self, position: EventPosition) -> tuple[list[Event], EventPosition]:
        news = self._news
        if self._since is not None and position >= self._since:
            start = bisect_right(self._recent, position, key=lambda event: event.position)
            found = self._recent[start : start + EVENTS_AT_ONCE]
            if found:
                return found, found[-1].position
        else:
            found, reached = await events.after(self._ledger, position, rows=ROWS_PER_READ)
            if found:
                return found, reached
        await news.wait()
        return [], position
