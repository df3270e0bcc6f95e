"""The faults: one short coroutine each, which does harm, waits, and undoes what does not undo itself."""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import asyncpg
import redis.asyncio
from redis.exceptions import RedisError
from uuid_utils import uuid7

from officeplane.embedded.processes import living_in
from tests.chaos.orders import DOCUMENTS
from tests.chaos.supervisor import Installation, Member
from tests.fault_proxy import Direction, FaultProxy

_TERMINATE: Final = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'officeplane' AND pid % 3 = $1"
)
_SOME_TASKS: Final = "SELECT id::text FROM tasks ORDER BY state IN ('RUNNING', 'QUEUED') DESC, seq DESC LIMIT 40"
LISTS: Final = ("critical", "high", "tasks", "low")


@dataclass(slots=True)
class Scene:
    """What faults work on; a server can only be the victim of one fault at a time."""

    installation: Installation
    postgres_is_struck: asyncio.Lock = field(default_factory=asyncio.Lock)
    valkey_is_struck: asyncio.Lock = field(default_factory=asyncio.Lock)
    healing: bool = False

    def worker(self, victim: int) -> Member:
        """One of the workers."""
        return self.installation.workers[victim % len(self.installation.workers)]

    def api(self, victim: int) -> Member:
        """One of the APIs."""
        return self.installation.apis[victim % len(self.installation.apis)]

    def member(self, victim: int) -> Member:
        """Any process."""
        return self.installation.members[victim % len(self.installation.members)]


Inflict: TypeAlias = Callable[[Scene, int, float], Awaitable[int | None]]
"""Does harm to a victim for some seconds, and gives the pid of whoever died of it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of harm: how often, for how long, and what it touches."""

    name: str
    weight: float
    seconds: tuple[float, float]
    inflict: Inflict
    touches_redis: bool = False
    touches_postgres: bool = False


async def kill_worker(scene: Scene, victim: int, _seconds: float) -> int | None:
    """Kill -9 of a worker."""
    return scene.worker(victim).process.kill()


async def kill_leader(scene: Scene, _victim: int, _seconds: float) -> int | None:
    """Kill -9 of whichever worker leads the chores."""
    with suppress(OSError, TimeoutError, asyncpg.PostgresError):
        connection = await asyncpg.connect(scene.installation.stack.database_url, timeout=1)
        try:
            leader = await connection.fetchval("SELECT worker_id FROM chore_leaders WHERE chore = 'sweeper'")
        finally:
            connection.terminate()
        for member in scene.installation.workers:
            if leader is not None and str(member.process.pid) == leader.split(":")[2]:
                return member.process.kill()
    return None


async def kill_api(scene: Scene, victim: int, _seconds: float) -> int | None:
    """Kill -9 of an API process."""
    return scene.api(victim).process.kill()


async def freeze_worker(scene: Scene, victim: int, seconds: float) -> None:
    """SIGSTOP a worker, often beyond its lease, then let it go on."""
    process = scene.worker(victim).process
    process.freeze()
    await asyncio.sleep(seconds)
    process.thaw()


async def freeze_api(scene: Scene, victim: int, seconds: float) -> None:
    """SIGSTOP an API process, then let it go on."""
    process = scene.api(victim).process
    process.freeze()
    await asyncio.sleep(seconds)
    process.thaw()


async def roll(scene: Scene, _victim: int, _seconds: float) -> None:
    """SIGTERM to one worker after the other, as a deployment does."""
    for member in scene.installation.workers:
        before = member.process.ask_to_stop()
        for _ in range(80):
            await asyncio.sleep(0.1)
            if scene.healing or member.process.pid not in (before, None):
                break


async def drain_worker(scene: Scene, victim: int, _seconds: float) -> None:
    """SIGTERM to one worker."""
    scene.worker(victim).process.ask_to_stop()


async def drain_api(scene: Scene, victim: int, _seconds: float) -> None:
    """SIGTERM to one API process."""
    scene.api(victim).process.ask_to_stop()


async def kill_valkey(scene: Scene, _victim: int, seconds: float) -> None:
    """Kill -9 of Valkey, which comes back with what it had on disk."""
    async with scene.valkey_is_struck:
        await scene.installation.stack.valkey.kill()
        await asyncio.sleep(seconds)
        await scene.installation.stack.valkey.start()


async def empty_valkey(scene: Scene, _victim: int, seconds: float) -> None:
    """Kill -9 of Valkey, which comes back with nothing."""
    valkey = scene.installation.stack.valkey
    async with scene.valkey_is_struck:
        await valkey.kill()
        shutil.rmtree(valkey.folder / "appendonlydir", ignore_errors=True)
        await asyncio.sleep(seconds)
        await valkey.start()


async def freeze_valkey(scene: Scene, _victim: int, seconds: float) -> None:
    """SIGSTOP Valkey, then let it go on."""
    async with scene.valkey_is_struck:
        pid = scene.installation.stack.valkey.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            os.kill(pid, signal.SIGCONT)


async def kill_postgres(scene: Scene, _victim: int, seconds: float) -> None:
    """Kill -9 of the postmaster, and a start that recovers from it."""
    async with scene.postgres_is_struck:
        await scene.installation.stack.postgres.kill()
        await asyncio.sleep(seconds)
        await scene.installation.stack.postgres.start()


async def freeze_postgres(scene: Scene, _victim: int, seconds: float) -> None:
    """SIGSTOP Postgres, every process of it, then let it go on."""
    postgres = scene.installation.stack.postgres
    async with scene.postgres_is_struck:
        pids = living_in(postgres.folder, postgres.program_names)
        _signal_all(pids, signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            _signal_all(pids, signal.SIGCONT)


async def terminate_backends(scene: Scene, victim: int, _seconds: float) -> None:
    """pg_terminate_backend for some of the product's connections."""
    with suppress(OSError, TimeoutError, asyncpg.PostgresError):
        connection = await asyncpg.connect(scene.installation.stack.database_url, timeout=1)
        try:
            await connection.execute(_TERMINATE, victim % 3)
        finally:
            connection.terminate()


async def flush_all(scene: Scene, _victim: int, _seconds: float) -> None:
    """FLUSHALL."""
    await _command(scene, "FLUSHALL")


async def flush_scripts(scene: Scene, _victim: int, _seconds: float) -> None:
    """SCRIPT FLUSH."""
    await _command(scene, "SCRIPT", "FLUSH")


async def kill_clients(scene: Scene, _victim: int, _seconds: float) -> None:
    """CLIENT KILL of every connection."""
    await _command(scene, "CLIENT", "KILL", "TYPE", "normal")
    await _command(scene, "CLIENT", "KILL", "TYPE", "pubsub")


async def pause_clients(scene: Scene, _victim: int, seconds: float) -> None:
    """CLIENT PAUSE: everything is accepted and nothing answered."""
    await _command(scene, "CLIENT", "PAUSE", str(int(seconds * 1000)))


async def repeat_ids(scene: Scene, victim: int, _seconds: float) -> None:
    """Push ids of all kinds of tasks again, several times, onto lists they may not belong to."""
    with suppress(OSError, TimeoutError, asyncpg.PostgresError):
        connection = await asyncpg.connect(scene.installation.stack.database_url, timeout=1)
        try:
            rows = await connection.fetch(_SOME_TASKS)
        finally:
            connection.terminate()
        for name in LISTS[victim % 3 :]:
            for row in rows:
                await _command(scene, "LPUSH", f"officeplane:{name}", row["id"], row["id"])


async def push_garbage(scene: Scene, victim: int, _seconds: float) -> None:
    """Push what was never an id, and ids that were never ours."""
    dice = random.Random(victim)
    garbage = [dice.randbytes(20), b"", b"{}", b"x" * 100_000, str(uuid7()).encode(), str(uuid7()).upper().encode()]
    await _command(scene, "RPUSH", f"officeplane:{LISTS[victim % 4]}", *garbage)


async def replace_list(scene: Scene, victim: int, _seconds: float) -> None:
    """SET a string where a list should be, losing what was on it."""
    await _command(scene, "SET", f"officeplane:{LISTS[victim % 4]}", "not a list")


async def lose_lists(scene: Scene, _victim: int, _seconds: float) -> None:
    """DEL every list: the hints are lost, the locks stay."""
    await _command(scene, "DEL", *(f"officeplane:{name}" for name in LISTS))


async def leave_locks(scene: Scene, victim: int, _seconds: float) -> None:
    """Put a lock of nobody's on some documents, for as long as the product's own locks last."""
    dice = random.Random(victim)
    for document in dice.sample(DOCUMENTS, 6):
        value = f"worker:ghost:0:00000000:{uuid7()}"
        await _command(scene, "SET", f"officeplane:doclock:{document}", value, "PX", "6000", "NX")


async def hide_redis(scene: Scene, victim: int, seconds: float) -> None:
    """Redis is visible to one worker only."""
    hidden = [member.redis for index, member in enumerate(scene.installation.workers) if index != victim % 3]
    for proxy in hidden:
        await proxy.refuse()
    await asyncio.sleep(seconds)
    for proxy in hidden:
        await proxy.heal()


def on_link(trouble: Callable[[FaultProxy], Awaitable[None]], *, redis_side: bool) -> Inflict:
    """Return the fault that makes trouble on one process's link for a while."""

    async def inflict(scene: Scene, victim: int, seconds: float) -> None:
        member = scene.member(victim)
        proxy = member.redis if redis_side else member.postgres
        await trouble(proxy)
        await asyncio.sleep(seconds)
        await proxy.heal()

    return inflict


async def cut(proxy: FaultProxy) -> None:
    """Reset what is open."""
    proxy.cut()


async def refuse(proxy: FaultProxy) -> None:
    """Reset what is open and accept nothing."""
    await proxy.refuse()


async def swallow(proxy: FaultProxy) -> None:
    """Let nothing pass; it all arrives late."""
    proxy.hold()


async def slow_down(proxy: FaultProxy) -> None:
    """Let everything pass late."""
    proxy.delay_seconds = 0.15


def half_open(direction: Direction, *, redis_side: bool) -> Inflict:
    """Return the fault in which one side talks into the void until the connection is found dead."""

    async def inflict(scene: Scene, victim: int, seconds: float) -> None:
        member = scene.member(victim)
        proxy = member.redis if redis_side else member.postgres
        proxy.drop(direction)
        await asyncio.sleep(seconds)
        # Bytes that vanished do not come back in TCP; the connection is lost with them.
        proxy.cut()
        await proxy.heal()

    return inflict


async def heal(scene: Scene) -> None:
    """Undo everything that is still wrong."""
    scene.healing = True
    stack = scene.installation.stack
    for member in scene.installation.members:
        member.process.thaw()
        await member.postgres.heal()
        await member.redis.heal()
    for lock, server in ((scene.postgres_is_struck, stack.postgres), (scene.valkey_is_struck, stack.valkey)):
        async with lock:
            await server.start()
    await _command(scene, "CLIENT", "UNPAUSE")


async def _command(scene: Scene, *words: Any) -> None:
    client: Any = redis.asyncio.from_url(scene.installation.stack.redis_url, socket_timeout=1, socket_connect_timeout=1)
    try:
        with suppress(RedisError, OSError, TimeoutError):
            await client.execute_command(*words)
    finally:
        await client.aclose()


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


FAULTS: Final = (
    Fault("kill worker", 9, (0, 0), kill_worker),
    Fault("kill leader", 3, (0, 0), kill_leader),
    Fault("kill API", 4, (0, 0), kill_api),
    Fault("freeze worker", 13, (1.5, 4.5), freeze_worker),
    Fault("freeze API", 3, (0.5, 3), freeze_api),
    Fault("rolling SIGTERM", 1, (0, 0), roll),
    Fault("SIGTERM worker", 4, (0, 0), drain_worker),
    Fault("SIGTERM API", 2, (0, 0), drain_api),
    Fault("kill Valkey", 2, (0, 2.5), kill_valkey, touches_redis=True),
    Fault("restart Valkey empty", 2, (0, 2), empty_valkey, touches_redis=True),
    Fault("freeze Valkey", 2, (0.5, 3), freeze_valkey, touches_redis=True),
    Fault("FLUSHALL", 4, (0, 0), flush_all, touches_redis=True),
    Fault("SCRIPT FLUSH", 2, (0, 0), flush_scripts, touches_redis=True),
    Fault("CLIENT KILL", 3, (0, 0), kill_clients, touches_redis=True),
    Fault("CLIENT PAUSE", 2, (0.5, 3), pause_clients, touches_redis=True),
    Fault("repeated ids", 5, (0, 0), repeat_ids, touches_redis=True),
    Fault("garbage ids", 2, (0, 0), push_garbage, touches_redis=True),
    Fault("list replaced", 2, (0, 0), replace_list, touches_redis=True),
    Fault("lists lost", 3, (0, 0), lose_lists, touches_redis=True),
    Fault("locks of nobody", 2, (0, 0), leave_locks, touches_redis=True),
    Fault("Redis seen by one worker", 2, (1, 5), hide_redis, touches_redis=True),
    Fault("Redis link cut", 2, (0, 0), on_link(cut, redis_side=True), touches_redis=True),
    Fault("Redis link refused", 3, (0.5, 3), on_link(refuse, redis_side=True), touches_redis=True),
    Fault("Redis link black hole", 3, (0.5, 4), on_link(swallow, redis_side=True), touches_redis=True),
    Fault("Redis link slow", 2, (0.5, 3), on_link(slow_down, redis_side=True), touches_redis=True),
    Fault("Redis deaf", 2, (0.5, 3), half_open(Direction.REQUESTS, redis_side=True), touches_redis=True),
    Fault("Redis mute", 3, (0.5, 3), half_open(Direction.REPLIES, redis_side=True), touches_redis=True),
    Fault("Postgres link cut", 4, (0, 0), on_link(cut, redis_side=False), touches_postgres=True),
    Fault("Postgres link refused", 2, (0.5, 3), on_link(refuse, redis_side=False), touches_postgres=True),
    Fault("Postgres link black hole", 4, (0.5, 4), on_link(swallow, redis_side=False), touches_postgres=True),
    Fault("Postgres link slow", 2, (0.5, 2), on_link(slow_down, redis_side=False), touches_postgres=True),
    Fault("Postgres deaf", 2, (0.5, 3), half_open(Direction.REQUESTS, redis_side=False), touches_postgres=True),
    Fault("Postgres mute", 3, (0.5, 3), half_open(Direction.REPLIES, redis_side=False), touches_postgres=True),
    Fault("backends terminated", 4, (0, 0), terminate_backends, touches_postgres=True),
    Fault("kill Postgres", 1.5, (0, 1), kill_postgres, touches_postgres=True),
    Fault("freeze Postgres", 1, (0.3, 1.5), freeze_postgres, touches_postgres=True),
)
