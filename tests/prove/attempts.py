"""Attempts that are lost: zombies that come back, workers told to stop with work in hand."""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Final

from tests.forks import Fork, forks
from tests.prove.figures import Figure, exactly, noted, within
from tests.prove.ground import HANDLERS, Ground, ground, until

ZOMBIES: Final = 200
DRAINS: Final = 200
_WORKERS: Final = 4
_GRACE_SECONDS: Final = 1.0


async def zombies(folder: Path) -> list[Figure]:
    """Freeze workers past their leases and let them go on, until that many attempts were zombies."""
    async with ground(folder, HEARTBEAT_SECONDS="0.4", LEASE_SECONDS="1.5", SWEEP_SECONDS="0.3") as place:
        workers = await place.processes.workers(_WORKERS, concurrency=10)
        frozen_attempts = cycle = 0
        while frozen_attempts < ZOMBIES:
            frozen_attempts += await _freeze_some(place, [worker.pid for worker in workers], cycle)
            cycle += 1
        tasks = int(await place.number("SELECT count(*) FROM tasks"))
        stale = await place.number(
            "SELECT count(*) FROM tasks WHERE attempt > 1 AND (result ->> 'attempt')::integer <> attempt"
        )
        stopped = sum(len(worker.said("attempt.fenced")) for worker in workers)
        return [
            noted("zombies: attempts frozen past their lease", str(frozen_attempts), f"at least {ZOMBIES}"),
            exactly("zombies: tasks completed, and how often", await place.completions(), (tasks, tasks)),
            exactly("zombies: results that are not of the last attempt", int(stale), 0),
            noted(
                "zombies: what became of them",
                f"{stopped} settled and were fenced, {frozen_attempts - stopped} heard first that they were lost",
            ),
            exactly("zombies: fenced ones that the metrics count", await place.counted("fenced"), stopped),
        ]


async def _freeze_some(place: Ground, pids: list[int], cycle: int) -> int:
    names = [f"z{cycle}-{number}" for number in range(20)]
    await place.submit(
        {"task_type": "prove.first_waits", "document_id": name, "payload": {"folder": str(place.folder), "name": name}}
        for name in names
    )

    async def all_begun() -> bool:
        return sum(mark.what == "begin" and mark.name in names for mark in place.marks.all()) >= len(names)

    await until(all_begun, 20, "the beginning of every first attempt")
    first = {mark.name: mark.pid for mark in place.marks.all() if mark.what == "begin" and mark.name in names}
    victims = [pid for pid, _ in Counter(first.values()).most_common(2)]
    trials = [name for name, pid in first.items() if pid in victims]
    _signal(victims, signal.SIGSTOP)
    try:
        # Those that still run are let go, and the frozen ones' tasks go to them, a suspect at a time.
        for name in set(names) - set(trials):
            place.marks.open_gate(name)

        async def all_taken_over() -> bool:
            ended = {mark.name for mark in place.marks.all() if mark.what == "end" and mark.pid not in victims}
            return set(names) <= ended

        await until(all_taken_over, 40, "the takeover of what was frozen")
        for name in trials:
            place.marks.open_gate(name)
    finally:
        _signal(victims, signal.SIGCONT)
    assert set(victims) <= set(pids)
    await place.all_final(within=20)

    async def all_awake() -> bool:
        # A renewal or a settlement has told them by the time they work again.
        woken = await place.sql(
            "SELECT pid FROM workers WHERE last_seen_at > clock_timestamp() - interval '1 s' AND running = 0"
        )
        return set(victims) <= {row["pid"] for row in woken}

    await until(all_awake, 20, "the awakening of the frozen")
    return len(trials)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        os.kill(pid, number)


async def drains(folder: Path) -> list[Figure]:
    """Tell workers to stop at random moments, with work in hand, and see that nothing is lost or charged."""
    async with ground(folder) as place, forks(folder) as ordering:
        settings = place.bench.runtime.settings
        environment = {
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url,
            "KEY_PREFIX": settings.key_prefix,
            "HANDLERS": HANDLERS,
            "LOG_FORMAT": "json",
            "DRAIN_SECONDS": str(_GRACE_SECONDS),
            "SWEEP_SECONDS": "0.5",
        }
        # Half of them are done within the grace, half must be handed back.
        await place.submit(
            {
                "task_type": "prove.last",
                "document_id": f"d{number % 100}",
                "payload": {"seconds": 0.3 if number % 2 else 3},
            }
            for number in range(600)
        )
        dice, took, busy, statuses = random.Random(1), list[float](), 0, Counter[int]()
        left = DRAINS

        async def trials() -> None:
            nonlocal left, busy
            while left > 0:
                left -= 1
                worker: Fork = await ordering.start("worker", "--concurrency", "4", **environment)
                await worker.says("worker.started")
                await asyncio.sleep(dice.uniform(0.0, 0.6))
                began = time.monotonic()
                worker.terminate()
                statuses[await worker.ended()] += 1
                took.append(time.monotonic() - began)
                drained = worker.said("worker.draining")
                busy += bool(drained and drained["running"])

        await asyncio.gather(*(trials() for _ in range(4)))
        in_hand = await place.number("SELECT count(*) FROM tasks WHERE lease_until IS NOT NULL")
        handed_back = await place.counted("queued")
        await place.sql("UPDATE tasks SET payload = '{\"seconds\": 0}' WHERE finished_at IS NULL")
        await place.processes.workers(2, concurrency=10)
        await place.all_final(within=60)
        states, failures = await place.states(), await place.number("SELECT count(*) FROM task_failures")
        charged = await place.number("SELECT sum(attempts_charged) FROM tasks")
        return [
            exactly("SIGTERM: exit codes", dict(statuses), {0: DRAINS}),
            noted("SIGTERM: with work in hand", f"{busy} of {DRAINS}; {handed_back} attempts handed back"),
            within("SIGTERM: from the signal to the exit", took, _GRACE_SECONDS + 2, "grace 1 s + 2 s"),
            exactly("SIGTERM: attempts left leased", int(in_hand), 0),
            exactly("SIGTERM: tasks completed, none lost", states, {"COMPLETED": 600}),
            exactly("SIGTERM: completions, each once", await place.completions(), (600, 600)),
            exactly("SIGTERM: failures and charges", (int(failures), int(charged)), (0, 0)),
        ]
