"""The workbench: a plane with its hands visible, for tests that are both client and worker.

It speaks to the run's real Postgres and Valkey. Two workbenches on one database
are two worker processes as far as the ledger can tell.
"""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any

from officeplane.config import Settings
from officeplane.dispatch.commands import packed
from officeplane.dispatch.pools import Reply
from officeplane.domain.blockage import Blockage
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded
from officeplane.domain.principal import LOCAL, Principal
from officeplane.domain.request import TaskRequest
from officeplane.domain.space import DEFAULT, Space
from officeplane.domain.task import ClaimedTask, Task, TaskDetails
from officeplane.runtime import Runtime, WorkerServices, open_runtime, worker_services
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Settlement
from officeplane.store.workers import Heartbeat
from tests.kept import a_ledger, a_sandbox
from tests.support import eventually


@dataclass(frozen=True, slots=True)
class Workbench:
    """A runtime and one worker's services on it."""

    runtime: Runtime
    worker: WorkerServices
    caller: Principal = LOCAL
    """Who submits and looks."""

    def called_by(self, caller: Principal) -> "Workbench":
        """Return the same plane and worker in the hands of somebody else."""
        return Workbench(self.runtime, self.worker, caller)

    def another_worker(self) -> "Workbench":
        """Return a second worker on the same runtime."""
        return Workbench(self.runtime, worker_services(self.runtime))

    async def a_task(self, task_type: str = "noop", **options: Any) -> Task:
        """Submit a task; options are named as in the Python API."""
        return (await self.submit({"task_type": task_type, **options}))[0]

    async def a_batch(self, *children: Mapping[str, Any], **options: Any) -> tuple[Task, ...]:
        """Submit a batch and return the parent, then every task below it in order."""
        return await self.submit({"children": list(children), **options})

    async def a_deep_lane(self, document_id: str, count: int, **options: Any) -> list[TaskId]:
        """Submit many tasks of one document and return their ids in order."""
        given = {"task_type": "noop", "document_id": document_id, **options}
        return [task.id for task in await self.submit_many([given] * count)]

    async def submit_many(self, given: Iterable[Mapping[str, Any]]) -> list[Task]:
        """Submit a bulk and return its tasks without those below them."""
        requests = [TaskRequest.from_python(options) for options in given]
        return [stored.task for stored in await self.runtime.submission.submit_many(self.caller, requests)]

    async def submit(self, options: Mapping[str, Any], caller: Principal | None = None) -> tuple[Task, ...]:
        """Submit one request and return every task it became."""
        request = TaskRequest.from_python(options)
        return (await self.runtime.submission.submit(caller or self.caller, request)).tasks

    async def claim(self, *tasks: Task) -> list[ClaimedTask]:
        """Claim what these tasks, as hints, lead to."""
        return await self.worker.desk.claim([task.id for task in tasks])

    async def claim_next(self, task: Task) -> ClaimedTask:
        """Claim the one thing that this task, as a hint, leads to."""
        (claimed,) = await self.claim(task)
        return claimed

    async def a_running_task(self, task_type: str = "noop", **options: Any) -> ClaimedTask:
        """Submit a task and claim it."""
        (claimed,) = await self.claim(await self.a_task(task_type, **options))
        return claimed

    async def settle(self, task: ClaimedTask, outcome: Outcome) -> Settlement:
        """End an attempt, and leave its lane."""
        (settled,) = await self.settle_together([EndedAttempt(task, outcome)])
        if task.document_id is not None:
            await self.worker.desk.leave_lanes([task.document_id])
        return settled

    async def settle_together(self, attempts: Sequence[EndedAttempt], *, only_lapsed: bool = False) -> list[Settlement]:
        """End attempts in one settlement, and stay in their lanes."""
        return await self.runtime.settlements.settle(
            attempts, counted_by=self.worker.worker_id, only_lapsed=only_lapsed
        )

    async def complete(self, task: ClaimedTask, result_json: str | None = None) -> Settlement:
        """End an attempt well."""
        return await self.settle(task, Succeeded(result_json))

    async def fail(self, task: ClaimedTask, kind: FailureKind = FailureKind.ERROR) -> Settlement:
        """End an attempt badly."""
        return await self.settle(task, Failed(Failure(kind, "it went wrong")))

    async def crash(self, task: ClaimedTask) -> Settlement:
        """End an attempt with the death of its child process."""
        return await self.settle(task, Failed(Failure(FailureKind.CRASH, "exit status 9"), killed_its_child=True))

    async def end(self, task: Task, state: str) -> None:
        """Bring a task without retries, whose turn has come, to a final state."""
        match state:
            case "COMPLETED":
                await self.complete(await self.claim_next(task))
            case "TIMEOUT":
                await self.fail(await self.claim_next(task), FailureKind.TIMEOUT)
            case "CANCELLED":
                await self.runtime.cancellation.cancel(LOCAL, task.id, None)
            case _:
                await self.exhaust(task)

    async def hand_back(self, task: ClaimedTask) -> Settlement:
        """Give an attempt back, as a worker that drains does."""
        return await self.settle(task, HandedBack())

    async def details(self, task_id: TaskId) -> TaskDetails:
        """Return a task with its failures and children, as it is now."""
        return await self.runtime.tasks.find(self.caller, task_id)

    async def state(self, task: Task | ClaimedTask) -> TaskState:
        """Return the state a task is in now."""
        return (await self.details(task.id)).task.state

    async def states(self, *tasks: Task | ClaimedTask) -> list[str]:
        """Return the states that tasks are in now, in their order."""
        return [(await self.state(task)).value for task in tasks]

    async def exhaust(self, task: Task) -> None:
        """Let a task fail for good at its next attempt."""
        claimed = await self.claim_next(task)
        assert claimed.id == task.id
        await self.fail(claimed, FailureKind.PERMANENT)

    async def redis(self, *arguments: str) -> Reply:
        """Send Redis one command of the test's own, which a machine that stands still for a moment does not fail."""
        (reply,) = await self.runtime.doorbell.connection.ask([packed(*arguments)], within_seconds=20)
        return reply

    async def rung(self, space: Space = DEFAULT) -> list[str]:
        """Return the hints on all lists of a space, in the order in which a worker takes them."""
        lists = self.runtime.doorbell.connection.keys.hint_lists_of(space)
        replies = [await self.redis("LRANGE", name, "0", "-1") for name in lists]
        return [str(hint) for reply in replies if isinstance(reply, list) for hint in reversed(reply)]

    async def hush(self) -> None:
        """Empty the hint lists, as pops that came to nothing would."""
        keys = self.runtime.doorbell.connection.keys
        of_spaces = await self.redis("KEYS", f"{keys.spaces}*")
        assert isinstance(of_spaces, list)
        await self.redis("DEL", *keys.hint_lists, *keys.turns, *map(str, of_spaces))

    async def let_rings_age(self) -> None:
        """Make whatever was rung have been rung some time ago."""
        await self.execute("UPDATE tasks SET rung_at = rung_at - interval '10 seconds' WHERE finished_at IS NULL")

    async def make_due(self) -> None:
        """Let every retry and every scheduled task come due now."""
        await self.execute("UPDATE tasks SET run_at = now() WHERE run_at > now() AND finished_at IS NULL")

    async def let_days_pass(self, days: float, *tasks: Task) -> None:
        """Make tasks, their keys and all events be that many days older."""
        shift = f"interval '{days} days'"
        ids = [task.id for task in tasks]
        async with self.runtime.ledger.transaction() as connection:
            # A final row may not be changed; only a test turns time back.
            await connection.execute("SET LOCAL session_replication_role = replica")
            await connection.execute(
                f"UPDATE tasks SET created_at = created_at - {shift}, finished_at = finished_at - {shift} "  # noqa: S608
                "WHERE id = ANY($1::uuid[])",
                ids,
            )
            await connection.execute(
                f"UPDATE idempotency_keys SET created_at = created_at - {shift} WHERE task_id = ANY($1::uuid[])",  # noqa: S608
                ids,
            )
            await connection.execute(f"UPDATE events SET at = at - {shift}")  # noqa: S608

    async def events(self, *tasks: Task | ClaimedTask) -> list[str]:
        """Return the kinds of the events of tasks, in the order in which they happened."""
        rows = await self.execute(
            "SELECT kind FROM (SELECT xid, id, kind, unnest(task_ids) AS task_id FROM events) e "
            "WHERE task_id = ANY($1::uuid[]) ORDER BY xid, id",
            [task.id for task in tasks],
        )
        return [row["kind"] for row in rows]

    async def counters(self) -> dict[tuple[str, str, str], int]:
        """Return how often attempts ended, by type, outcome and reason."""
        rows = await self.execute(
            "SELECT task_type, outcome, reason, sum(count) AS n FROM task_counters GROUP BY 1, 2, 3"
        )
        return {(row["task_type"], row["outcome"], row["reason"]): int(row["n"]) for row in rows}

    async def somebody_waits_for_a_lock(self) -> None:
        """Return once a statement in this database waits for another's lock."""

        async def waits() -> bool:
            return bool(
                await self.execute(
                    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
                )
            )

        await eventually(waits, what="a wait for a lock")

    async def waiter_for(self, session: int) -> int:
        """Return the session that waits for what another holds, once there is one."""
        waiters: list[int] = []

        async def waits() -> bool:
            rows = await self.execute("SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))", session)
            waiters.extend(row["pid"] for row in rows)
            return bool(waiters)

        await eventually(waits, what=f"somebody who waits for session {session}")
        return waiters[0]

    async def beat(
        self,
        *,
        running: int = 0,
        concurrency: int = 3,
        task_types: Iterable[str] | None = None,
        blocked: Blockage | None = None,
    ) -> None:
        """Let this worker say that it is alive."""
        known = self.runtime.catalogue.runnable if task_types is None else list(task_types)
        beat = Heartbeat(self.worker.worker_id, "host", 7, concurrency, running, known, ["seccomp"], blocked)
        await self.worker.leases.beat(beat)

    async def execute(self, sql: str, *args: object) -> list[dict[str, Any]]:
        """Run SQL of the test's own, as an operator with psql would."""
        return [dict(row) for row in await self.runtime.ledger.fetch(sql, *args)]

    async def clock(self) -> datetime:
        """Return the ledger's time."""
        (row,) = await self.execute("SELECT clock_timestamp() AS now")
        now: datetime = row["now"]
        return now

    async def let_leases_lapse(self) -> None:
        """Make every lease run out now."""
        await self.execute("UPDATE tasks SET lease_until = now() - interval '1 hour' WHERE lease_until IS NOT NULL")


@asynccontextmanager
async def open_workbench(
    database_url: str, redis_url: str, handlers: Iterable[ModuleType | str] = (), **settings: Any
) -> AsyncGenerator[Workbench, None]:
    """Open a plane with one worker's services; further settings override the defaults."""
    # What tests break on purpose is not to hold whole types back; tests of that say so.
    options: dict[str, Any] = {"breaker_failure_threshold": 1_000_000, **settings}
    given = Settings(database_url=database_url, redis_url=redis_url, **options)
    async with (
        a_ledger(database_url) as ledger,
        a_sandbox(given) as sandbox,
        open_runtime(given, handlers, ledger=ledger, sandbox=sandbox) as runtime,
    ):
        bench = Workbench(runtime, worker_services(runtime))
        yield bench
        await bench.worker.editing.lookahead.close()
