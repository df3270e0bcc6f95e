"""The loop: take many hints, claim what they lead to, start each in its slot.

Two rounds overlap, so that one takes while the other claims, each for at most
half of the slots; only one of them at a time blocks for hints. Without Redis the same claims are made from the
ledger, once a second while there is nothing and at once while there is more.

A hint goes to whichever worker waits for one, and is gone if that does not know the task's type. The sweeper
rings again, but workers wait in turns of a second and it rings in time with them: the same one may be asked for
ever. So who has heard nothing for a while looks into the ledger itself.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import structlog

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.task import ClaimedTask
from officeplane.failpoints import reach
from officeplane.services.claims.desk import WorkerDesk
from workers.slots import Slots

TAKE_MAX: Final = 500
PAUSE_SECONDS: Final = 0.5
PROBE_SECONDS: Final = 1.0
_log = structlog.stdlib.get_logger(__name__)


class Loop:
    """Keeps the slots filled until asked to stop."""

    def __init__(
        self,
        doorbell: Doorbell,
        desk: WorkerDesk,
        slots: Slots,
        start: Callable[[ClaimedTask], None],
        *,
        poll_seconds: float,
        look_seconds: float,
    ) -> None:
        self._doorbell = doorbell
        self._desk = desk
        self._slots = slots
        self._start = start
        self._poll_seconds = poll_seconds
        self._look_seconds = look_seconds
        self._silent_since = time.monotonic()
        # While one half is being claimed, the other is settled.
        self._share = min(TAKE_MAX, (slots.total + 1) // 2)
        self._taking = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._look_again = asyncio.Event()

    def stop(self) -> None:
        """Take no more; rounds under way end by themselves."""
        self._stopping.set()
        self._look_again.set()
        self._slots.close()

    async def run(self) -> None:
        """Work until asked to stop."""
        async with asyncio.TaskGroup() as rounds:
            rounds.create_task(self._rounds())
            rounds.create_task(self._rounds())

    async def watch_redis(self) -> None:
        """Look for Redis once a second while it is lost, until cancelled."""
        availability = self._doorbell.availability
        while True:
            await availability.wait_lost()
            with suppress(RedisUnavailable):
                await self._doorbell.connection.probe()
            if not availability.available:
                await asyncio.sleep(PROBE_SECONDS)

    async def _rounds(self) -> None:
        while not self._stopping.is_set():
            async with self._taking:
                slots = await self._slots.reserve(self._share)
                hints = await self._hints(slots)
            claimed: list[ClaimedTask] = []
            try:
                claimed = await self._claimed(hints, slots)
            finally:
                self._slots.release(slots - len(claimed))
            for task in claimed:
                self._start(task)

    async def _hints(self, slots: int) -> list[str] | None:
        """Return hints from Redis, or None when the ledger is to be asked instead."""
        availability = self._doorbell.availability
        if self._stopping.is_set():
            return []
        if availability.available:
            try:
                hints = await self._doorbell.bells.take(slots)
            except RedisUnavailable:
                return None
            return None if self._shall_look(hints) else hints
        if not self._look_again.is_set():
            await self._pause()
        return [] if availability.available or self._stopping.is_set() else None

    def _shall_look(self, hints: list[str]) -> bool:
        """Tell whether it has been silent for so long that the ledger is to be asked."""
        now = time.monotonic()
        is_time = not hints and now - self._silent_since >= self._look_seconds
        if hints or is_time:
            self._silent_since = now
        return is_time

    async def _pause(self) -> None:
        """Wait until the ledger is to be looked at again, or need not be any more."""
        reasons = [
            asyncio.ensure_future(reason)
            for reason in (self._doorbell.availability.wait_regained(), self._look_again.wait())
        ]
        try:
            await asyncio.wait(reasons, timeout=self._poll_seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for reason in reasons:
                reason.cancel()

    async def _claimed(self, hints: list[str] | None, slots: int) -> list[ClaimedTask]:
        if self._stopping.is_set():
            await reach("hand_back")
            await self._doorbell.bells.give_back(hints or [])
            return []
        try:
            if hints is None:
                claimed = await self._desk.claim_from_ledger(slots)
                if claimed:
                    self._look_again.set()
                else:
                    self._look_again.clear()
                return claimed
            return await self._desk.claim(hints) if hints or self._desk.has_doubts else []
        except DatabaseUnavailableError as error:
            _log.warning("claim.postponed", error=str(error))
            await self._doorbell.bells.give_back(hints or [])
            await asyncio.sleep(PAUSE_SECONDS)
            return []
