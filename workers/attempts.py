"""Attempts in hand: each runs as a task of the loop and can be told to stop.

A handler that will not stop is abandoned: its attempt is settled without it,
and whatever it still does cannot pass the settlement's guard.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from enum import Enum, auto
from typing import Final

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.outcome import Failed, HandedBack, Outcome
from officeplane.domain.task import ClaimedTask

STUBBORN_SECONDS: Final = 1.0
TICKS_PER_SECOND: Final = 20
in_hand: Final[ContextVar[ClaimedTask]] = ContextVar("in_hand")
"""The attempt for which something runs, also in what its handler starts in the loop."""

_log = structlog.stdlib.get_logger(__name__)


class StopReason(Enum):
    """Why an attempt was told to stop."""

    CANCELLED = auto()
    TIMED_OUT = auto()
    LOST = auto()
    DRAINED = auto()


class Deadlines:
    """When attempts time out, at most a twentieth of a second late.

    Nearly every attempt ends before. So all whose time is up in the same
    twentieth of a second share one timer, instead of making and cancelling
    one each.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ticks: dict[int, tuple[set[Attempt], asyncio.TimerHandle]] = {}

    def add(self, attempt: "Attempt", seconds: float) -> int:
        """Have the attempt time out after that time; the answer is for `remove`."""
        tick = int((self._loop.time() + seconds) * TICKS_PER_SECOND) + 1
        found = self._ticks.get(tick)
        if found is None:
            self._ticks[tick] = ({attempt}, self._loop.call_at(tick / TICKS_PER_SECOND, self._pass, tick))
        else:
            found[0].add(attempt)
        return tick

    def remove(self, attempt: "Attempt", tick: int) -> None:
        """Let the attempt be; its time may have been up already."""
        found = self._ticks.get(tick)
        if found is not None:
            attempts, timer = found
            attempts.discard(attempt)
            if not attempts:
                timer.cancel()
                del self._ticks[tick]

    def _pass(self, tick: int) -> None:
        attempts, _ = self._ticks.pop(tick)
        for attempt in attempts:
            attempt.stop(StopReason.TIMED_OUT)


class Attempt:
    """One claimed task and the loop's task that runs it."""

    def __init__(
        self,
        task: ClaimedTask,
        ended: Callable[["Attempt", Outcome | None], None],
        deadlines: Deadlines | None = None,
    ) -> None:
        self.task = task
        self.stop_reason: StopReason | None = None
        self._ended = ended
        self._is_over = False
        self._running: asyncio.Task[None] | None = None
        self._deadlines = deadlines or Deadlines()
        self._deadline = 0
        self._timer: asyncio.TimerHandle | None = None
        self._started_at = 0.0

    @property
    def is_running(self) -> bool:
        """Whether its handler runs, still or already."""
        return self._running is not None and not self._running.done()

    @property
    def is_stubborn(self) -> bool:
        """Whether its handler still runs although the attempt is over."""
        return self._is_over and self.is_running

    @property
    def ran_seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._started_at

    def start(self, work: Coroutine[object, object, Outcome]) -> None:
        """Run the work; its timeout counts from here."""
        self._started_at = time.monotonic()
        self._deadline = self._deadlines.add(self, self.task.timeout_seconds)
        self._running = asyncio.get_running_loop().create_task(self._run(work))

    def stop(self, reason: StopReason) -> None:
        """Cancel the handler; the first reason counts."""
        if self._is_over or self.stop_reason is not None or self._running is None:
            return
        self.stop_reason = reason
        self._running.cancel()
        self._deadlines.remove(self, self._deadline)
        self._timer = asyncio.get_running_loop().call_later(STUBBORN_SECONDS, self._abandon)

    async def _run(self, work: Coroutine[object, object, Outcome]) -> None:
        in_hand.set(self.task)
        try:
            outcome: Outcome | None = await work
        except asyncio.CancelledError:
            outcome = self._outcome_of_stop()
        except DatabaseUnavailableError:
            outcome = HandedBack()
        except Exception as error:  # noqa: BLE001 - the runner answers for handlers; this is trouble of our own
            _log.exception("attempt.broke", task_id=self.task.id)
            outcome = Failed(Failure(FailureKind.ERROR, describe(error)))
        else:
            # A handler that ignores its cancellation and returns is too late,
            # except while draining, when there was no hurry.
            if self.stop_reason not in (None, StopReason.DRAINED):
                outcome = self._outcome_of_stop()
        self._end(outcome)

    def _outcome_of_stop(self) -> Outcome | None:
        match self.stop_reason:
            case StopReason.TIMED_OUT:
                message = f"the attempt ran longer than {self.task.timeout_seconds:g} s"
                return Failed(Failure(FailureKind.TIMEOUT, message))
            case StopReason.CANCELLED:
                return Failed(Failure(FailureKind.CANCELLED, "it was cancelled while it ran"))
            case StopReason.LOST:
                return None
            case StopReason.DRAINED:
                return HandedBack()
            case None:
                return Failed(Failure(FailureKind.ERROR, "the handler cancelled itself"))

    def _abandon(self) -> None:
        if not self._is_over:
            _log.warning("handler.abandoned", task_id=self.task.id, task_type=self.task.task_type)
            self._end(self._outcome_of_stop())

    def _end(self, outcome: Outcome | None) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._deadlines.remove(self, self._deadline)
        if self._timer is not None:
            self._timer.cancel()
        self._ended(self, outcome)


class Attempts:
    """Every attempt in this process's hands, by task."""

    def __init__(self) -> None:
        self._by_task: dict[TaskId, Attempt] = {}
        self._let_go: list[Attempt] = []
        self._none_left = asyncio.Event()
        self._none_left.set()

    @property
    def stubborn(self) -> int:
        """How many handlers run on although they were told to stop."""
        self._let_go = [attempt for attempt in self._let_go if attempt.is_running]
        return sum(attempt.is_stubborn for attempt in self._let_go)

    def __len__(self) -> int:
        return len(self._by_task)

    def add(self, attempt: Attempt) -> None:
        """Take an attempt into hand; an earlier one of the same task has lost its claim, and stops."""
        earlier = self._by_task.get(attempt.task.id)
        if earlier is not None:
            earlier.stop(StopReason.LOST)
            self._let_go.append(earlier)
        self._by_task[attempt.task.id] = attempt
        self._none_left.clear()

    def remove(self, task: ClaimedTask) -> None:
        """Let an attempt go, unless a later one of the same task has taken its place."""
        held = self._by_task.get(task.id)
        if held is not None and held.task.claim_id == task.claim_id:
            del self._by_task[task.id]
            self._let_go.append(held)
        if not self._by_task:
            self._none_left.set()

    def among(self, task_ids: list[TaskId]) -> list[Attempt]:
        """Return the attempts of these tasks that are in hand."""
        return [self._by_task[task_id] for task_id in task_ids if task_id in self._by_task]

    def stop(self, task_ids: list[TaskId], reason: StopReason) -> None:
        """Tell the attempts of these tasks to stop."""
        for attempt in self.among(task_ids):
            attempt.stop(reason)

    def lose(self, claims: list[tuple[TaskId, ClaimId]]) -> None:
        """Tell the attempts to stop whose claims these are; a later attempt of the same task goes on."""
        lost = set(claims)
        for attempt in self.among([task_id for task_id, _ in claims]):
            if (attempt.task.id, attempt.task.claim_id) in lost:
                attempt.stop(StopReason.LOST)

    def stop_all(self, reason: StopReason) -> None:
        """Tell every attempt to stop."""
        self.stop(list(self._by_task), reason)

    async def wait_none_left(self) -> None:
        """Return when nothing is in hand."""
        while self._by_task:
            await self._none_left.wait()
