"""A site: one installation for one case after the other, and what must hold of it in the end."""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL, TaskState, is_legal
from officeplane.domain.task import Task
from officeplane.store.migrate import migrate
from tests import contents
from tests.failpoints.cases import Kind
from tests.forks import Fork, Forks
from tests.kept import empty
from tests.support import eventually
from tests.workbench import Workbench, open_workbench
from tests.workers.marks import Marks

HANDLERS: Final = "tests.failpoints.handlers"
TIMES: Final = {
    "LEASE_SECONDS": "1.5",
    # A task that is alone in two processes which crash is poison by the rules, and here they crash by order.
    "POISON_CRASHES": "5",
    "HEARTBEAT_SECONDS": "0.3",
    "SWEEP_SECONDS": "0.3",
    "POLL_SECONDS": "0.2",
    "BREAKER_FAILURE_THRESHOLD": "1000000",
    "RETRY_INITIAL_SECONDS": "0.05",
    "DRAIN_SECONDS": "5",
}
# For what takes a few: as many cases as there are sites have their processes at once, and the machine may be slow.
END_SECONDS: Final = 50.0
_RELEASE_SECONDS: Final = 20.0
_ELSEWHERE: Final = "worker:elsewhere"


class Site:
    """Servers' share of one case at a time; processes on it; the tests' own hands."""

    def __init__(self, urls: tuple[str, str], prefix: str, forks: Forks, benches: tuple[Workbench, Workbench]) -> None:
        self.database_url, self.redis_url = urls
        self.marks = Marks(Path())
        self._prefix = prefix
        self._forks = forks
        self._seeing, self._blind = benches
        self._running: list[Fork] = []

    def bench(self, kind: Kind) -> Workbench:
        """Return the hands for a kind: those that see Redis, or those that do not."""
        return self._blind if kind is Kind.POLLED else self._seeing

    async def clear(self, folder: Path) -> None:
        """Leave nothing of earlier cases."""
        folder.mkdir()
        self.marks = Marks(folder)
        await empty(self.database_url, self.redis_url, self._prefix)

    async def worker(self, kind: Kind, failpoint: str = "", *, seed: int = 0, **times: str) -> Fork:
        """Start a worker, perhaps one that will crash, and return it when it works; its times may be others."""
        worker = await self._start("worker", kind, failpoint, seed, **times)
        await worker.says("worker.started")
        return worker

    async def serve(self, kind: Kind, failpoint: str = "") -> tuple[Fork, str]:
        """Start an API server, perhaps one that will crash, and return it with its URL."""
        server = await self._start("serve", kind, failpoint)
        return server, str((await server.says("serve.listening"))["url"])

    async def end_all(self) -> None:
        """Stop what still runs; all of it must stop well."""
        running, self._running = self._running, []
        statuses = await asyncio.gather(*(fork.stop() for fork in running if not fork.status.done()))
        assert not any(statuses), statuses

    async def warm_up(self, kind: Kind) -> None:
        """Let the worker work a little."""
        await self.bench(kind).a_task()
        await self.all_final()

    async def id_of(self, title: str) -> TaskId:
        """Return the id of the task with this title."""
        (row,) = await self._blind.execute("SELECT id::text FROM tasks WHERE title = $1", title)
        return TaskId(row["id"])

    async def all_final(self) -> None:
        """Return once every task has ended."""

        async def are() -> bool:
            rows = await self._blind.execute("SELECT id::text, state FROM tasks WHERE finished_at IS NULL")
            assert not rows, rows
            return True

        await eventually(are, within=END_SECONDS, what="the end of every task")

    async def lanes_are_free(self, kind: Kind, documents: set[str]) -> None:
        """Assert that one more task of each document runs, and that no lock stays behind."""
        bench = self.bench(kind)
        for document in documents:
            await bench.a_task(document_id=document)
        await self.all_final()

        async def are() -> bool:
            left = [key for key in await self._keys() if ":doclock:" in key or ":parked:" in key]
            assert not left, left
            return True

        await eventually(are, within=_RELEASE_SECONDS, what="the release of every lock")
        assert not await bench.execute("SELECT id FROM tasks WHERE lease_until IS NOT NULL")

    async def check(self, expected: dict[str, str], *, are_marked: bool = True) -> None:
        """Assert that these tasks, by title, ended as they must, each effect once, and by legal steps."""
        rows = await self._blind.execute(
            "SELECT id::text, title, state, runnable, generation, attempt, attempts_charged, "
            "(result ->> 'attempt')::integer AS of_attempt, "
            "ARRAY(SELECT kind FROM task_failures WHERE task_id = tasks.id) AS failures "
            "FROM tasks WHERE title IS NOT NULL ORDER BY seq"
        )
        assert {row["title"]: row["state"] for row in rows} == expected
        assert len(rows) == len(expected)
        ends = Counter((mark.name, mark.attempt) for mark in self.marks.all() if mark.what == "end")
        for row in rows:
            steps = await self._steps(row["id"])
            assert steps.count("COMPLETED") == (row["state"] == TaskState.COMPLETED), steps
            assert steps[-1] == row["state"], steps
            assert all(is_legal(TaskState(before), TaskState(then)) for before, then in pairwise(steps)), steps
            assert sum(before in FINAL for before in steps[:-1]) == row["generation"] - 1, steps
            if row["runnable"]:
                self._check_attempts(row, steps)
                if are_marked:
                    self._check_marks(row, ends)

    async def check_document(self, document_id: str, names: list[str]) -> None:
        """Assert that each of these tasks has made one revision, in their order, and that the file says so."""
        rows = await self._blind.execute(
            "SELECT t.title, r.revision, r.base FROM revisions r LEFT JOIN tasks t ON t.id = r.task_id "
            "WHERE r.document_id = $1 ORDER BY r.revision",
            document_id,
        )
        assert [(row["title"], row["revision"], row["base"]) for row in rows] == [
            (name, number + 1, number) for number, name in enumerate([None, *names])
        ]
        outline = await contents.outline(self._blind.runtime, document_id)
        assert [chapter["text"] for chapter in outline] == names

    def _check_attempts(self, row: dict[str, Any], steps: list[str]) -> None:
        assert steps.count("RUNNING") == row["attempt"], steps
        assert set(row["failures"]) <= {"error", "crash", "permanent"}, row
        assert row["attempts_charged"] <= len(row["failures"]) or row["state"] == TaskState.CANCELLED, row
        if row["state"] == TaskState.COMPLETED:
            assert row["of_attempt"] in (row["attempt"], None), row

    def _check_marks(self, row: dict[str, Any], ends: Counter[tuple[str, int]]) -> None:
        if row["state"] == TaskState.COMPLETED:
            assert ends[row["title"], row["attempt"]] == 1, ends
        assert not any(count > 1 for (name, _), count in ends.items() if name == row["title"]), ends

    async def ended_ahead(self) -> list[str]:
        """Return the titles of the tasks that were settled with the one before them, in their order."""
        rows = await self._blind.execute(
            "SELECT title FROM tasks WHERE EXISTS ("
            "  SELECT FROM events began JOIN events ended ON ended.xid = began.xid"
            "   WHERE began.kind = 'task.running' AND ended.kind = 'task.completed'"
            "     AND tasks.id = ANY(began.task_ids) AND tasks.id = ANY(ended.task_ids)) ORDER BY seq"
        )
        return [row["title"] for row in rows]

    async def _steps(self, task_id: str) -> list[str]:
        rows = await self._blind.execute(
            "SELECT upper(split_part(kind, '.', 2)) AS state FROM events WHERE $1::uuid = ANY(task_ids) "
            "AND upper(split_part(kind, '.', 2)) = ANY($2::text[]) ORDER BY id",
            task_id,
            list(TaskState),
        )
        return [row["state"] for row in rows]

    async def _keys(self) -> list[str]:
        keys = await self._seeing.redis("KEYS", f"{self._prefix}:*")
        assert isinstance(keys, list)
        return [str(key) for key in keys]

    async def _start(self, program: str, kind: Kind, failpoint: str, seed: int = 0, **times: str) -> Fork:
        arguments = ("--port", "0") if program == "serve" else ("--concurrency", "3")
        fork = await self._forks.start(
            program,
            *arguments,
            DATABASE_URL=self.database_url,
            REDIS_URL="" if kind is Kind.POLLED else self.redis_url,
            KEY_PREFIX=self._prefix,
            HANDLERS=HANDLERS,
            LOG_FORMAT="json",
            FAILPOINTS=failpoint,
            FAILPOINTS_SEED=str(seed),
            **{**TIMES, **times},
        )
        self._running.append(fork)
        return fork

    async def leave_to_promoter(self) -> None:
        """Lose every hint, and have the sweeper led elsewhere: a retry that is due has only one way to a worker."""
        await self._seeing.redis("DEL", *self._seeing.runtime.doorbell.connection.keys.hint_lists)
        await self._seeing.execute(
            "INSERT INTO chore_leaders (chore, worker_id, until) "
            "VALUES ('sweeper', $1, clock_timestamp() + interval '1 hour')",
            _ELSEWHERE,
        )

    async def let_sweep(self) -> None:
        """Let whoever comes next lead the sweeper."""
        await self._seeing.execute("DELETE FROM chore_leaders WHERE worker_id = $1", _ELSEWHERE)

    async def forget_rings(self, *, is_retry: bool) -> None:
        """Lose every hint, of tasks that were rung a while ago."""
        await self._seeing.redis("DEL", *self._seeing.runtime.doorbell.connection.keys.hint_lists)
        due = "run_at = clock_timestamp() - interval '20 s', " if is_retry else ""
        rung = f"{due}rung_at = clock_timestamp() - interval '10 s'"
        await self._seeing.execute(f"UPDATE tasks SET {rung} WHERE finished_at IS NULL")  # noqa: S608

    async def leave_lock_of_the_dead(self, document_id: str) -> None:
        """Leave a lock behind as a worker does that dies between lock and claim."""
        key = self._seeing.runtime.doorbell.connection.keys.lock(document_id)
        await self._seeing.redis("SET", key, "worker:gone:hold", "PX", "600000")


@asynccontextmanager
async def open_site(database_url: str, redis_url: str, forks: Forks) -> AsyncGenerator[Site, None]:
    """Open a site on a database of its own, under a prefix of its own."""
    prefix = f"sweep-{secrets.token_hex(4)}"
    await migrate(database_url)
    given: dict[str, Any] = {"handlers": (HANDLERS,), "key_prefix": prefix, "retry_initial_seconds": 0.05}
    async with AsyncExitStack() as leaving:
        benches = [
            await leaving.enter_async_context(open_workbench(database_url, redis, **given)) for redis in (redis_url, "")
        ]
        yield Site((database_url, redis_url), prefix, forks, (benches[0], benches[1]))


async def lapse(bench: Workbench) -> None:
    """Let every lease run out, of handlers that were seen to run."""
    await bench.execute(
        "UPDATE tasks SET handler_seen = true, lease_until = clock_timestamp() - interval '1 hour' "
        "WHERE lease_until IS NOT NULL"
    )


def leaf(tasks: list[Task]) -> Task:
    """Return the first task that runs by itself."""
    return next(task for task in tasks if not task.is_batch)
