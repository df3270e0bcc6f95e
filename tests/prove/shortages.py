"""Shortages: no connection, no disk, no memory; typed refusals or degraded work, then recovery by itself."""

import asyncio
import os
import subprocess
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import asyncpg
import httpx

from tests.journeys.processes import Server
from tests.prove.figures import Figure, exactly, noted, within
from tests.prove.ground import Ground, ground, until

_DISK: Final = "size=400m"
_ASKED: Final = 60


async def pool(folder: Path) -> list[Figure]:
    """Take every connection that Postgres has, and give them back."""
    async with ground(folder) as place:
        api = await place.processes.serve()
        workers = await place.processes.workers(2)
        await api.submit("noop")
        hoarded = await _hoard(place)
        answers = await _answers(api, 80, at_once=40)
        await _close(hoarded)
        recovered = await _recovery(api)
        await place.all_final(within=60)
        alive = all(worker.is_running for worker in workers)
        await api.aclose()
        return [
            noted("no connection left: 80 POSTs, 40 at once", _told(answers), "201 or 503"),
            exactly("no connection left: other answers", _untyped(answers), 0),
            within("no connection left: given back, to the next 201", [recovered], 5),
            exactly(
                "no connection left: the workers live, all was done", alive and len(await place.states()) == 1, True
            ),
        ]


async def disk(folder: Path) -> list[Figure]:
    """Fill the disk under Postgres, and empty it again."""
    if os.geteuid() != 0:
        return [noted("Postgres's disk full", "not measured: only root may mount a small disk")]
    async with _small_disk(folder) as data, ground(folder, data=data) as place:
        api = await place.processes.serve()
        workers = await place.processes.workers(2)
        body = {"taskType": "test.say", "payload": {"said": "x" * 100_000}}
        accepted = [(await api.post("/api/tasks", body)).json()["id"]]
        filler = data / "filler"
        with suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * (1 << 16))
        answers: Counter[str] = Counter()
        for _ in range(400):
            answer = await api.post("/api/tasks", body)
            answers[_kind(answer)] += 1
            if answer.status_code == 201:
                accepted.append(answer.json()["id"])
            if answers["503 database_unavailable"] >= 20:
                break
        reading = (await api.get("/api/tasks?limit=1")).status_code
        was_up = place.stack.postgres.running
        filler.unlink()
        if not was_up:
            # A full disk under its log takes the postmaster down; somebody has to start it again.
            await place.stack.postgres.start()
        recovered = await _recovery(api)
        await place.all_final(within=120)
        kept = await place.number("SELECT count(*) FROM tasks WHERE id = ANY($1::uuid[])", accepted)
        alive = all(worker.is_running for worker in workers)
        states = await place.states()
        await api.aclose()
        return [
            noted("disk full: POSTs of 100 kB", _told(answers), "201, then 503"),
            exactly("disk full: other answers", _untyped(answers), 0),
            noted("disk full: GET meanwhile; Postgres stayed up", f"{reading}; {was_up}"),
            within("disk full: emptied, to the next 201", [recovered], 5),
            exactly("disk full: acknowledged tasks that are there", int(kept), len(accepted)),
            exactly("disk full: the workers live, all was done", (alive, list(states)), (True, ["COMPLETED"])),
        ]


async def memory(folder: Path) -> list[Figure]:
    """Let Redis refuse every write for want of memory, and give it memory again."""
    async with ground(folder) as place:
        api = await place.processes.serve()
        workers = await place.processes.workers(2)
        await api.submit("noop", documentId="before")
        await place.redis.config_set("maxmemory", "1")  # pyright: ignore[reportUnknownMemberType]
        answers: Counter[str] = Counter()
        slowest = 0.0
        for number in range(_ASKED):
            began = time.monotonic()
            answer = await api.post("/api/tasks", {"taskType": "noop", "documentId": f"d{number % 5}"})
            slowest = max(slowest, time.monotonic() - began)
            answers[_kind(answer)] += 1
        done = await place.all_final(within=30)
        degraded = (await api.get("/api/health/ready")).json()
        await place.redis.config_set("maxmemory", "0")  # pyright: ignore[reportUnknownMemberType]

        async def pushes_again() -> bool:
            return bool((await api.get("/api/health/ready")).json()["status"] == "ok")

        began = time.monotonic()
        await until(pushes_again, 20, "health")
        healthy = time.monotonic() - began
        last = await api.final(await api.submit("noop", documentId="after"))
        alive = all(worker.is_running for worker in workers)
        await api.aclose()
        return [
            exactly("Redis out of memory: POSTs", dict(answers), {"201": _ASKED}),
            within("Redis out of memory: slowest POST", [slowest], 0.5),
            within("Redis out of memory: all done after the last POST", [done], 4),
            noted("Redis out of memory: health says", f"{degraded['status']}, dispatch by {degraded['dispatch']}"),
            within("Redis has memory again: health is ok", [healthy], 3),
            exactly("Redis has memory again: the workers live and work", (alive, last["state"]), (True, "COMPLETED")),
        ]


async def _hoard(place: Ground) -> "list[asyncpg.Connection[asyncpg.Record]]":
    """Take connections until the server has none, ending those of the others' that are idle."""
    hoarded: list[asyncpg.Connection[asyncpg.Record]] = []
    misses = 0
    while misses < 20:
        try:
            hoarded.append(await asyncpg.connect(place.stack.database_url, timeout=5))
        except (asyncpg.exceptions.TooManyConnectionsError, OSError):
            misses += 1
            await hoarded[0].execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'officeplane'"
            )
            await asyncio.sleep(0.02)
    return hoarded


async def _close(connections: "list[asyncpg.Connection[asyncpg.Record]]") -> None:
    await asyncio.gather(*(connection.close() for connection in connections))


async def _answers(api: Server, count: int, *, at_once: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for _ in range(0, count, at_once):
        answers = await asyncio.gather(*(api.post("/api/tasks", {"taskType": "noop"}) for _ in range(at_once)))
        found.update(map(_kind, answers))
    return found


def _kind(answer: httpx.Response) -> str:
    return "201" if answer.status_code == 201 else f"{answer.status_code} {answer.json().get('code')}"


def _untyped(answers: Counter[str]) -> int:
    return sum(count for kind, count in answers.items() if kind not in ("201", "503 database_unavailable"))


def _told(answers: Counter[str]) -> str:
    return ", ".join(f"{count} x {kind}" for kind, count in sorted(answers.items()))


async def _recovery(api: Server) -> float:
    """Return how long it takes until a POST is accepted again."""
    began = time.monotonic()
    while (await api.post("/api/tasks", {"taskType": "noop"})).status_code != 201:
        assert time.monotonic() - began < 30
        await asyncio.sleep(0.02)
    return time.monotonic() - began


@asynccontextmanager
async def _small_disk(folder: Path) -> AsyncGenerator[Path, None]:
    mounted = folder / "disk"
    mounted.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", _DISK, "none", str(mounted)], check=True)
    try:
        # Postgres does not run as root, and must be let through.
        folder.chmod(0o755)
        yield mounted / "data"
    finally:
        subprocess.run(["umount", "--lazy", str(mounted)], check=True)
