"""Leases are renewed from a thread of their own, which a busy loop cannot starve.

The thread has its own event loop and its own connection. It extends the leases
of what is in hand, but none beyond its attempt's timeout; it reads cancel flags
every second, because the messages that carry them may be lost; and it says that
the process is alive. It feels the pulse of the worker's loop, too: what blocks
that is named, and when somebody's time is up for good, the process is ended.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias, TypeVar

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.outcome import Failed, HandedBack, Outcome
from officeplane.domain.task import ClaimedTask
from officeplane.services.claims.leases import Leases
from officeplane.services.observe.observations import Meter
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.store.connection import open_ledger
from officeplane.store.workers import Heartbeat
from workers.pulse import LOOK_SECONDS, Pulse, Standstill
from workers.rescue import Rescue, say

WATCH_SECONDS: Final = 1.0
OVERTIME_SECONDS: Final = 5.0
_log = structlog.stdlib.get_logger(__name__)

Claim: TypeAlias = tuple[TaskId, ClaimId]
Found = TypeVar("Found")


@dataclass(slots=True, eq=False)
class Held:
    """An attempt in hand: until when it is kept, and when it should have ended if it was asked to stop."""

    task: ClaimedTask
    until: float
    stopped_by: float = float("inf")
    is_given_up: bool = False

    @property
    def claim(self) -> Claim:
        """Under which it runs."""
        return self.task.id, self.task.claim_id

    def should_have_ended(self, now: float) -> bool:
        """Whether only a loop that does not turn can have kept it."""
        return now >= min(self.until, self.stopped_by)

    def ended(self, now: float, at: str) -> Outcome:
        """Return how it ends, as its own loop would have ended it."""
        blocked = f"its worker's event loop was blocked at {at}"
        if now >= self.stopped_by:
            return Failed(Failure(FailureKind.CANCELLED, f"it was cancelled while it ran; {blocked}"))
        message = f"the attempt ran longer than {self.task.timeout_seconds:g} s; {blocked}"
        return Failed(Failure(FailureKind.TIMEOUT, message))

    def overdue(self, now: float) -> str:
        """Return what its loop has not done."""
        when = "it was cancelled" if now >= self.stopped_by else f"its {self.task.timeout_seconds:g} s were over"
        return f"task {self.task.id} ({self.task.task_type}) could not be stopped when {when}"


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

    def __init__(
        self, terms: LeaseTerms, news: LeaseNews, heartbeat: Callable[[], Heartbeat], meter: Meter, rescue: Rescue
    ) -> None:
        self._terms = terms
        self._news = news
        self._heartbeat = heartbeat
        self._meter = meter
        self._rescue = rescue
        self._held: dict[TaskId, Held] = {}
        self._main = asyncio.get_running_loop()
        self._pulse = Pulse()
        self._standstill: Standstill | None = None
        self._running: tuple[threading.Thread, asyncio.AbstractEventLoop] | None = None
        self._stopped = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to keep."""
        own = asyncio.new_event_loop()
        thread = threading.Thread(target=self._run, args=(own,), name="lease-keeper", daemon=True)
        self._running = (thread, own)
        thread.start()

    async def stop(self) -> None:
        """End the thread; leases then run out by themselves."""
        assert self._running is not None  # noqa: S101 - it was started
        thread, own = self._running
        # A thread that broke off has closed its loop.
        with suppress(RuntimeError):
            own.call_soon_threadsafe(self._stopped.set)
        await asyncio.to_thread(thread.join, 2 * WATCH_SECONDS)

    def hold(self, task: ClaimedTask) -> None:
        """Keep the claim of an attempt that begins now."""
        self._held[task.id] = Held(task, time.monotonic() + task.timeout_seconds + OVERTIME_SECONDS)

    def drop(self, task: ClaimedTask) -> None:
        """Stop keeping a claim, unless the task has been claimed again since."""
        kept = self._held.get(task.id)
        if kept is not None and kept.task.claim_id == task.claim_id:
            del self._held[task.id]

    def _run(self, own: asyncio.AbstractEventLoop) -> None:
        with asyncio.Runner(loop_factory=lambda: own) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        async with asyncio.TaskGroup() as both:
            self._keeping = both.create_task(self._keep())
            both.create_task(self._feel_pulse())

    async def _keep(self) -> None:
        while not self._stopped.is_set():
            try:
                await self._watch()
            except DatabaseUnavailableError as error:
                await say(partial(_log.warning, "leases.not_kept", error=str(error)))
                await self._pause(WATCH_SECONDS)
            except Exception as error:  # noqa: BLE001 - without this thread the worker would claim what it then loses
                await say(partial(_log.exception, "leases.not_kept", exc_info=error))
                await self._pause(WATCH_SECONDS)

    async def _watch(self) -> None:
        renewed_at = float("-inf")
        told: Standstill | None = None
        async with open_ledger(self._terms.database_url, connections=1) as ledger:
            leases = Leases(ledger)
            while not self._stopped.is_set():
                now = time.monotonic()
                held = self._in_hand()
                standstill = self._standstill
                # That the loop is blocked, or turns again, is told at once.
                if now - renewed_at >= self._terms.heartbeat_seconds or (told is None) != (standstill is None):
                    blocked = None if standstill is None else standstill.blockage
                    heartbeat = replace(self._heartbeat(), blocked=blocked)
                    await leases.beat(heartbeat)
                    await self._renew(leases, [one.claim for one in held if now < one.until])
                    await leases.report(heartbeat.worker_id, self._meter)
                    renewed_at, told = now, standstill
                if held:
                    self._hear_cancelled(held, await leases.cancelled([one.claim for one in held]), now)
                await self._pause(min(WATCH_SECONDS, self._terms.heartbeat_seconds))

    async def _renew(self, leases: Leases, kept: list[Claim]) -> None:
        if not kept:
            return
        lost = await leases.renew(kept, self._terms.lease_seconds)
        # A claim that was settled between the copy and the statement is not lost.
        self._tell(self._news.lost, [claim for claim in kept if claim[0] in lost and claim[0] in self._held])

    def _hear_cancelled(self, held: list[Held], cancelled: list[TaskId], now: float) -> None:
        for one in held:
            if one.task.id in cancelled:
                one.stopped_by = min(one.stopped_by, now + OVERTIME_SECONDS)
        self._tell(self._news.cancelled, cancelled)

    async def _feel_pulse(self) -> None:
        while not self._stopped.is_set():
            before, now = self._standstill, self._pulse.look()
            self._standstill = now
            if before is None and now is not None:
                task_id, task_type = now.blockage.task_id, now.blockage.task_type
                facts = {"task_id": task_id, "task_type": task_type, "at": now.at, "stack": now.stack}
                await say(partial(_log.warning, "loop.blocked", seconds=now.seconds, **facts))
            if before is not None and now is None:
                await say(partial(_log.warning, "loop.turns_again", seconds=before.seconds))
            if now is not None and now.seconds >= OVERTIME_SECONDS:
                await self._relieve(now)
            await self._pause(LOOK_SECONDS)

    async def _relieve(self, standstill: Standstill) -> None:
        """End what the loop should have ended by now, and the process if it cannot be had without."""
        now = time.monotonic()
        held = self._in_hand()
        late = [one for one in held if one.should_have_ended(now)]
        blocking = [one for one in held if one.task.claim_id == standstill.claim_id]
        # A handler that was abandoned has no time left; with nothing else in hand, the process can end.
        is_left_alone = not held and standstill.task is not None
        if not late and not is_left_alone:
            return
        if blocking and blocking[0] not in late:
            # The blocking attempt has time left and may end by itself; the others do not wait for it.
            await self._hand_back(late)
            return
        assert self._keeping is not None  # noqa: S101 - both are started together
        # A heartbeat that comes after the farewell would say that the worker is alive.
        self._keeping.cancel()
        await asyncio.wait({self._keeping}, timeout=WATCH_SECONDS)
        # An abandoned handler has been charged already, and no other attempt is in its place. If it is not
        # known which attempt blocks the loop, it may be any whose time is up.
        charged = late if standstill.task is None else blocking
        ended = [EndedAttempt(one.task, one.ended(now, standstill.at)) for one in charged]
        ended += [EndedAttempt(one.task, HandedBack()) for one in held if one not in charged]
        overdue = [one.overdue(now) for one in (*charged, *late)]
        await self._rescue.end_process(standstill.blockage, ended, overdue[0] if overdue else "that attempt is over")

    async def _hand_back(self, late: list[Held]) -> None:
        handed_back = await self._rescue.hand_back([one.task for one in late])
        given_up = [one for one in late if one.task in handed_back]
        for one in given_up:
            one.is_given_up = True
        self._tell(self._news.lost, [one.claim for one in given_up])
        if len(given_up) < len(late):
            await self._pause(WATCH_SECONDS)

    def _in_hand(self) -> list[Held]:
        # A copy in one step: the worker's loop changes the dict meanwhile.
        return [one for one in self._held.copy().values() if not one.is_given_up]

    def _tell(self, listener: Callable[[list[Found]], None], found: list[Found]) -> None:
        if found:
            self._main.call_soon_threadsafe(listener, found)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), seconds)
