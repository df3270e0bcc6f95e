"""Leases are renewed from a thread of their own, which a busy loop cannot starve.

The thread has its own event loop and its own connection. It extends the leases
of what is in hand, but none beyond its attempt's timeout, so that a loop that
hangs for good is found out; it reads cancel flags every second, because the
messages that carry them may be lost; and it says that the process is alive.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.task import ClaimedTask
from officeplane.services.keeping import Keeping
from officeplane.services.metering import Meter
from officeplane.store.connection import open_ledger
from officeplane.store.workers import Heartbeat

WATCH_SECONDS: Final = 1.0
OVERTIME_SECONDS: Final = 5.0
_log = structlog.stdlib.get_logger(__name__)

Claim: TypeAlias = tuple[TaskId, ClaimId]
Held: TypeAlias = dict[TaskId, tuple[ClaimId, float]]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """How long a lease runs, how often it is extended, and where."""

    database_url: str
    lease_seconds: float
    heartbeat_seconds: float


@dataclass(frozen=True, slots=True)
class LeaseNews:
    """Whom the thread tells what it finds; both are called in the worker's loop.

    A claim that is lost is told as such: by then the worker may have claimed the task again.
    """

    cancelled: Callable[[list[TaskId]], None]
    lost: Callable[[list[Claim]], None]


class LeaseKeeper:
    """The thread that keeps this process's claims."""

    def __init__(self, terms: LeaseTerms, news: LeaseNews, heartbeat: Callable[[], Heartbeat], meter: Meter) -> None:
        self._terms = terms
        self._news = news
        self._heartbeat = heartbeat
        self._meter = meter
        self._held: Held = {}
        self._main = asyncio.get_running_loop()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)

    def start(self) -> None:
        """Begin to keep."""
        self._thread.start()

    async def stop(self) -> None:
        """End the thread; leases then run out by themselves."""
        self._stopped.set()
        await asyncio.to_thread(self._thread.join, 2 * WATCH_SECONDS)

    def hold(self, task: ClaimedTask) -> None:
        """Keep the claim of an attempt that begins now."""
        until = time.monotonic() + task.timeout_seconds + OVERTIME_SECONDS
        self._held[task.id] = (task.claim_id, until)

    def drop(self, task: ClaimedTask) -> None:
        """Stop keeping a claim, unless the task has been claimed again since."""
        kept = self._held.get(task.id)
        if kept is not None and kept[0] == task.claim_id:
            del self._held[task.id]

    def _keep(self) -> None:
        while not self._stopped.is_set():
            try:
                asyncio.run(self._watch())
            except DatabaseUnavailableError as error:
                _log.warning("leases.not_kept", error=str(error))
                self._stopped.wait(WATCH_SECONDS)

    async def _watch(self) -> None:
        renewed_at = float("-inf")
        async with open_ledger(self._terms.database_url, connections=1) as ledger:
            keeping = Keeping(ledger)
            while not self._stopped.is_set():
                now = time.monotonic()
                # A copy in one step: the worker's loop changes the dict meanwhile.
                held = self._held.copy()
                if now - renewed_at >= self._terms.heartbeat_seconds:
                    heartbeat = self._heartbeat()
                    await keeping.beat(heartbeat)
                    await self._renew(keeping, held, now)
                    await keeping.report(heartbeat.worker_id, self._meter)
                    renewed_at = now
                if held:
                    claims = [(task_id, claim_id) for task_id, (claim_id, _) in held.items()]
                    self._tell(self._news.cancelled, await keeping.cancelled(claims))
                # Nothing else runs in this loop, and a stop must not wait for the next look.
                self._stopped.wait(min(WATCH_SECONDS, self._terms.heartbeat_seconds))

    async def _renew(self, keeping: Keeping, held: Held, now: float) -> None:
        kept = [(task_id, claim_id) for task_id, (claim_id, until) in held.items() if now < until]
        if not kept:
            return
        lost = await keeping.renew(kept, self._terms.lease_seconds)
        # Settled between the copy and the statement is not lost.
        self._tell(self._news.lost, [claim for claim in kept if claim[0] in lost and claim[0] in self._held])

    def _tell(self, listener: Callable[[list[Found]], None], found: list[Found]) -> None:
        if found:
            self._main.call_soon_threadsafe(listener, found)
