"""The arena: two worker processes at one task, held back by a third party until both are there.

A round is a task, or a tree, with a document of its own. Rounds run by the wave:
what is to be raced for is arranged, the gate is closed, the actors come up to it
one after the other, and the last one's arrival opens it. Afterwards every round
is worked to its end, and the ledger is asked whether all of it was legal.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import count, pairwise
from typing import Any, Final, Literal, TypeAlias

import asyncpg

from officeplane.domain.ids import ClaimId, DocumentId, TaskId
from officeplane.domain.lifecycle import FINAL, TaskState, is_legal
from officeplane.domain.task import ClaimedTask, Task
from tests.support import eventually
from tests.workbench import Workbench

# The pool of a process has that many connections, and each actor waits on one.
WAVE: Final = 8
PASSES_MAX: Final = 12
_TURNS: Final = count(1)

Who = Literal["first", "second"]
Session: TypeAlias = "asyncpg.Connection[asyncpg.Record]"


class Gate(Enum):
    """What holds the actors back until all are there."""

    ROW = "the row is locked: they wait inside their statements, which have looked around already"
    TABLE = "the table is locked: they wait before their statements look around"
    TURNS = "no lock does: the second comes when the first is through"


@dataclass(slots=True, eq=False)
class Round:
    """One task, or one tree with its root first; its two actors; what each of them holds."""

    tasks: tuple[Task, ...]
    first: Workbench
    second: Workbench
    target: TaskId
    holds: dict[Who, ClaimedTask] = field(default_factory=dict[Who, ClaimedTask])
    retries: int = 0
    """How many explicit retries were accepted."""

    @property
    def document_id(self) -> DocumentId:
        """The document that everything here is about."""
        document_id = self.tasks[0].document_id
        assert document_id is not None
        return document_id

    def actor(self, who: Who) -> Workbench:
        """Return one of the two."""
        return self.first if who == "first" else self.second


Acting: TypeAlias = Coroutine[None, None, str]
Action = Callable[["Arena", Round, Who], Acting]
WaveAction = Callable[["Arena", Sequence[Round], Who], Acting]


@dataclass(frozen=True, slots=True)
class Act:
    """Something an actor does: in each round, or once for the whole wave, as a chore does."""

    name: str
    action: Action | None = None
    wave_action: WaveAction | None = None


class Arena:
    """Two processes on one installation, and a third party that can hold everything up."""

    def __init__(self, seeing: Workbench, blind: Workbench, keeper: Session, onlooker: Session) -> None:
        self._seeing = seeing
        self._blind = blind
        self._keeper = keeper
        # Within a transaction the list of sessions is always the one first seen: the keeper cannot look.
        self._onlooker = onlooker
        self._claims: dict[ClaimId, tuple[Workbench, ClaimedTask]] = {}
        self.fenced = 0
        self.reaped = 0

    async def clear(self) -> None:
        """Leave nothing of earlier waves."""
        # Far quicker than TRUNCATE for so few rows.
        await self._keeper.execute("DELETE FROM tasks; DELETE FROM events; DELETE FROM task_counters")
        await self._seeing.redis("FLUSHDB")
        self._claims.clear()
        self.fenced = self.reaped = 0

    async def rounds(self, number: int, **options: Any) -> list[Round]:
        """Submit a task for each round; the first actor sees Redis, the second does not."""
        documents = [f"document-{next(_TURNS)}" for _ in range(number)]
        given = [{"task_type": "noop", "document_id": document, **options} for document in documents]
        tasks = await self._seeing.submit_many(given)
        return [self._round((task,)) for task in tasks]

    async def trees(self, number: int, *children: Mapping[str, Any], **options: Any) -> list[Round]:
        """Submit a batch for each round."""
        documents = [f"document-{next(_TURNS)}" for _ in range(number)]
        trees = [self._seeing.a_batch(*children, document_id=document, **options) for document in documents]
        return [self._round(tree) for tree in await asyncio.gather(*trees)]

    async def claim(self, actor: Workbench, hint: Task) -> ClaimedTask | None:
        """Let an actor claim what a hint leads to."""
        found = await actor.claim(hint)
        for task in found:
            self._claims[task.claim_id] = (actor, task)
        return found[0] if found else None

    async def hold(self, wave: Iterable[Round], who: Who, leaf: int = 0) -> None:
        """Let an actor of each round claim one of its tasks."""

        async def one(round_: Round) -> None:
            claimed = await self.claim(round_.actor(who), round_.tasks[leaf])
            assert claimed is not None
            assert claimed.id == round_.tasks[leaf].id
            round_.holds[who] = claimed

        await asyncio.gather(*map(one, wave))

    async def lapse(self) -> None:
        """Let every lease run out, of handlers that were seen to run."""
        await self._keeper.execute(
            "UPDATE tasks SET handler_seen = true, lease_until = clock_timestamp() - interval '1 second' "
            "WHERE lease_until IS NOT NULL"
        )

    async def reap(self) -> None:
        """End what has lapsed; whoever held it does not know."""
        await self._blind.another_worker().worker.redelivery.reap()
        await self._absolve()

    async def race(self, wave: Sequence[Round], acts: tuple[Act, Act], gate: Gate, ahead: Who) -> list[list[str]]:
        """Let both actors of every round act, one of them ahead; return what each of the two got, round by round."""
        one = self._entrants(wave, acts[0], "first")
        other = self._entrants(wave, acts[1], "second")
        running: list[asyncio.Task[str]] = []
        async with self._closed(gate, wave):
            for entrants in (one, other) if ahead == "first" else (other, one):
                running += [asyncio.create_task(entrant()) for entrant in entrants]
                await self._all_there(running)
        await asyncio.gather(*running)
        groups = (running[: len(one)], running[len(one) :])
        if ahead == "second":
            groups = (running[len(other) :], running[: len(other)])
        return [[task.result() for task in group] * (len(wave) // len(group)) for group in groups]

    async def standing(self, wave: Sequence[Round]) -> list[str]:
        """Return, in words, how the tasks of each round stand."""
        rows = await self._keeper.fetch(
            "SELECT id::text, state, result ->> 'by' AS by, cancel_requested_at IS NOT NULL AS asked, "
            "ARRAY(SELECT kind FROM task_failures WHERE task_id = tasks.id ORDER BY attempt) AS failures FROM tasks"
        )
        told = {row["id"]: _told(row) for row in rows}
        return [", ".join(told[task.id] for task in round_.tasks) for round_ in wave]

    async def counted(self) -> dict[str, int]:
        """Return how often attempts ended, by outcome."""
        rows = await self._keeper.fetch("SELECT outcome, sum(count)::bigint AS n FROM task_counters GROUP BY 1")
        return {row["outcome"]: row["n"] for row in rows}

    async def finish(self, wave: Sequence[Round]) -> None:
        """Work whatever is unfinished to its end, as healthy workers would, and leave the lanes."""
        await self.reap()
        by_id = {task.id: (round_, task) for round_ in wave for task in round_.tasks}
        for _ in range(PASSES_MAX):
            await self._absolve()
            await wave[0].first.worker.redelivery.promote()
            rows = await self._keeper.fetch(
                "SELECT id::text, state, claim_id::text FROM tasks WHERE finished_at IS NULL AND runnable"
            )
            if not rows:
                break
            held = [self._claims[row["claim_id"]] for row in rows if row["state"] == TaskState.RUNNING]
            await self._quit_lost(task for _, task in held)
            free = [by_id[row["id"]] for row in rows if row["state"] in (TaskState.QUEUED, TaskState.RETRYING)]
            await asyncio.gather(*(actor.complete(task) for actor, task in held))
            await asyncio.gather(*(self.claim(round_.first.another_worker(), task) for round_, task in free))
        await self._quit_lost([])

    async def check(self, wave: Sequence[Round]) -> None:
        """Assert what must hold after any race."""
        rows = await self._keeper.fetch("SELECT id::text, state, runnable, document_id, attempt FROM tasks")
        events = await self._keeper.fetch(
            "SELECT e.id, upper(split_part(kind, '.', 2)) AS state, task_id::text "
            "FROM events e, unnest(task_ids) AS task_id "
            "WHERE kind NOT IN ('task.dead_lettered', 'task.updated') ORDER BY e.id"
        )
        steps: dict[str, list[str]] = {row["id"]: [] for row in rows}
        for event in events:
            steps[event["task_id"]].append(event["state"])
        for row in rows:
            assert row["state"] in FINAL, f"{row['id']} is {row['state']}"
            _assert_legal(steps[row["id"]], row)
        self._assert_retries(wave, steps)
        _assert_one_occupant(events, {row["id"]: row["document_id"] for row in rows if row["runnable"]})
        await self._assert_counted(events)
        await self._assert_nothing_is_left()

    def _round(self, tasks: tuple[Task, ...]) -> Round:
        return Round(tasks, self._seeing.another_worker(), self._blind.another_worker(), tasks[0].id)

    def _entrants(self, wave: Sequence[Round], act: Act, who: Who) -> list[Callable[[], Acting]]:
        if act.wave_action is not None:
            return [partial(act.wave_action, self, wave, who)]
        assert act.action is not None
        return [partial(act.action, self, round_, who) for round_ in wave]

    @asynccontextmanager
    async def _closed(self, gate: Gate, wave: Sequence[Round]) -> AsyncGenerator[None, None]:
        async with self._keeper.transaction():
            if gate is Gate.ROW:
                roots = sorted(round_.tasks[0].id for round_ in wave)
                await self._keeper.execute(
                    "SELECT FROM tasks WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE", roots
                )
            elif gate is Gate.TABLE:
                await self._keeper.execute("LOCK TABLE tasks IN EXCLUSIVE MODE")
            yield

    async def _all_there(self, running: Sequence["asyncio.Task[str]"]) -> None:
        """Return once every actor waits for a lock, or is through because it waits for none."""

        async def are() -> bool:
            waiting: int = await self._onlooker.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            return waiting == sum(not task.done() for task in running)

        await eventually(are, what="the arrival of all actors at the gate")

    async def _quit_lost(self, held: Iterable[ClaimedTask]) -> None:
        # A worker whose claim was lost hears of it and gives the document back.
        standing = {task.claim_id for task in held}
        for actor, task in self._claims.values():
            if task.claim_id not in standing and task.document_id is not None:
                await actor.worker.desk.quit_lanes([task.document_id])

    async def _absolve(self) -> None:
        # A worker takes one suspect at a time, and retries wait; neither is what is raced for here.
        await self._keeper.execute(
            "UPDATE tasks SET suspect = false, run_at = clock_timestamp() "
            "WHERE finished_at IS NULL AND (suspect OR run_at > clock_timestamp())"
        )

    @staticmethod
    def _assert_retries(wave: Sequence[Round], steps: Mapping[str, Sequence[str]]) -> None:
        for round_ in wave:
            left = sum(before in FINAL for before, _ in pairwise(steps[round_.target]))
            assert left == round_.retries, f"{round_.target} left a final state {left} times: {steps[round_.target]}"

    async def _assert_counted(self, events: Sequence["asyncpg.Record"]) -> None:
        told = Counter(event["state"].lower() for event in events)
        ended = {state.lower(): told[state.lower()] for state in (*FINAL, TaskState.RETRYING)}
        expected = {state: n for state, n in ended.items() if n} | ({"fenced": self.fenced} if self.fenced else {})
        found = {outcome: n for outcome, n in (await self.counted()).items() if outcome != "queued"}
        assert found == expected, f"counted {found}, told {expected}"

    async def _assert_nothing_is_left(self) -> None:
        held = await self._keeper.fetchval("SELECT count(*) FROM tasks WHERE lease_until IS NOT NULL")
        busy = await self._keeper.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND (state LIKE 'idle in transaction%' OR wait_event_type = 'Lock')"
        )
        keys = await self._seeing.redis("KEYS", "*")
        assert isinstance(keys, list)
        locks = [key for key in keys if ":doclock:" in str(key) or ":parked:" in str(key)]
        assert (held, busy, locks) == (0, 0, [])


def _told(row: "asyncpg.Record") -> str:
    told = str(row["state"])
    if row["by"] is not None:
        told += f" of {row['by']}"
    if row["asked"] and row["state"] not in FINAL:
        told += ", asked to stop"
    if row["failures"]:
        told += f" after {' and '.join(row['failures'])}"
    return told


def _assert_legal(steps: Sequence[str], row: "asyncpg.Record") -> None:
    assert steps, f"{row['id']} has no history"
    assert steps[0] in ("PENDING", "QUEUED"), steps
    assert steps[-1] == row["state"], steps
    for before, then in pairwise(steps):
        assert is_legal(TaskState(before), TaskState(then)), f"{before} to {then} in {steps}"
    assert steps.count("COMPLETED") <= 1, steps
    if row["runnable"]:
        assert steps.count("RUNNING") == row["attempt"], steps


def _assert_one_occupant(events: Sequence["asyncpg.Record"], document_of: Mapping[str, str | None]) -> None:
    occupants: dict[str, str] = {}
    for event in events:
        task_id = event["task_id"]
        # Without a document a task is in nobody's way but its own.
        if task_id not in document_of:
            continue
        document = document_of[task_id] or task_id
        if event["state"] == TaskState.RUNNING:
            assert document not in occupants, f"{task_id} and {occupants[document]} ran at once"
            occupants[document] = task_id
        elif occupants.get(document) == task_id:
            del occupants[document]
