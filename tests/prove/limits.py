"""Limits: deep backlogs, deep lanes, large batches, many retries at once."""

import asyncio
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Final

from tests.journeys.processes import Server
from tests.prove.figures import Figure, exactly, noted, within
from tests.prove.ground import Ground, ground

QUEUED: Final = 100_000
IN_ONE_LANE: Final = 10_000
BATCHES: Final = 10
CHILDREN: Final = 500
RETRIES: Final = 2_000


async def backlog(folder: Path) -> list[Figure]:
    """Queue 100,000 tasks, look at what a POST, a sweep and a claim cost, and let them drain."""
    async with ground(folder) as place:
        began = time.monotonic()
        for _ in range(QUEUED // 10_000):
            await place.submit({"task_type": "noop", "document_id": f"d{n % 5000}"} for n in range(10_000))
        stored = time.monotonic() - began
        api = await place.processes.serve()
        posts = [await _timed(_post(api)) for _ in range(200)]
        sweeps = [await _timed(place.bench.worker.redelivery.sweep()) for _ in range(5)]
        claimed = await _timed(_claim_some(place))
        began = time.monotonic()
        await place.processes.workers(2, concurrency=50)
        await place.all_final(within=280)
        drained = time.monotonic() - began
        await api.aclose()
        total = QUEUED + len(posts)
        return [
            noted("100,000 queued: stored", f"{stored:.1f} s"),
            within("100,000 queued: a POST on top (99 of 100)", [sorted(posts)[int(len(posts) * 0.99)]], 0.25),
            within("100,000 queued: a sweep", sweeps, 2, "less than its interval of 2 s"),
            within("100,000 queued: to claim 50 and give them back", [claimed], 1),
            noted("100,000 queued: drained by two workers", f"{drained:.1f} s, {total / drained:,.0f} tasks/s"),
            exactly("100,000 queued: completed, each once", await place.completions(), (total, total)),
        ]


async def lane(folder: Path) -> list[Figure]:
    """Queue 10,000 tasks on one document and let several workers do them in order."""
    async with ground(folder) as place:
        await place.submit({"task_type": "noop", "document_id": "contract"} for _ in range(IN_ONE_LANE))
        began = time.monotonic()
        await place.processes.workers(2, concurrency=4)
        await place.all_final(within=200)
        drained = time.monotonic() - began
        inversions = await place.number(
            "SELECT count(*) FROM (SELECT started_at < lag(started_at) OVER (ORDER BY seq) AS before FROM tasks) t "
            "WHERE before"
        )
        most = await place.number("SELECT max(attempt) FROM tasks")
        return [
            noted("10,000 on one document: drained", f"{drained:.1f} s, {IN_ONE_LANE / drained:,.0f} tasks/s"),
            exactly("10,000 on one document: inversions", int(inversions), 0),
            exactly("10,000 on one document: attempts a task", int(most), 1),
            exactly("10,000 on one document: completed, each once", await place.completions(), (IN_ONE_LANE,) * 2),
        ]


async def batches(folder: Path) -> list[Figure]:
    """Run batches of 500 children."""
    async with ground(folder) as place:
        await place.processes.workers(2, concurrency=10)
        began = time.monotonic()
        children = [{"task_type": "noop"} for _ in range(CHILDREN)]
        for number in range(BATCHES):
            await place.submit([{"document_id": f"d{number}", "children": children}])
        await place.all_final(within=280)
        took = time.monotonic() - began
        total = BATCHES * (CHILDREN + 1)
        return [
            noted("10 batches of 500 children", f"{took:.1f} s, {total / took:,.0f} children/s"),
            exactly("batches of 500: completed, each once", await place.completions(), (total, total)),
        ]


async def retries(folder: Path) -> list[Figure]:
    """Let 2,000 retries come due in the same second."""
    async with ground(folder, RETRY_INITIAL_SECONDS="600") as place:
        workers = await place.processes.workers(2, concurrency=50)
        await place.submit({"task_type": "prove.fail", "payload": {"fails": 1}} for _ in range(RETRIES))
        while (await place.states()).get("RETRYING", 0) < RETRIES:
            await asyncio.sleep(0.1)
        # One moment for all of them: the clock would tick between two rows.
        await place.sql("UPDATE tasks SET run_at = date_trunc('second', now()) + interval '2 s'")
        await place.all_final(within=120)
        took = await place.number("SELECT extract(epoch FROM max(finished_at) - max(run_at))::float8 FROM tasks")
        early = await place.number("SELECT count(*) FROM tasks WHERE started_at < run_at")
        moments = await place.number("SELECT count(DISTINCT run_at) FROM tasks")
        assert all(worker.is_running for worker in workers)
        return [
            within("2,000 retries due in one second: all done", [took], 10),
            exactly("2,000 retries: moments at which they were due", int(moments), 1),
            exactly("2,000 retries: begun before their time", int(early), 0),
            exactly("2,000 retries: completed, each once", await place.completions(), (RETRIES, RETRIES)),
        ]


async def _post(api: Server) -> None:
    answer = await api.post("/api/tasks", {"taskType": "noop"})
    assert answer.status_code == 201, answer.text


async def _timed(work: Awaitable[object]) -> float:
    began = time.monotonic()
    await work
    return time.monotonic() - began


async def _claim_some(place: Ground) -> None:
    worker = place.bench.another_worker()
    for task in await worker.worker.desk.claim_from_ledger(50):
        await worker.hand_back(task)
