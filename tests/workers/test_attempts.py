"""Attempts: how each ends, whatever its handler does about it."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from officeplane.domain.failure import FailureKind
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded
from tests.attempts import a_claimed_task
from tests.support import stopwatch
from workers.attempts import STUBBORN_SECONDS, Attempt, Attempts, Deadlines, StopReason

Work = Coroutine[object, object, Outcome]


class Ends:
    """Every end of an attempt that was told."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome | None] = []
        self._told = asyncio.Event()

    def __call__(self, attempt: Attempt, outcome: Outcome | None) -> None:
        self.outcomes.append(outcome)
        self._told.set()

    async def first(self) -> Outcome | None:
        """Return the outcome once it is told."""
        async with asyncio.timeout(20):
            await self._told.wait()
        return self.outcomes[0]


class Handler:
    """Work that runs until it is let go, and says what it is told meanwhile."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.let_go = asyncio.Event()

    async def obedient(self) -> Outcome:
        self.began.set()
        await self.let_go.wait()
        return Succeeded(None)

    async def tidy(self) -> Outcome:
        """Finish what it is at when it is cancelled."""
        self.began.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
        return Succeeded('{"late":true}')

    async def stubborn(self) -> Outcome:
        """Take no notice of being cancelled."""
        self.began.set()
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
        return Succeeded('{"late":true}')


def failure_of(outcome: Outcome | None) -> FailureKind:
    """Return the kind of a failure, which the outcome must be."""
    assert isinstance(outcome, Failed)
    return outcome.failure.kind


async def test_an_attempt_ends_with_what_its_handler_returned() -> None:
    ends, handler = Ends(), Handler()
    Attempt(a_claimed_task(), ends).start(handler.obedient())

    handler.let_go.set()

    assert await ends.first() == Succeeded(None)


async def test_an_attempt_past_its_timeout_ends_as_one() -> None:
    ends = Ends()

    Attempt(a_claimed_task(timeout_seconds=0.1), ends).start(Handler().obedient())

    outcome = await ends.first()
    assert failure_of(outcome) is FailureKind.TIMEOUT
    assert isinstance(outcome, Failed)
    assert "longer than 0.1 s" in outcome.failure.message


async def test_the_end_of_one_attempt_leaves_the_deadline_of_another_that_shares_its_timer() -> None:
    deadlines, early, late, handler = Deadlines(), Ends(), Ends(), Handler()
    Attempt(a_claimed_task(timeout_seconds=0.2), late, deadlines).start(Handler().obedient())
    Attempt(a_claimed_task(timeout_seconds=0.2), early, deadlines).start(handler.obedient())

    handler.let_go.set()

    assert await early.first() == Succeeded(None)
    assert failure_of(await late.first()) is FailureKind.TIMEOUT


@pytest.mark.parametrize("behaviour", [Handler.obedient, Handler.tidy, Handler.stubborn])
async def test_a_cancelled_attempt_fails_as_cancelled_whatever_its_handler_does(
    behaviour: Callable[[Handler], Work],
) -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempt.start(behaviour(handler))
    await handler.began.wait()

    attempt.stop(StopReason.CANCELLED)

    assert failure_of(await ends.first()) is FailureKind.CANCELLED
    handler.let_go.set()


@pytest.mark.parametrize("behaviour", [Handler.obedient, Handler.tidy, Handler.stubborn])
async def test_an_attempt_whose_claim_was_lost_has_no_outcome(behaviour: Callable[[Handler], Work]) -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempt.start(behaviour(handler))
    await handler.began.wait()

    attempt.stop(StopReason.LOST)

    assert await ends.first() is None
    handler.let_go.set()


async def test_a_drained_attempt_is_handed_back() -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempt.start(handler.obedient())
    await handler.began.wait()

    attempt.stop(StopReason.DRAINED)

    assert await ends.first() == HandedBack()


async def test_a_handler_that_finishes_while_it_is_drained_keeps_its_result() -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempt.start(handler.tidy())
    await handler.began.wait()

    attempt.stop(StopReason.DRAINED)

    assert await ends.first() == Succeeded('{"late":true}')


async def test_a_stubborn_handler_is_abandoned_within_a_second_and_what_it_returns_later_is_nothing() -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(timeout_seconds=0.1), ends)
    attempt.start(handler.stubborn())
    await handler.cancelled.wait()

    with stopwatch() as seconds:
        await ends.first()

        assert seconds() < STUBBORN_SECONDS + 0.5
    assert attempt.is_stubborn
    handler.let_go.set()
    async with asyncio.timeout(20):
        while attempt.is_stubborn:
            await asyncio.sleep(0)
    assert [failure_of(outcome) for outcome in ends.outcomes] == [FailureKind.TIMEOUT]


async def test_the_first_reason_to_stop_is_the_one_that_counts() -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempt.start(handler.stubborn())
    await handler.began.wait()

    attempt.stop(StopReason.CANCELLED)
    attempt.stop(StopReason.LOST)

    assert failure_of(await ends.first()) is FailureKind.CANCELLED
    handler.let_go.set()


async def test_a_stop_after_the_end_changes_nothing() -> None:
    ends, handler = Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempt.start(handler.obedient())
    handler.let_go.set()
    await ends.first()

    attempt.stop(StopReason.CANCELLED)

    assert ends.outcomes == [Succeeded(None)]
    assert not attempt.is_stubborn


async def test_a_handler_that_cancels_itself_has_failed() -> None:
    ends = Ends()

    async def cancels_itself() -> Outcome:
        raise asyncio.CancelledError

    Attempt(a_claimed_task(), ends).start(cancels_itself())

    assert failure_of(await ends.first()) is FailureKind.ERROR


async def test_an_attempt_ends_even_if_whoever_runs_it_breaks() -> None:
    ends = Ends()

    async def breaks() -> Outcome:
        raise OSError(24, "Too many open files")

    Attempt(a_claimed_task(), ends).start(breaks())

    outcome = await ends.first()
    assert failure_of(outcome) is FailureKind.ERROR
    assert isinstance(outcome, Failed)
    assert "Too many open files" in outcome.failure.message


async def test_attempts_are_in_hand_until_they_are_let_go() -> None:
    attempts, task = Attempts(), a_claimed_task()
    attempts.add(Attempt(task, Ends()))
    waiting = asyncio.create_task(attempts.wait_none_left())
    await asyncio.sleep(0)
    assert len(attempts) == 1
    assert not waiting.done()

    attempts.remove(task)

    await waiting
    assert len(attempts) == 0


async def test_a_late_end_does_not_let_go_of_the_task_that_was_claimed_again() -> None:
    attempts, first = Attempts(), a_claimed_task()
    second = a_claimed_task()._replace(id=first.id)
    attempts.add(Attempt(first, Ends()))
    attempts.add(Attempt(second, Ends()))

    attempts.remove(first)

    assert [attempt.task for attempt in attempts.among([first.id])] == [second]


async def test_an_attempt_stops_when_its_worker_lost_it_and_has_claimed_the_task_again() -> None:
    attempts, ends, handler = Attempts(), Ends(), Handler()
    first = Attempt(a_claimed_task(), ends)
    attempts.add(first)
    first.start(handler.stubborn())
    await handler.began.wait()

    attempts.add(Attempt(a_claimed_task()._replace(id=first.task.id), Ends()))

    assert await ends.first() is None
    assert attempts.stubborn == 1
    handler.let_go.set()


async def test_news_that_an_earlier_claim_was_lost_does_not_stop_the_attempt_that_followed() -> None:
    """The worker had settled the first, and claimed the task again, while the ledger was asked about the first."""
    attempts, ends, handler = Attempts(), Ends(), Handler()
    first = a_claimed_task()
    second = Attempt(a_claimed_task()._replace(id=first.id), ends)
    attempts.add(second)
    second.start(handler.stubborn())
    await handler.began.wait()

    attempts.lose([(first.id, first.claim_id)])
    assert second.stop_reason is None

    attempts.lose([(first.id, second.task.claim_id)])
    assert await ends.first() is None
    handler.let_go.set()


async def test_handlers_that_run_on_after_their_attempt_are_counted() -> None:
    attempts, ends, handler = Attempts(), Ends(), Handler()
    attempt = Attempt(a_claimed_task(), ends)
    attempts.add(attempt)
    attempt.start(handler.stubborn())
    await handler.began.wait()
    attempts.stop_all(StopReason.CANCELLED)
    await ends.first()

    attempts.remove(attempt.task)

    assert attempts.stubborn == 1
    handler.let_go.set()
    async with asyncio.timeout(20):
        while attempts.stubborn:
            await asyncio.sleep(0)
