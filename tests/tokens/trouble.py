"""Trouble: workers, sandboxed children, API servers and Redis are struck while clients go on."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from tests.journeys.processes import SHORT_LEASE, Process, Processes
from tests.support import eventually

WORKERS: Final = 3
_NURSERY: Final = "officeplane.sandbox.nursery"
# Nobody gives up because of what is done to it here: every edit has to come through.
_CRASHES_MAX: Final = "20"

Strike = Callable[["Trouble"], Awaitable[None]]


@dataclass(slots=True)
class Trouble:
    """The processes that are struck, and how often each blow fell."""

    processes: Processes
    lease_seconds: float
    stop_redis: Callable[[], Awaitable[None]]
    start_redis: Callable[[], Awaitable[None]]
    dice: Random
    workers: list[Process] = field(default_factory=list[Process])
    struck: Counter[str] = field(default_factory=Counter[str])
    orphans: set[int] = field(default_factory=set[int])

    async def begin(self) -> None:
        """Start the workers."""
        self.workers += await asyncio.gather(*(self.worker() for _ in range(WORKERS)))

    async def worker(self) -> Process:
        """Start a worker and return it when it works; while clients and blows go on, that may take a while."""
        process = await self.processes.start(
            "worker", "--concurrency", "3", POISON_CRASHES=_CRASHES_MAX, RETRY_MULTIPLIER="1", LEASE_SECONDS=SHORT_LEASE
        )
        await process.says("worker.started", within=60)
        return process

    async def make(self, ended: Callable[[], int], times: int) -> None:
        """Strike that often, in turn; work has to go on after each blow."""
        for number in range(times):
            strike = _STRIKES[number % len(_STRIKES)]
            enough = ended() + 5
            await strike(self)
            self.struck[strike.__name__.strip("_")] += 1
            await eventually(partial(_reached, ended, enough), within=60, what=f"work after {strike.__name__}")

    async def all_children_are_gone(self) -> None:
        """Return when nothing is left of workers that were killed."""
        await eventually(lambda: not any(_is_sandbox(pid) for pid in self.orphans), what="the end of orphans")


def _reached(ended: Callable[[], int], enough: int) -> bool:
    return ended() >= enough


async def _kill_worker(trouble: Trouble) -> None:
    victim = trouble.dice.randrange(WORKERS)
    nurseries = _nurseries_of(trouble.workers[victim].pid)
    trouble.orphans.update(nurseries, *(_children_of(pid) for pid in nurseries))
    await trouble.workers[victim].kill()
    trouble.workers[victim] = await trouble.worker()


async def _kill_child(trouble: Trouble) -> None:
    """Kill sandboxed children, as soon as there are any."""

    def some() -> list[int]:
        return [child for worker in trouble.workers for pid in _nurseries_of(worker.pid) for child in _children_of(pid)]

    for pid in await eventually(some, what="a child"):
        if _is_sandbox(pid):
            _kill(pid)


async def _kill_nursery(trouble: Trouble) -> None:
    """Kill what gives birth to the children of a worker."""
    worker = trouble.dice.choice(trouble.workers)
    for pid in await eventually(lambda: _nurseries_of(worker.pid), what="a nursery"):
        _kill(pid)


async def _freeze_worker(trouble: Trouble) -> None:
    """Stop a worker in its tracks until others have its leases."""
    worker = trouble.dice.choice(trouble.workers)
    worker.freeze()
    try:
        await asyncio.sleep(trouble.lease_seconds * 1.75)
    finally:
        worker.thaw()


async def _kill_redis(trouble: Trouble) -> None:
    await trouble.stop_redis()
    try:
        await asyncio.sleep(trouble.dice.uniform(0.5, 2))
    finally:
        await trouble.start_redis()


_STRIKES: Final[tuple[Strike, ...]] = (_kill_child, _kill_worker, _freeze_worker, _kill_redis, _kill_nursery)


def _nurseries_of(worker: int) -> list[int]:
    return [pid for pid in _children_of(worker) if _is_sandbox(pid)]


def _children_of(pid: int) -> list[int]:
    with suppress(OSError):
        return [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for child in (thread / "children").read_text().split()
        ]
    return []


def _is_sandbox(pid: int) -> bool:
    with suppress(OSError):
        return _NURSERY.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
