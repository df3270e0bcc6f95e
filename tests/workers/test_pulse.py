"""The pulse: a loop that does not turn, whose step it is, and what is none."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from officeplane.domain.outcome import Outcome, Succeeded
from tests.attempts import a_claimed_task
from workers.attempts import Attempt
from workers.pulse import BLOCKED_SECONDS, LOOK_SECONDS, Pulse, Standstill

ENOUGH = int(BLOCKED_SECONDS / LOOK_SECONDS)
HERE = Path(__file__).name


def looked(pulse: Pulse, times: int) -> Standstill | None:
    """Block the loop for as long as another thread looks that often; return what it saw last."""
    with ThreadPoolExecutor(1) as thread:
        return [thread.submit(pulse.look).result() for _ in range(times)][-1]


async def test_a_step_that_lasts_is_a_standstill_at_its_line() -> None:
    pulse = Pulse()

    assert looked(pulse, ENOUGH) is None
    seen = looked(pulse, 1)

    assert seen is not None
    assert (seen.seconds, seen.task) == (BLOCKED_SECONDS, None)
    assert HERE in seen.stack


async def test_a_loop_that_turned_in_between_begins_anew() -> None:
    pulse = Pulse()
    looked(pulse, ENOUGH)

    await asyncio.sleep(0)

    assert looked(pulse, ENOUGH) is None
    assert looked(pulse, 1) is not None


async def test_many_short_steps_are_work_however_long_they_take_together() -> None:
    pulse, seen = Pulse(), list[Standstill | None]()

    async def step() -> None:
        seen.append(looked(pulse, ENOUGH - 1))

    await asyncio.gather(*(step() for _ in range(5)))

    assert seen == [None] * 5


@pytest.mark.parametrize("own", [True, False])
async def test_what_a_handler_started_is_its_attempts_step_too(*, own: bool) -> None:
    pulse, task, seen = Pulse(), a_claimed_task("acme.slow"), list[Standstill | None]()
    ended = asyncio.Event()

    async def blocking() -> None:
        seen.append(looked(pulse, ENOUGH + 1))

    async def handler() -> Outcome:
        if own:
            await blocking()
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(blocking())
        return Succeeded(None)

    Attempt(task, lambda _attempt, _outcome: ended.set()).start(handler())
    await ended.wait()

    (standstill,) = seen
    assert standstill is not None
    assert standstill.task == task
    assert standstill.blockage.task_type == "acme.slow"
    assert HERE in standstill.at


async def test_a_callback_that_lasts_is_nobodys_step() -> None:
    pulse, seen = Pulse(), asyncio.get_running_loop().create_future()
    callback: Callable[[], None] = lambda: seen.set_result(looked(pulse, ENOUGH + 1))  # noqa: E731 - it has to be one

    asyncio.get_running_loop().call_soon(callback)
    standstill = await seen

    assert standstill is not None
    assert standstill.blockage.task_id is None


async def test_a_loop_at_rest_stands_still_for_nobody() -> None:
    pulse = Pulse()

    for _ in range(ENOUGH + 2):
        assert await asyncio.to_thread(pulse.look) is None
