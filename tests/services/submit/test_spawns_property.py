"""Whatever happens to tasks that spawn and wait, in whatever order: each key spawns once, and nobody waits in vain.

A life is drawn as a whole before it begins, as in
`tests/architecture/test_lifecycle_property.py`, which says why.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from officeplane.domain.errors import IllegalStateError
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL, REOPENABLE
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded, Waiting
from officeplane.domain.principal import LOCAL
from officeplane.domain.task import ClaimedTask
from officeplane.handlers.spawning import Spawned, spawn_request
from officeplane.services.claims.leases import ClaimLostError
from officeplane.services.settle.judgement import EndedAttempt
from officeplane.services.settle.settlements import Fenced
from officeplane.store.migrate import migrate
from tests.conftest import NewDatabase
from tests.kept import empty
from tests.workbench import Workbench, open_workbench

STEPS: Final = 25
KEYS: Final = st.sampled_from(["a", "b"])
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(
    [
        Succeeded("{}"),
        Succeeded(None),
        HandedBack(),
        Failed(Failure(FailureKind.ERROR, "it went wrong")),
        Failed(Failure(FailureKind.PERMANENT, "it never will")),
    ]
)

SPAWNED_TWICE = """
SELECT c.spawned_by, c.spawn_key FROM tasks c JOIN spawns s ON s.spawned_by = c.spawned_by AND s.key = c.spawn_key
 WHERE c.id <> s.task_id AND c.state <> 'CANCELLED' AND c.generation = 1
"""
WRONGLY_BLOCKED = """
SELECT t.id, t.blockers, t.unmet FROM tasks t
 WHERE t.state = 'PENDING'
   AND (t.blockers <> t.unmet OR t.unmet <> (SELECT count(*) FROM task_edges e JOIN tasks d ON d.id = e.depends_on
                                              WHERE e.task_id = t.id AND d.state <> 'COMPLETED'))
"""
WAITING_IN_VAIN = """
SELECT t.id FROM tasks t JOIN task_edges e ON e.task_id = t.id JOIN tasks d ON d.id = e.depends_on
 WHERE t.state = 'PENDING' AND d.state = 'CANCELLED'
"""
ORPHANED = """
SELECT c.id FROM tasks p JOIN task_edges e ON e.task_id = p.id JOIN tasks c ON c.id = e.depends_on
 WHERE p.state = 'CANCELLED' AND c.finished_at IS NULL AND c.cancel_requested_at IS NULL AND c.generation = 1
"""


# What is named more often happens more often, and what comes first does so most: a failing life shrinks to it.
ALWAYS: Final = (*["claim"] * 4, "submit", "cancel", "retry")
AT_TIMES: Final = (*["settle"] * 4, *["spawn"] * 3, *["wait"] * 6, "crash", "come_back")


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens, and what happens instead where that is impossible."""

    action: str
    instead: str
    which: int
    document: str | None
    key: str
    outcome: Outcome


DOCUMENTS: Final = st.sampled_from([None, "a", "b"])
STEP: Final = st.builds(
    Step,
    action=st.sampled_from(AT_TIMES + ALWAYS),
    instead=st.sampled_from(ALWAYS),
    which=st.integers(0, 2**16),
    document=DOCUMENTS,
    key=KEYS,
    outcome=OUTCOMES,
)


@dataclass(slots=True)
class Life:
    """A plane whose tasks spawn others, and what happens to it."""

    bench: Workbench
    held: dict[TaskId, ClaimedTask] = field(default_factory=dict[TaskId, ClaimedTask])
    lost: list[ClaimedTask] = field(default_factory=list[ClaimedTask])

    async def submit(self, document: str | None) -> None:
        await self.bench.a_task(max_retries=1, **({} if document is None else {"document_id": document}))

    async def claim(self) -> None:
        await self.bench.make_due()
        # Failures hold types back; that has tests of its own.
        await self.bench.execute("DELETE FROM valves")
        for task in await self.bench.worker.desk.claim(list(await self._states())):
            self.held[task.id] = task

    async def settle(self, which: int, outcome: Outcome) -> None:
        await self._end(self.held.pop(await self._one_of(self.held, which)), outcome)

    async def spawn(self, which: int, key: str) -> None:
        await self._spawn(self.held[await self._one_of(self.held, which)], key)

    async def wait(self, which: int, key: str) -> None:
        task = self.held[await self._one_of(self.held, which)]
        spawned = await self._spawn(task, key)
        if spawned is not None and not spawned.is_completed:
            await self._end(self.held.pop(task.id), Waiting(spawned.task_id))

    async def crash(self) -> None:
        self.lost += [self.held.pop(task_id) for task_id in await self._states() if task_id in self.held]
        await self.bench.let_leases_lapse()
        await self.bench.worker.redelivery.reap()
        for task in self.lost:
            self.bench.worker.desk.forget_suspects([task])

    async def come_back(self) -> None:
        task = self.lost.pop()
        with pytest.raises(ClaimLostError):
            await self.bench.worker.spawner.spawn(task, spawn_request("noop", None, {}), "never")
        (settled,) = await self.bench.settle_together([EndedAttempt(task, Waiting(task.id))])
        assert isinstance(settled, Fenced)

    async def cancel(self, which: int) -> None:
        states = await self._states()
        await self._asked(self.bench.runtime.cancellation.cancel, await self._one_of(states, which), None)

    async def retry(self, which: int) -> None:
        states = await self._states()
        task_id = await self._one_of(states, which)
        if states[task_id] in REOPENABLE:
            await self.bench.runtime.reopening.retry(LOCAL, task_id)
        else:
            await self._asked(self.bench.runtime.reopening.retry, task_id)

    async def work_off(self) -> None:
        """Retry what has failed, do all that is left to do, and find that it has an end."""
        for _ in range(100):
            await self.claim()
            for task_id in list(self.held):
                await self._end(self.held.pop(task_id), Succeeded("{}"))
            states = await self._states()
            for task_id in [task_id for task_id, state in states.items() if state in {"FAILED", "TIMEOUT"}]:
                await self.bench.runtime.reopening.retry(LOCAL, task_id)
            if set(states.values()) <= set(FINAL) - {"FAILED", "TIMEOUT"}:
                return
        raise AssertionError(await self._states())

    async def check(self) -> None:
        """Find every law kept."""
        for law in (SPAWNED_TWICE, WRONGLY_BLOCKED, WAITING_IN_VAIN, ORPHANED):
            assert await self.bench.execute(law) == [], law

    async def do(self, step: Step) -> None:
        """Let one thing happen, and find every law kept."""
        impossible = step.action in AT_TIMES and not (self.lost if step.action == "come_back" else self.held)
        actions: dict[str, Callable[[], Awaitable[None]]] = {
            "submit": lambda: self.submit(step.document),
            "claim": self.claim,
            "settle": lambda: self.settle(step.which, step.outcome),
            "spawn": lambda: self.spawn(step.which, step.key),
            "wait": lambda: self.wait(step.which, step.key),
            "crash": self.crash,
            "come_back": self.come_back,
            "cancel": lambda: self.cancel(step.which),
            "retry": lambda: self.retry(step.which),
        }
        await actions[step.instead if impossible else step.action]()
        await self.check()

    async def _spawn(self, task: ClaimedTask, key: str) -> Spawned | None:
        options = {} if task.document_id is None else {"document_id": task.document_id}
        request = spawn_request("noop", None, {"max_retries": 0, **options})
        try:
            return await self.bench.worker.spawner.spawn(task, request, key)
        except ClaimLostError:
            # Nobody but a cancel takes a claim away here.
            assert (await self.bench.details(task.id)).task.cancel_requested_at is not None
            return None

    async def _end(self, task: ClaimedTask, outcome: Outcome) -> None:
        settled = await self.bench.settle(task, outcome)
        self.bench.worker.desk.forget_suspects([task])
        assert not isinstance(settled, Fenced)

    async def _asked(self, action: Callable[..., Awaitable[object]], task_id: TaskId, *more: object) -> None:
        state = (await self._states())[task_id]
        try:
            await action(LOCAL, task_id, *more)
            refused = None
        except IllegalStateError as error:
            refused = str(error.state)
        assert refused in {None, state}

    async def _states(self) -> dict[TaskId, str]:
        return {
            TaskId(str(row["id"])): row["state"]
            for row in await self.bench.execute("SELECT id, state FROM tasks ORDER BY seq")
        }

    async def _one_of(self, known: Mapping[TaskId, object], which: int) -> TaskId:
        """Return one of them, counted in the order in which they were submitted."""
        ids = [task_id for task_id in await self._states() if task_id in known]
        return ids[which % len(ids)]


@pytest.fixture(scope="module")
async def plane(new_database: NewDatabase, redis_url: str) -> AsyncIterator[Workbench]:
    """A plane of the property's own."""
    url = await new_database()
    await migrate(url)
    async with open_workbench(url, redis_url) as workbench:
        yield workbench


@pytest.mark.timeout(300)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(first=DOCUMENTS, steps=st.lists(STEP, min_size=STEPS, max_size=STEPS))
async def test_each_key_spawns_once_and_nobody_waits_in_vain(
    plane: Workbench, first: str | None, steps: list[Step]
) -> None:
    bench = plane.another_worker()
    await empty(bench.runtime.settings.database_url, bench.runtime.settings.redis_url)
    life = Life(bench)
    await life.submit(first)
    for step in steps:
        await life.do(step)

    await life.work_off()
    await life.check()
