"""Whatever clients, workers and accidents do in whatever order, the ledger keeps its laws.

Every change of a state is noted by a trigger of the test's own, so that nothing
a statement does on the way goes unseen.

A life is drawn as a whole before it begins. What the ledger answers is not the
same each time (which suspect is taken, say), and draws that followed from it
could be neither repeated nor shrunk. So a step names what happens, what happens
instead where that is impossible, and numbers that are taken modulo how many
there are to choose from.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from officeplane.domain.dead_letter import Decision, Ruling
from officeplane.domain.errors import DeadLetterNotFoundError, IllegalStateError, LetterResolvedError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL, REOPENABLE, WAITING, TaskState, is_legal
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask, Task
from officeplane.runtime import WorkerServices, worker_services
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced
from officeplane.store.migrate import migrate
from tests.conftest import NewDatabase
from tests.kept import empty
from tests.workbench import Workbench, open_workbench

YESTERDAY: Final = datetime.now(UTC) - timedelta(days=1)
TOMORROW: Final = datetime.now(UTC) + timedelta(days=1)
STEPS_MIN, STEPS_MAX = 15, 25
WORKERS: Final = 3

NOTING = """
CREATE TABLE moves (n bigint GENERATED ALWAYS AS IDENTITY, task_id uuid, was text, became text, kind text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO moves (task_id, was, became, kind)
    VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.state END, NEW.state, NEW.error ->> 'kind');
    RETURN NULL;
END $$;
CREATE TRIGGER note_insert AFTER INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_update AFTER UPDATE ON tasks FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION note();
"""

RUNNABLE = """
WITH heads AS (
    SELECT DISTINCT ON (document_id) id, document_id, suspect, run_at FROM tasks
     WHERE runnable AND document_id IS NOT NULL AND state IN ('QUEUED', 'RETRYING') AND (run_at <= now() OR NOT yields)
     ORDER BY document_id, rank, seq
)
SELECT id, suspect FROM heads
 WHERE run_at <= now() AND document_id NOT IN (
       SELECT document_id FROM tasks
        WHERE document_id IS NOT NULL AND runnable AND state IN ('CLAIMED', 'RUNNING', 'VALIDATING'))
 UNION ALL
SELECT id, suspect FROM tasks
 WHERE runnable AND document_id IS NULL AND state IN ('QUEUED', 'RETRYING') AND run_at <= now()
"""

CROWDED = """
SELECT document_id FROM tasks
 WHERE runnable AND document_id IS NOT NULL AND state IN ('CLAIMED', 'RUNNING', 'VALIDATING')
 GROUP BY 1 HAVING count(*) > 1
"""

FAMILIES = """
SELECT p.id, p.state, p.blockers, array_agg(c.state) AS children,
       count(*) FILTER (WHERE c.blockers = 0 AND c.finished_at IS NULL) AS turns
  FROM tasks p JOIN tasks c ON c.parent_id = p.id GROUP BY p.id
"""

TOLD = """
SELECT task_id, array_agg(kind ORDER BY xid, id, place) AS kinds
  FROM events, unnest(task_ids) WITH ORDINALITY AS t(task_id, place)
 WHERE kind NOT IN ('task.dead_lettered', 'task.updated') GROUP BY 1
"""
MOVED = "SELECT task_id, array_agg('task.' || lower(became) ORDER BY n) AS kinds FROM moves GROUP BY 1"

LETTERS = """
SELECT t.id, t.runnable AND t.state IN ('FAILED', 'TIMEOUT') AS has_given_up,
       (SELECT count(*) FROM moves m
         WHERE m.task_id = t.id AND t.runnable AND m.became IN ('FAILED', 'TIMEOUT')) AS generations,
       (SELECT count(*) FROM moves m
         WHERE m.task_id = t.id AND t.runnable AND m.became IN ('FAILED', 'TIMEOUT')
           AND m.kind IN ('invalid_edit', 'edit_conflict')) AS answers,
       (SELECT count(*) FROM events e WHERE t.id = ANY(e.task_ids) AND e.kind = 'task.dead_lettered') AS told,
       (SELECT count(*) FROM dead_letters l WHERE l.task_id = t.id) AS letters,
       (SELECT count(*) FROM dead_letters l
         WHERE l.task_id = t.id AND l.resolved_at IS NULL AND l.generation = t.generation) AS unresolved,
       (SELECT count(*) FROM dead_letters l WHERE l.task_id = t.id AND l.resolved_at IS NULL) AS unresolved_of_any,
       (SELECT count(*) FROM dead_letter_decisions d WHERE d.task_id = t.id) AS decisions
  FROM tasks t
"""

LATEST_LETTERS = "SELECT DISTINCT ON (task_id) task_id, resolution FROM dead_letters ORDER BY task_id, generation DESC"

SOME_DAY = st.sampled_from([None, None, None, TOMORROW])
KINDS = st.sampled_from([FailureKind.ERROR, FailureKind.TIMEOUT, FailureKind.CRASH, *FailureKind])
Request: TypeAlias = dict[str, object]
NEEDED: dict[str, st.SearchStrategy[object]] = {
    "task_type": st.just("noop"),
    "max_retries": st.integers(0, 1),
    "priority": st.sampled_from([0, 50, 50, 90]),
}
OPTIONAL: dict[str, st.SearchStrategy[object]] = {
    "document_id": st.sampled_from(["a", "b"]),
    "on_retry": st.just("yield"),
    "run_at": SOME_DAY,
    "deadline": st.sampled_from([YESTERDAY, TOMORROW]),
    "boost_per_minute": st.sampled_from([0.0, 50.0]),
    "retry": st.sampled_from([{"strategy": "immediate"}, {"strategy": "fixed", "initial_seconds": 3600}]),
}
PATCHES: st.SearchStrategy[Request] = st.fixed_dictionaries(
    {"priority": st.sampled_from([0, 50, 90])},
    optional=dict.fromkeys(("runAt", "deadline"), st.sampled_from([YESTERDAY, TOMORROW])),
)
LEAVES: st.SearchStrategy[Request] = st.fixed_dictionaries(NEEDED, optional=OPTIONAL)


def _batches(children: st.SearchStrategy[Request]) -> st.SearchStrategy[Request]:
    inner: dict[str, st.SearchStrategy[object]] = {"children": st.lists(children, min_size=1, max_size=3)}
    options: dict[str, st.SearchStrategy[object]] = {
        "on_child_failure": st.sampled_from(["abort", "continue"]),
        "document_id": st.sampled_from(["a", "b"]),
        "run_at": SOME_DAY,
    }
    return st.fixed_dictionaries(inner, optional=options)


REQUESTS = st.recursive(LEAVES, _batches, max_leaves=4)
BATCHES_OF_BATCHES = _batches(_batches(LEAVES) | LEAVES)
FAILURES = st.builds(Failed, st.builds(Failure, KINDS, st.just("it went wrong")), killed_its_child=st.booleans())
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(st.just(Succeeded(None)), st.just(HandedBack()), FAILURES, FAILURES)

# What is named more often happens more often, and what comes first does so most: a failing life shrinks to it.
ALWAYS: Final = (
    *["claim"] * 4 + ["submit"] * 4,
    *["retry"] * 2 + ["decide"] * 2 + ["patch"] * 2 + ["cancel"],
    *("let_time_pass", "rank_anew", "promote"),
)
AT_TIMES: Final = (*["settle"] * 8, *["crash"] * 3, *["settle_too_late"] * 2, "renew")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens, as it is drawn before anything has happened."""

    action: str
    instead: str
    which: int
    worker: int
    by_hints: bool
    outcome: Outcome
    decision: Decision
    patch: Request
    request: Request


WHICH: Final = st.integers(0, 2**16)
REQUESTED: Final = REQUESTS | BATCHES_OF_BATCHES


@st.composite
def _steps(draw: st.DrawFn) -> Step:
    action, instead = draw(st.sampled_from(AT_TIMES + ALWAYS)), draw(st.sampled_from(ALWAYS))
    return Step(
        action=action,
        instead=instead,
        which=draw(WHICH),
        worker=draw(st.integers(0, WORKERS - 1)),
        by_hints=draw(st.booleans()),
        outcome=draw(OUTCOMES),
        decision=draw(st.sampled_from(Decision)),
        patch=draw(PATCHES),
        request=draw(REQUESTED) if "submit" in {action, instead} else {},
    )


STEPS: Final = st.lists(_steps(), min_size=STEPS_MIN, max_size=STEPS_MAX)


@dataclass(slots=True)
class Life:
    """A plane with a few workers, and what happens to it."""

    bench: Workbench
    workers: list[WorkerServices]
    tasks: dict[TaskId, Task] = field(default_factory=dict[TaskId, Task])
    held: dict[TaskId, tuple[WorkerServices, ClaimedTask]] = field(
        default_factory=dict[TaskId, tuple[WorkerServices, ClaimedTask]]
    )
    lost: list[tuple[WorkerServices, ClaimedTask]] = field(default_factory=list[tuple[WorkerServices, ClaimedTask]])
    seen: int = 0

    async def submit(self, request: Request) -> None:
        for task in await self.bench.submit(request):
            self.tasks[task.id] = task

    async def claim(self, worker: WorkerServices, *, by_hints: bool) -> None:
        # Failures hold types back; that has tests of its own.
        await self.bench.execute("DELETE FROM valves")
        # Nor does anything come due between the two looks at what can be claimed.
        await self.bench.execute(
            "UPDATE tasks SET run_at = run_at + interval '1 hour' "
            "WHERE run_at > now() AND run_at < now() + interval '1 hour' AND finished_at IS NULL"
        )
        runnable = {TaskId(str(row["id"])): row["suspect"] for row in await self.bench.execute(RUNNABLE)}

        if by_hints:
            claimed = await worker.desk.claim(list(self.tasks))
        else:
            claimed = await worker.desk.claim_from_ledger(100)

        taken = {task.id for task in claimed}
        assert taken <= runnable.keys()
        assert {task_id for task_id, suspect in runnable.items() if not suspect} <= taken
        assert len(taken & {task_id for task_id, suspect in runnable.items() if suspect}) <= 1
        self.held.update({task.id: (worker, task) for task in claimed})

    async def settle(self, which: int, outcome: Outcome) -> None:
        worker, task = self.held.pop(self._one_of(self.held, which))
        settled = await self._settled(worker, task, outcome)
        assert not isinstance(settled, Fenced)

    async def settle_too_late(self, which: int, outcome: Outcome) -> None:
        worker, task = self.lost.pop(which % len(self.lost))
        before = await self._moves()
        settled = await self._settled(worker, task, outcome)
        assert isinstance(settled, Fenced)
        assert await self._moves() == before

    async def renew(self, which: int) -> None:
        worker, task = self.held[self._one_of(self.held, which)]
        assert await worker.leases.renew([(task.id, task.claim_id)], 30) == set()

    async def crash(self, which: int) -> None:
        worker, _ = self.held[self._one_of(self.held, which)]
        self.workers[self.workers.index(worker)] = worker_services(self.bench.runtime)
        mine = [task_id for task_id in self._in_order(self.held) if self.held[task_id][0] is worker]
        self.lost += [self.held.pop(task_id) for task_id in mine]
        await self.bench.execute(
            "UPDATE tasks SET lease_until = now() - interval '1 hour' WHERE lease_until IS NOT NULL AND worker_id = $1",
            worker.worker_id,
        )
        assert await self.workers[0].redelivery.reap() == len(mine)

    async def cancel(self, which: int) -> None:
        hearing = frozenset(TaskState) - set(FINAL)
        await self._asked(which, self.bench.runtime.cancellation.cancel, hearing, "wanted elsewhere")

    async def retry(self, which: int) -> None:
        await self._asked(which, self.bench.runtime.reopening.retry, frozenset(REOPENABLE))

    async def patch(self, which: int, given: Request) -> None:
        patch = TaskPatch.model_validate(given)
        await self._asked(which, self.bench.runtime.patches.patch, frozenset(WAITING), patch)

    async def decide(self, which: int, decision: Decision) -> None:
        known = {TaskId(str(row["task_id"])): row["resolution"] for row in await self.bench.execute(LATEST_LETTERS)}
        task_id = self._one_of(known or self.tasks, which)
        payload: dict[str, object] | None = {} if decision is Decision.MODIFY_AND_RETRY else None
        resolve = self.bench.runtime.dead_letters.resolve(
            LOCAL, task_id, Ruling(decision, "alice", "Why not."), payload
        )
        if known.get(task_id, "") is None:
            await resolve
        else:
            with pytest.raises(LetterResolvedError if known else DeadLetterNotFoundError):
                await resolve

    async def rank_anew(self) -> None:
        await self.workers[0].ranks.rank_anew()

    async def let_time_pass(self) -> None:
        await self.bench.execute(
            "UPDATE tasks SET run_at = now() - interval '1 second' WHERE run_at > now() AND finished_at IS NULL"
        )

    async def promote(self) -> None:
        await self.workers[0].redelivery.promote()

    async def work_off(self) -> None:
        """Do all that is left to do, and find that it has an end."""
        for n in range(100):
            await self.let_time_pass()
            await self.promote()
            await self.claim(self.workers[n % WORKERS], by_hints=n % 2 == 0)
            if not self.held and not await self._unfinished():
                return
            for task_id in list(self.held):
                worker, task = self.held.pop(task_id)
                await self.bench.runtime.settlements.settle(
                    [EndedAttempt(task, Succeeded(None))], counted_by=worker.worker_id
                )
                await self._leave(worker, task)
        assert await self._unfinished() == []

    async def do(self, step: Step) -> None:
        """Let one thing happen, and find every law kept."""
        impossible = step.action in AT_TIMES and not (self.lost if step.action == "settle_too_late" else self.held)
        action = step.instead if impossible else step.action
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "submit": lambda: self.submit(step.request),
            "claim": lambda: self.claim(self.workers[step.worker], by_hints=step.by_hints),
            "settle": lambda: self.settle(step.which, step.outcome),
            "settle_too_late": lambda: self.settle_too_late(step.which, step.outcome),
            "renew": lambda: self.renew(step.which),
            "crash": lambda: self.crash(step.which),
            "cancel": lambda: self.cancel(step.which),
            "retry": lambda: self.retry(step.which),
            "decide": lambda: self.decide(step.which, step.decision),
            "patch": lambda: self.patch(step.which, step.patch),
            "rank_anew": self.rank_anew,
            "let_time_pass": self.let_time_pass,
            "promote": self.promote,
        }
        await actions[action]()
        await self.check(action)

    async def check(self, action: str) -> None:
        """Find every law kept."""
        assert await self.bench.execute(CROWDED) == []
        for family in await self.bench.execute(FAMILIES):
            children = family["children"]
            assert (family["state"] == "COMPLETED") == (set(children) == {"COMPLETED"}), family
            if family["state"] in FINAL:
                assert set(children) <= set(FINAL), family
            else:
                assert family["turns"] == (0 if family["blockers"] else 1), family
        moves = await self._moves()
        for move in moves[self.seen :]:
            was, became = move["was"], TaskState(move["became"])
            if was is None:
                assert became in {TaskState.PENDING, TaskState.QUEUED}
                continue
            assert is_legal(TaskState(was), became), move
            assert was not in FINAL or action in {"retry", "decide"}, move
        self.seen = len(moves)
        told = {row["task_id"]: row["kinds"] for row in await self.bench.execute(TOLD)}
        assert told == {row["task_id"]: row["kinds"] for row in await self.bench.execute(MOVED)}

        for row in await self.bench.execute(LETTERS):
            # What its sender is answered is a letter only if others wait for it.
            assert row["letters"] == row["told"], row
            assert row["generations"] - row["answers"] <= row["letters"] <= row["generations"], row
            # One that was left by a retry is resolved; one that was not may have been decided.
            assert row["unresolved"] <= row["has_given_up"], row
            assert row["unresolved"] == row["unresolved_of_any"], row
            assert row["decisions"] >= row["letters"] - row["unresolved"], row

    async def _asked(
        self, which: int, action: Callable[..., Awaitable[object]], hearing: frozenset[TaskState], *more: object
    ) -> None:
        task_id = self._one_of(self.tasks, which)
        state = (await self.bench.details(task_id)).task.state
        if state in hearing:
            await action(LOCAL, task_id, *(more or ()))
        else:
            with pytest.raises(IllegalStateError):
                await action(LOCAL, task_id, *(more or ()))

    async def _settled(self, worker: WorkerServices, task: ClaimedTask, outcome: Outcome) -> object:
        (settled,) = await self.bench.runtime.settlements.settle(
            [EndedAttempt(task, outcome)], counted_by=worker.worker_id
        )
        await self._leave(worker, task)
        return settled

    @staticmethod
    async def _leave(worker: WorkerServices, task: ClaimedTask) -> None:
        worker.desk.forget_suspects([task])
        if task.document_id is not None:
            await worker.desk.leave_lanes([task.document_id])

    async def _moves(self) -> list[dict[str, Any]]:
        return await self.bench.execute("SELECT task_id, was, became FROM moves ORDER BY n")

    async def _unfinished(self) -> list[dict[str, Any]]:
        return await self.bench.execute("SELECT id, state, blockers, run_at FROM tasks WHERE finished_at IS NULL")

    def _one_of(self, known: Mapping[TaskId, object], which: int) -> TaskId:
        ids = self._in_order(known)
        return ids[which % len(ids)]

    def _in_order(self, known: Mapping[TaskId, object]) -> list[TaskId]:
        """Return them as they were submitted, in whatever order the ledger named them."""
        return [task_id for task_id in self.tasks if task_id in known]


@pytest.fixture(scope="module")
async def noted(new_database: NewDatabase, redis_url: str) -> AsyncIterator[Workbench]:
    """A plane whose ledger notes every change of a state."""
    url = await new_database()
    await migrate(url)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(NOTING)
    finally:
        await connection.close()
    async with open_workbench(url, redis_url) as workbench:
        yield workbench


@pytest.mark.timeout(420)
@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(first=REQUESTED, steps=STEPS)
async def test_the_ledger_keeps_its_laws_whatever_happens(noted: Workbench, first: Request, steps: list[Step]) -> None:
    await noted.execute("TRUNCATE moves")
    await empty(noted.runtime.settings.database_url, noted.runtime.settings.redis_url)
    life = Life(noted, [worker_services(noted.runtime) for _ in range(WORKERS)])

    await life.submit(first)
    await life.check("submit")
    for step in steps:
        await life.do(step)
    await life.work_off()
    await life.check("work_off")
