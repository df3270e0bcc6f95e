"""Breakers for tests: what opens one, makes it half-open, and finds its probe."""

from officeplane.domain.failure import FailureKind
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.domain.valve import Breaker, BreakerState
from tests.workbench import Workbench

OPEN, HALF_OPEN, CLOSED = BreakerState.OPEN, BreakerState.HALF_OPEN, BreakerState.CLOSED
THRESHOLD = 5


async def breaker(bench: Workbench, task_type: str = "noop") -> Breaker:
    return next(v.breaker for v in await bench.runtime.valves.breakers(LOCAL) if v.task_type == task_type)


async def fail_times(bench: Workbench, times: int, kind: FailureKind = FailureKind.ERROR) -> None:
    """Let that many tasks of a type fail once each."""
    for task in await bench.submit_many([{"task_type": "noop"}] * times):
        await bench.fail(await bench.claim_next(task), kind)


async def opened(bench: Workbench) -> None:
    await fail_times(bench, THRESHOLD)
    assert (await breaker(bench)).state is OPEN


async def half_opened(bench: Workbench) -> None:
    """Open the breaker, and let the time pass for which it stays open."""
    await opened(bench)
    await bench.execute("UPDATE valves SET retry_at = now()")
    await bench.worker.valve_timers.tend()
    assert (await breaker(bench)).state is HALF_OPEN
    await bench.execute("DELETE FROM tasks")
    await bench.hush()


async def probe_of(bench: Workbench) -> str | None:
    (row,) = await bench.execute("SELECT probe_task_id FROM valves WHERE task_type = 'noop'")
    return None if row["probe_task_id"] is None else str(row["probe_task_id"])


async def let_the_probe_lapse(bench: Workbench) -> None:
    await bench.execute("UPDATE valves SET probe_until = now() - interval '2 seconds' WHERE probe_until IS NOT NULL")


async def a_probe(bench: Workbench, *others: Task) -> ClaimedTask:
    """Have a probe chosen, and claim it among all that waits."""
    await bench.worker.valve_timers.tend()
    (claimed,) = await bench.claim(*others)
    assert claimed.id == await probe_of(bench)
    return claimed
