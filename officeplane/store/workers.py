"""Workers in the ledger: who is alive, and who leads which chore."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from officeplane.domain.blockage import Blockage
from officeplane.domain.ids import TaskId, WorkerId
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("workers")


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """One worker process that says it is alive."""

    id: WorkerId
    host: str
    pid: int
    concurrency: int
    running: int
    task_types: tuple[str, ...]
    confinement: tuple[str, ...] | None
    """What holds the processes in which it opens files; None: its version does not tell."""
    started_at: datetime
    last_seen_at: datetime
    blocked: Blockage | None = None
    """What kept its event loop from turning when it was last seen."""
    silent_seconds: float = 0.0
    """How long ago that was, by the ledger's clock."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a worker says of itself every few seconds."""

    worker_id: WorkerId
    host: str
    pid: int
    concurrency: int
    running: int
    task_types: Sequence[str]
    confinement: Sequence[str]
    blocked: Blockage | None = None


async def beat(executor: Executor, heartbeat: Heartbeat) -> None:
    """Say that a worker is alive."""
    blocked = heartbeat.blocked
    await _SQL["beat"].fetch(
        executor,
        worker_id=heartbeat.worker_id,
        host=heartbeat.host,
        pid=heartbeat.pid,
        concurrency=heartbeat.concurrency,
        running=heartbeat.running,
        task_types=heartbeat.task_types,
        blocked_seconds=None if blocked is None else blocked.seconds,
        blocked_task_id=None if blocked is None else blocked.task_id,
        blocked_task_type=None if blocked is None else blocked.task_type,
        blocked_at=None if blocked is None else blocked.at,
        confinement=heartbeat.confinement,
    )


async def leave(executor: Executor, worker_id: WorkerId) -> None:
    """Take a worker that stopped off the list, and off its chores."""
    await _SQL["leave"].fetch(executor, worker_id=worker_id)


async def died(executor: Executor, host: str, pid: int) -> bool:
    """Take a worker off the list whose process was seen to end, and let its leases run out; False: it was not on it."""
    return bool(await _SQL["died"].fetch(executor, host=host, pid=pid))


async def known_types(executor: Executor, within_seconds: float) -> list[str]:
    """Return the task types that workers know which were seen within a time."""
    return [row["task_type"] for row in await _SQL["known_types"].fetch(executor, within_seconds=within_seconds)]


async def alive(executor: Executor, within_seconds: float) -> list[WorkerInfo]:
    """Return the workers seen within a time."""
    rows = await _SQL["alive"].fetch(executor, within_seconds=within_seconds)
    return [
        WorkerInfo(
            WorkerId(row["id"]),
            row["host"],
            row["pid"],
            row["concurrency"],
            row["running"],
            tuple(row["task_types"]),
            None if row["confinement"] is None else tuple(row["confinement"]),
            row["started_at"],
            row["last_seen_at"],
            _blocked(row),
            row["silent_seconds"],
        )
        for row in rows
    ]


async def lead(executor: Executor, worker_id: WorkerId, chores: Collection[str], seconds: float) -> set[str]:
    """Take or keep the lead of chores; return those now led."""
    rows = await _SQL["lead"].fetch(executor, worker_id=worker_id, chores=sorted(chores), seconds=seconds)
    return {row["chore"] for row in rows}


async def yield_lead(executor: Executor, worker_id: WorkerId, chores: Collection[str]) -> None:
    """Give up the lead of chores."""
    await _SQL["yield_lead"].fetch(executor, worker_id=worker_id, chores=sorted(chores))


async def forget(executor: Executor, silent_seconds: float) -> int:
    """Forget workers not heard of for long, keeping their counts; return how many."""
    (row,) = await _SQL["forget"].fetch(executor, silent_seconds=silent_seconds)
    return int(row["forgotten"])


def _blocked(row: Row) -> Blockage | None:
    if row["blocked_seconds"] is None:
        return None
    task_id = row["blocked_task_id"]
    return Blockage(
        row["blocked_seconds"],
        row["blocked_at"],
        None if task_id is None else TaskId(str(task_id)),
        row["blocked_task_type"],
    )
