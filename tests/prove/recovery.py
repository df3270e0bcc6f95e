"""Recovery: how long the plane takes to go on after each blow, with the times as they are installed."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final

from officeplane.domain.principal import LOCAL
from officeplane.domain.request import TaskRequest
from tests.fault_proxy import fault_proxy
from tests.journeys.processes import Process
from tests.prove.figures import Figure, exactly, within
from tests.prove.ground import AS_INSTALLED, LEASE_SECONDS, Ground, ground, until

TRIALS: Final = 5


async def deaths(folder: Path) -> list[Figure]:
    """Kill workers with a document in hand; the leader too."""
    took: dict[bool, list[float]] = {False: [], True: []}
    async with ground(folder, **AS_INSTALLED) as place:
        for trial in range(2 * TRIALS):
            is_leader = bool(trial % 2)
            workers = await place.processes.workers(3)
            leader = await _leader(place, workers)
            # The task must be in the hands of the one that is killed: it is alone until it has it.
            victim, others = _parted(workers, leader, is_leader=is_leader)
            for other in others:
                other.freeze()
            name = f"trial-{trial}"
            payload = {"folder": str(folder), "name": name}
            await place.submit([{"task_type": "prove.first_waits", "document_id": name, "payload": payload}])
            await place.marks.seen("begin", name, 1)
            for other in others:
                other.thaw()
            began = time.monotonic()
            await victim.kill()
            await place.marks.seen("begin", name, 2, within=60)
            took[is_leader].append(time.monotonic() - began)
            place.marks.open_gate(name)
            await place.all_final(within=20)
            await asyncio.gather(*(other.stop() for other in others))
        promise = f"lease {LEASE_SECONDS:g} s + 4 s"
        return [
            within("a worker dies: its document goes on", took[False], LEASE_SECONDS + 4, promise),
            within("the leader dies: its document goes on", took[True], LEASE_SECONDS + 4, promise),
        ]


async def lost_pushes(folder: Path) -> list[Figure]:
    """Lose hints after they were pushed, with the leader alive and with it killed at that moment."""
    took: dict[bool, list[float]] = {False: [], True: []}
    async with ground(folder, **AS_INSTALLED) as place:
        workers = await place.processes.workers(3)
        for trial in range(2 * TRIALS):
            kill_leader = bool(trial % 2)
            leader = await _leader(place, workers)
            began = time.monotonic()
            task_id = await _unrung(place)
            if kill_leader:
                victim, workers = _parted(workers, leader, is_leader=True)
                await victim.kill()
            await _started(place, task_id, 30)
            took[kill_leader].append(time.monotonic() - began)
            if kill_leader:
                workers.append(await place.processes.worker())
        return [
            within("a push is lost: from there to running", took[False], 3),
            within("a push is lost and the leader dies: to running", took[True], 6),
        ]


async def redis_gone(folder: Path) -> list[Figure]:
    """Take Redis away, by death and by silence, and give it back."""
    killed: list[float] = []
    silent: list[float] = []
    back: list[float] = []
    back_after_silence: list[float] = []
    async with AsyncExitStack() as leaving:
        place = await leaving.enter_async_context(ground(folder, durable=True, **AS_INSTALLED))
        proxy = await leaving.enter_async_context(fault_proxy(place.stack.redis_url))
        workers = await place.processes.workers(2, REDIS_URL=proxy.url(place.stack.redis_url))
        for trial in range(2 * TRIALS):
            by_silence = bool(trial % 2)
            began = time.monotonic()
            if by_silence:
                proxy.hold()
            else:
                await place.stack.valkey.kill()
                await proxy.refuse()
            task_id = await _unrung(place)
            await _started(place, task_id, 30)
            (silent if by_silence else killed).append(time.monotonic() - began)

            await until(partial(_said, workers, "redis.lost", trial + 1), 15, "the loss of Redis")
            if not by_silence:
                await place.stack.valkey.start()
            healed = time.monotonic()
            await proxy.heal()
            await until(partial(_said, workers, "redis.regained", trial + 1), 15, "the return of Redis")
            (back_after_silence if by_silence else back).append(time.monotonic() - healed)
        return [
            within("Redis killed: first polled claim", killed, 2),
            within("Redis black-holed: first polled claim", silent, 4),
            within("Redis back after a death: noticed by all workers", back, 2),
            within("Redis back after silence: noticed by all workers", back_after_silence, 2),
        ]


async def flushed(folder: Path) -> list[Figure]:
    """Empty Redis under a backlog of 10,000, and see how long it takes until all of it is rung again."""
    count = 10_000
    async with ground(folder, **AS_INSTALLED) as place:
        workers = await place.processes.workers(2, concurrency=1)
        # Their only slots are taken: they sweep, and claim nothing.
        names = [f"slot-{number}" for number, _ in enumerate(workers)]
        for name in names:
            payload = {"folder": str(folder), "name": name}
            await place.submit([{"task_type": "prove.first_waits", "document_id": name, "payload": payload}])
            await place.marks.seen("begin", name, 1)
        await place.submit({"task_type": "noop"} for _ in range(count))
        await place.sql("UPDATE tasks SET rung_at = rung_at - interval '10 s' WHERE task_type = 'noop'")
        began = time.monotonic()
        await place.redis.flushall()  # pyright: ignore[reportUnknownMemberType]

        async def all_marked() -> bool:
            waiting = await place.number(
                "SELECT count(*) FROM tasks WHERE task_type = 'noop' AND rung_at < clock_timestamp() - interval '9 s'"
            )
            return not waiting

        await until(all_marked, 60, "the ringing of the backlog", every=0.05)
        took = time.monotonic() - began
        for name in names:
            place.marks.open_gate(name)
        return [within("FLUSHALL under 10,000 waiting: all rung again", [took], 10)]


async def postgres_restarts(folder: Path) -> list[Figure]:
    """Kill and restart Postgres under load."""
    took: list[float] = []
    async with ground(folder, durable=True, **AS_INSTALLED) as place:
        api = await place.processes.serve()
        await place.processes.workers(2)
        accepted: list[str] = []
        for _ in range(TRIALS):
            accepted += [(await api.submit("noop"))["id"] for _ in range(20)]
            await place.stack.postgres.kill()
            refused = await api.post("/api/tasks", {"taskType": "noop"})
            assert refused.status_code == 503, refused.text
            assert refused.json()["code"] == "database_unavailable", refused.text
            await place.stack.postgres.start()
            began = time.monotonic()
            while True:
                answer = await api.post("/api/tasks", {"taskType": "noop"})
                if answer.status_code == 201:
                    break
                assert answer.status_code == 503, answer.text
                await asyncio.sleep(0.02)
            accepted.append(answer.json()["id"])
            await _finished(place, accepted[-1], 30)
            took.append(time.monotonic() - began)
        await place.all_final(within=60)
        kept = await place.number("SELECT count(*) FROM tasks WHERE id = ANY($1::uuid[])", accepted)
        await api.aclose()
        return [
            within("Postgres killed and restarted: next task completed", took, 2),
            exactly("Postgres killed: acknowledged tasks that are there", int(kept), len(accepted)),
        ]


async def _leader(place: Ground, workers: Sequence[Process]) -> int:
    """Return the pid of that of these workers that leads the sweeper; one that was killed leads on for a moment."""
    living = {worker.pid for worker in workers}
    found: list[int] = []

    async def is_one() -> bool:
        rows = await place.sql(
            "SELECT w.pid FROM chore_leaders l JOIN workers w ON w.id = l.worker_id "
            "WHERE l.chore = 'sweeper' AND l.until > clock_timestamp()"
        )
        found[:] = [row["pid"] for row in rows if row["pid"] in living]
        return bool(found)

    await until(is_one, 15, "a leader")
    return found[0]


def _parted(workers: list[Process], leader: int, *, is_leader: bool) -> tuple[Process, list[Process]]:
    victim = next(worker for worker in workers if (worker.pid == leader) is is_leader)
    return victim, [worker for worker in workers if worker is not victim]


async def _unrung(place: Ground) -> str:
    """Store a task whose hint never arrives."""
    async with place.bench.runtime.ledger.transaction() as connection:
        request = TaskRequest.model_validate({"taskType": "noop"})
        submitted = await place.bench.runtime.submission.submit_within(LOCAL, connection, request)
    return submitted.task.id


async def _started(place: Ground, task_id: str, seconds: float) -> None:
    async def has() -> bool:
        return bool(await place.sql("SELECT FROM tasks WHERE id = $1 AND attempt > 0", task_id))

    await until(has, seconds, "the start of the task", every=0.01)


async def _finished(place: Ground, task_id: str, seconds: float) -> None:
    async def has() -> bool:
        return bool(await place.sql("SELECT FROM tasks WHERE id = $1 AND finished_at IS NOT NULL", task_id))

    await until(has, seconds, "the end of the task", every=0.01)


async def _said(workers: list[Process], event: str, times: int) -> bool:
    return all(len(worker.said(event)) >= times for worker in workers)
