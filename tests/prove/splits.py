"""Different views of the same world: half the workers without Redis, a wall clock that is wrong."""

import asyncio
import os
import shutil
import subprocess
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from tests.fault_proxy import fault_proxy
from tests.journeys.lanes import assert_in_order, assert_one_at_a_time, tasks_on_documents
from tests.prove.figures import Figure, exactly, noted
from tests.prove.ground import Ground, ground

SPLIT_SECONDS: Final = 60.0
_DOCUMENTS: Final = 40
# Of the two the one for programs with threads.
_LIBRARY: Final = "libfaketimeMT.so.1"


async def split(folder: Path) -> list[Figure]:
    """Let half the workers lose Redis for a minute while all work on the same documents."""
    async with AsyncExitStack() as leaving:
        place = await leaving.enter_async_context(ground(folder))
        proxy = await leaving.enter_async_context(fault_proxy(place.stack.redis_url))
        api = await place.processes.serve()
        seeing = await place.processes.workers(2, concurrency=5)
        blind = await place.processes.workers(2, concurrency=5, REDIS_URL=proxy.url(place.stack.redis_url))
        await proxy.refuse()
        bodies = tasks_on_documents(place.marks, 60_000, _DOCUMENTS, seconds=0.05)
        submitted, began = 0, time.monotonic()
        while time.monotonic() - began < SPLIT_SECONDS:
            await api.submit_many(bodies[submitted : submitted + 200])
            submitted += 200
            # As many as can be done, so that every document always has somebody.
            while await place.number("SELECT count(*) FROM tasks WHERE finished_at IS NULL") > 200:
                await asyncio.sleep(0.05)
        await proxy.heal()
        await place.all_final(within=60)
        await api.aclose()
        shares = Counter(mark.pid for mark in place.marks.all() if mark.what == "end")
        assert_one_at_a_time(place.marks)
        assert_in_order(place.marks)
        return [
            exactly("half without Redis for a minute: completed", await place.states(), {"COMPLETED": submitted}),
            exactly("half without Redis: completions, each once", await place.completions(), (submitted,) * 2),
            noted(
                "half without Redis: done by those with and without it",
                f"{sum(shares[one.pid] for one in seeing)} and {sum(shares[one.pid] for one in blind)}",
            ),
            noted("half without Redis: overlaps and inversions in 40 documents", "0", "0"),
        ]


async def clocks(folder: Path) -> list[Figure]:
    """Let one of two workers believe that it is an hour later."""
    folder.mkdir(parents=True, exist_ok=True)
    library = await asyncio.to_thread(_libfaketime, folder)
    if library is None:
        return [noted("a worker's clock an hour off", "libfaketime could not be fetched here: not measured")]
    figures: list[Figure] = []
    for offset in ("+1h", "-1h"):
        async with ground(folder / offset) as place:
            figures += await _with_clock(place, library, offset)
    return figures


async def _with_clock(place: Ground, library: Path, offset: str) -> list[Figure]:
    before = dict(os.environ)
    os.environ.update(LD_PRELOAD=str(library), FAKETIME=offset, FAKETIME_DONT_FAKE_MONOTONIC="1")
    try:
        wrong = await place.processes.start("worker", "--concurrency", "3")
    finally:
        os.environ.clear()
        os.environ.update(before)
    said = await wrong.says("worker.started")
    right = await place.processes.worker()
    bodies = tasks_on_documents(place.marks, 400, 20, seconds=0.01)
    await place.submit(
        {"task_type": b["taskType"], "document_id": b["documentId"], "payload": b["payload"]} for b in bodies
    )
    await place.submit({"task_type": "prove.fail", "payload": {"fails": 2}} for _ in range(40))
    long = {"task_type": "prove.last", "payload": {"seconds": 4}}
    await place.submit([long] * 2)
    await place.all_final(within=60)
    crashes = await place.number("SELECT count(*) FROM task_failures WHERE kind = 'crash'")
    shares = Counter(mark.pid for mark in place.marks.all() if mark.what == "end")
    early = await place.number(
        "SELECT count(*) FROM task_failures WHERE attempt > 1 AND started_at + make_interval(secs => 0) < "
        "(SELECT p.started_at + make_interval(secs => p.duration_seconds) FROM task_failures p "
        "  WHERE p.task_id = task_failures.task_id AND p.attempt = task_failures.attempt - 1) + interval '0.2 s'"
    )
    assert_one_at_a_time(place.marks)
    assert_in_order(place.marks)
    return [
        noted(f"a worker's clock {offset}: it says", str(said["timestamp"])),
        exactly(f"a worker's clock {offset}: completed", await place.states(), {"COMPLETED": 442}),
        exactly(f"a worker's clock {offset}: completions, each once", await place.completions(), (442, 442)),
        exactly(f"a worker's clock {offset}: leases that ran out", int(crashes), 0),
        exactly(f"a worker's clock {offset}: retries before their time", int(early), 0),
        noted(
            f"a worker's clock {offset}: done by it and by the other", f"{shares[wrong.pid]} and {shares[right.pid]}"
        ),
    ]


def _libfaketime(folder: Path) -> Path | None:
    """Fetch the library from Debian without installing it; None where that is not to be had."""
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        return None
    fetched = subprocess.run(["apt-get", "download", "libfaketime"], cwd=folder, capture_output=True, check=False)
    packages = list(folder.glob("libfaketime_*.deb"))
    if fetched.returncode or not packages:
        return None
    subprocess.run(["dpkg", "-x", str(packages[0]), str(folder / "faketime")], check=True)
    return next((folder / "faketime").rglob(_LIBRARY), None)
