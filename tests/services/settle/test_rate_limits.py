"""Rate limits: the task waits without using an attempt, and its whole type slows down for half of that time."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.outcome import Failed
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from tests.services.conftest import AnotherBench
from tests.workbench import Workbench


async def limit(bench: Workbench, task: ClaimedTask, retry_after: float | None) -> None:
    """End an attempt with a rate limit."""
    await bench.settle(task, Failed(Failure(FailureKind.RATE_LIMITED, "429", retry_after=retry_after)))


async def wait_of(bench: Workbench, task: ClaimedTask) -> tuple[float, float]:
    """End an attempt with a rate limit that names no time; return how long the next one waits, at least and at most."""
    before = await bench.clock()
    await limit(bench, task, None)
    after = await bench.clock()
    due = (await bench.details(task.id)).task.run_at
    return (due - after).total_seconds(), (due - before).total_seconds()


async def slow_until(bench: Workbench, task_type: str = "noop") -> datetime | None:
    (row,) = await bench.execute("SELECT slow_until FROM valves WHERE task_type = $1", task_type)
    found: datetime | None = row["slow_until"]
    return found


async def let_the_slowdown_pass(bench: Workbench) -> None:
    await bench.execute("UPDATE valves SET slow_until = now() WHERE slow_until IS NOT NULL")


async def test_a_rate_limited_task_waits_without_using_an_attempt_and_keeps_its_checkpoint(bench: Workbench) -> None:
    task = await bench.a_task(max_retries=0)
    for times in range(1, 4):
        claimed = await bench.claim_next(task)
        assert (claimed.attempt, claimed.attempts_charged) == (times, 0)
        await bench.worker.leases.save_checkpoint(claimed, json.dumps({"times": times}))
        await limit(bench, claimed, 3_000)
        waiting = (await bench.details(task.id)).task
        assert waiting.state == "RETRYING"
        assert timedelta(seconds=2_900) < waiting.run_at - datetime.now(UTC) < timedelta(seconds=3_100)
        await bench.make_due()
        await let_the_slowdown_pass(bench)

    claimed = await bench.claim_next(task)
    assert json.loads(claimed.checkpoint_json or "") == {"times": 3}
    assert [failure.kind for failure in (await bench.details(task.id)).failures] == ["rate_limited"] * 3


async def test_the_type_slows_down_for_half_of_the_wait(bench: Workbench) -> None:
    limited, other = await bench.a_running_task(), await bench.a_task()
    unrelated = await bench.a_task("sleep", payload={"seconds": 0})

    await limit(bench, limited, 3_000)

    until = await slow_until(bench)
    assert until is not None
    assert timedelta(seconds=1_450) < until - datetime.now(UTC) < timedelta(seconds=1_600)
    assert [task.id for task in await bench.claim(other, unrelated)] == [unrelated.id]
    await let_the_slowdown_pass(bench)
    assert (await bench.claim_next(other)).id == other.id


async def test_a_shorter_slowdown_does_not_cut_a_longer_one_short(bench: Workbench) -> None:
    first, second = await bench.a_running_task(), await bench.a_running_task()
    await limit(bench, first, 60)
    until = await slow_until(bench)

    await limit(bench, second, 2)

    assert await slow_until(bench) == until


async def test_every_worker_slows_down_also_one_without_redis(bench: Workbench, another_bench: AnotherBench) -> None:
    limited, waiting = await bench.a_running_task(), await bench.a_task()
    async with another_bench(redis_url="") as polling:
        await limit(polling, limited, 30)

        assert await polling.worker.desk.claim_from_ledger(5) == []
        assert await bench.another_worker().claim(waiting) == []
        await let_the_slowdown_pass(bench)
        assert [task.id for task in await polling.worker.desk.claim_from_ledger(5)] == [waiting.id]


async def test_without_a_time_the_task_waits_longer_each_time(bench: Workbench) -> None:
    task = await bench.a_task()
    for seconds in (60, 120, 240):
        shortest, longest = await wait_of(bench, await bench.claim_next(task))
        assert shortest <= 1.1 * seconds
        assert longest >= seconds
        await bench.make_due()
        await let_the_slowdown_pass(bench)


@pytest.mark.parametrize("earlier", ["handed back", "given up and retried"])
async def test_only_rate_limits_make_the_next_wait_longer(bench: Workbench, earlier: str) -> None:
    task = await bench.a_task()
    for _ in range(4):
        if earlier == "handed back":
            await bench.hand_back(await bench.claim_next(task))
        else:
            await bench.exhaust(task)
            await bench.runtime.reopening.retry(LOCAL, task.id)

    shortest, longest = await wait_of(bench, await bench.claim_next(task))

    assert shortest <= 66
    assert longest >= 60


async def test_when_a_slowdown_has_passed_the_leader_rings(bench: Workbench) -> None:
    limited, waiting = await bench.a_running_task(), await bench.a_task()
    await limit(bench, limited, 30)
    await bench.hush()
    pause = await bench.worker.valve_timers.tend()
    assert pause is not None
    assert pause <= 1
    assert await bench.rung() == []

    await let_the_slowdown_pass(bench)
    await bench.worker.valve_timers.tend()

    assert await bench.rung() == [waiting.id]
    assert await slow_until(bench) is None


async def test_a_cancelled_task_does_not_slow_its_type_down(bench: Workbench) -> None:
    limited = await bench.a_running_task()
    await bench.runtime.cancellation.cancel(LOCAL, limited.id, None)

    await limit(bench, limited, 30)

    assert await bench.state(limited) == "CANCELLED"
    assert await bench.execute("SELECT FROM valves") == []


async def test_a_task_says_that_its_type_is_slowed_down_and_until_when(bench: Workbench) -> None:
    limited, waiting = await bench.a_running_task(), await bench.a_task()
    await limit(bench, limited, 30)

    (reason, *_) = (await bench.runtime.explanations.explain(LOCAL, waiting.id)).reasons

    assert reason.code == "rate_limited"
    assert set(reason.facts) == {"taskType", "until"}


async def test_a_lane_whose_head_was_rate_limited_waits_with_it(bench: Workbench) -> None:
    head = await bench.a_running_task(document_id="d")
    behind = await bench.a_task("sleep", document_id="d", payload={"seconds": 0})

    await limit(bench, head, 30)

    assert await bench.claim(behind) == []
