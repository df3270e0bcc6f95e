"""DAGs: submitted whole, judged by what of them can still run, cancelled and reopened."""

import asyncio
from typing import Any

import pytest

from officeplane.domain.errors import (
    CycleError,
    DagEndedError,
    DagNotFoundError,
    InvalidReferenceError,
    InvalidRequestError,
)
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import DagId
from officeplane.domain.outcome import Failed, Succeeded
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest, DagTasksRequest
from officeplane.domain.task import Task
from officeplane.services.settle.judgement import EndedAttempt
from tests.workbench import Workbench

NOOP = {"taskType": "noop"}
FAILED = Failed(Failure(FailureKind.ERROR, "no"))
HARD = {"taskType": "noop", "maxRetries": 0}


class ADag:
    """A DAG under test: its tasks by key, and its status."""

    def __init__(self, bench: Workbench, dag_id: DagId) -> None:
        self.bench = bench
        self.id = dag_id

    async def task(self, key: str) -> Task:
        details = await self.bench.runtime.dags.details(LOCAL, self.id)
        (task_id,) = [task.id for task in details.tasks if task.key == key]
        return (await self.bench.details(task_id)).task

    async def end(self, state: str, *keys: str) -> None:
        for key in keys:
            await self.bench.end(await self.task(key), state)

    async def cancel(self, key: str) -> None:
        await self.bench.runtime.cancellation.cancel(LOCAL, (await self.task(key)).id, None)

    async def retry(self, key: str) -> None:
        await self.bench.runtime.reopening.retry(LOCAL, (await self.task(key)).id)

    async def status(self) -> str:
        return (await self.bench.runtime.dags.details(LOCAL, self.id)).dag.status.value

    async def states(self, *keys: str) -> str:
        return " ".join([(await self.task(key)).state.value for key in keys])

    async def events(self) -> list[str]:
        rows = await self.bench.execute("SELECT kind FROM events WHERE dag_id = $1::uuid ORDER BY xid, id", self.id)
        return [row["kind"] for row in rows]


async def a_dag(bench: Workbench, **tasks: Any) -> ADag:
    """Submit a DAG; each task is what it depends on, or a whole body."""
    dag_id, _ = await bench.runtime.dags.submit(LOCAL, request(**tasks))
    return ADag(bench, dag_id)


def request(**tasks: Any) -> DagRequest:
    return DagRequest.model_validate({"title": "a plan", "tasks": bodies(tasks)})


def bodies(tasks: dict[str, Any]) -> list[dict[str, Any]]:
    """Return bodies by key; one that is a list of names is a task that depends on these."""
    return [
        {"key": key, **(body if isinstance(body, dict) else {**HARD, "dependsOn": list(body)})}
        for key, body in tasks.items()
    ]


async def test_a_dag_runs_from_its_roots_to_its_leaves_and_is_completed_then(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",), c=("a",), d=("b", "c"))
    assert await dag.states("a", "b", "c", "d") == "QUEUED PENDING PENDING PENDING"
    assert await bench.rung() == [(await dag.task("a")).id]

    await dag.end("COMPLETED", "a", "b")
    assert (await dag.states("c", "d"), await dag.status()) == ("QUEUED PENDING", "running")
    await dag.end("COMPLETED", "c", "d")

    assert (await dag.status(), await dag.events()) == ("completed", ["dag.completed"])


async def test_tasks_on_the_longest_path_are_a_little_more_urgent(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",), beside=())

    a, b, beside = [await dag.task(key) for key in ("a", "b", "beside")]

    assert (round(beside.rank - a.rank, 3), round(a.rank - b.rank, 3)) == (5.0, 0.0)


@pytest.mark.parametrize(
    ("tasks", "told"),
    [
        ({"a": ("a",)}, "a -> a"),
        ({"a": ("c",), "b": ("a",), "c": ("b",), "d": ()}, "a -> c -> b -> a"),
        ({"a": ("b",), "b": {"children": [NOOP, {**NOOP, "dependsOn": ["a"]}]}}, "a -> b -> a"),
    ],
)
async def test_a_cycle_is_refused_and_named_by_its_keys(bench: Workbench, tasks: dict[str, Any], told: str) -> None:
    with pytest.raises(CycleError, match=told):
        await a_dag(bench, **tasks)

    assert await bench.execute("SELECT id FROM dags") == await bench.execute("SELECT id FROM tasks") == []


async def test_a_duplicate_key_is_refused(bench: Workbench) -> None:
    twice = DagRequest.model_validate({"tasks": [{"key": "a", **NOOP}, {"key": "a", **NOOP}]})

    with pytest.raises(InvalidRequestError, match="The key 'a' is used twice in this DAG"):
        await bench.runtime.dags.submit(LOCAL, twice)


async def test_an_unknown_reference_is_refused(bench: Workbench) -> None:
    with pytest.raises(InvalidReferenceError, match="'z'") as refused:
        await a_dag(bench, a=(), b=("a", "z"))

    assert [error.field for error in refused.value.errors] == ["tasks.1.dependsOn.1"]


async def test_a_dag_may_depend_on_tasks_outside(bench: Workbench) -> None:
    outside = await bench.a_task()
    dag = await a_dag(bench, a=(outside.id,))
    assert (await dag.states("a"), await dag.status()) == ("PENDING", "running")

    await bench.end(outside, "COMPLETED")

    assert (await dag.states("a"), await dag.status()) == ("QUEUED", "running")


async def test_a_batch_in_a_dag_waits_and_its_children_belong_to_the_dag(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b={"children": [NOOP, NOOP], "dependsOn": ["a"]}, c=("b",))
    batch = await bench.details((await dag.task("b")).id)
    children = [(await bench.details(child.id)).task for child in batch.children or ()]
    assert [child.dag_id for child in children] == [dag.id, dag.id]

    await dag.end("COMPLETED", "a")
    for child in children:
        assert (await dag.status(), await dag.states("c")) == ("running", "PENDING")
        await bench.end(child, "COMPLETED")
    await dag.end("COMPLETED", "c")

    assert await dag.status() == "completed"


async def test_a_dag_with_a_dead_letter_is_failed_once_nothing_of_it_can_run_and_its_dependents_stay_pending(
    bench: Workbench,
) -> None:
    dag = await a_dag(bench, a=(), b=("a",), beside=())

    await dag.end("FAILED", "a")
    assert (await dag.status(), await dag.events()) == ("running", [])
    await dag.end("COMPLETED", "beside")

    assert (await dag.states("a", "b"), await dag.status()) == ("FAILED PENDING", "failed")
    assert await dag.events() == ["dag.failed"]


async def test_a_task_that_waits_for_its_retry_keeps_its_dag_running(bench: Workbench) -> None:
    dag = await a_dag(bench, a=NOOP, b=("a",))

    await bench.fail(await bench.claim_next(await dag.task("a")), FailureKind.ERROR)

    assert (await dag.states("a"), await dag.status()) == ("RETRYING", "running")


async def test_retrying_the_dead_letter_reopens_its_dag(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    await dag.end("FAILED", "a")

    await dag.retry("a")
    assert (await dag.states("a", "b"), await dag.status()) == ("QUEUED PENDING", "running")
    await dag.end("COMPLETED", "a", "b")

    assert (await dag.status(), await dag.events()) == ("completed", ["dag.failed", "dag.completed"])


async def test_a_dag_is_failed_when_all_it_waits_for_is_stuck_outside_of_it(bench: Workbench) -> None:
    outside = await bench.a_task(max_retries=0)
    between = await bench.a_task(depends_on=[outside.id])
    busy = await bench.a_task()
    dag = await a_dag(bench, a=(between.id, busy.id))

    await bench.end(outside, "FAILED")
    assert (await dag.states("a"), await dag.status()) == ("PENDING", "failed")

    await bench.runtime.reopening.retry(LOCAL, outside.id)
    assert await dag.status() == "running"
    for task in (outside, between, busy):
        await bench.end(task, "COMPLETED")
    await dag.end("COMPLETED", "a")
    assert await dag.status() == "completed"


async def test_a_dag_that_waits_for_what_has_failed_already_is_failed_from_the_start(bench: Workbench) -> None:
    outside = await bench.a_task(max_retries=0)
    between = await bench.a_task(depends_on=[outside.id])
    await bench.end(outside, "FAILED")

    dag = await a_dag(bench, a=(outside.id,), b=("a",))
    behind = await a_dag(bench, a={"children": [{**NOOP, "dependsOn": [between.id]}, NOOP]})

    assert (await dag.status(), await behind.status()) == ("failed", "failed")
    assert await dag.events() == ["dag.failed"]
    await bench.runtime.reopening.retry(LOCAL, outside.id)
    assert (await dag.status(), await behind.status()) == ("running", "running")
    for task in (outside, between):
        await bench.end(task, "COMPLETED")
    await dag.end("COMPLETED", "a", "b")
    assert await dag.status() == "completed"


async def test_a_dag_that_can_no_longer_go_on_is_found_later(bench: Workbench) -> None:
    outside = await bench.a_task(max_retries=0)
    stuck = await a_dag(bench, a=(outside.id,))
    await bench.end(outside, "FAILED")
    waiting = await a_dag(bench, a=((await bench.a_task()).id,))
    # As if the failure and the DAG had been stored at one moment, and neither had seen the other.
    await bench.execute(
        "UPDATE dags SET status = 'running', is_stuck = false, finished_at = NULL WHERE id = $1::uuid", stuck.id
    )

    while await bench.worker.redelivery.update_dags():
        pass

    assert (await stuck.status(), await waiting.status()) == ("failed", "running")


async def test_cancelling_a_task_outside_ends_the_dag_that_waits_for_it(bench: Workbench) -> None:
    outside = await bench.a_task()
    between = await bench.a_task(depends_on=[outside.id])
    dag = await a_dag(bench, a=(between.id,), b=("a",))

    await bench.runtime.cancellation.cancel(LOCAL, outside.id, None)

    assert (await dag.states("a", "b"), await dag.status()) == ("CANCELLED CANCELLED", "cancelled")


async def test_a_cancelled_task_takes_its_dependents_along_and_the_rest_completes_the_dag(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=(), c=("b",))

    await dag.cancel("b")
    assert (await dag.states("b", "c"), await dag.status()) == ("CANCELLED CANCELLED", "running")
    await dag.end("COMPLETED", "a")

    assert await dag.status() == "completed"


async def test_cancelling_a_dag_ends_what_waits_and_asks_what_runs(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",), done=(), batch={"children": [NOOP, NOOP]})
    await dag.end("COMPLETED", "done")
    running = await bench.claim_next(await dag.task("a"))

    await bench.runtime.dags.cancel(LOCAL, dag.id, "no longer needed")
    assert await dag.states("a", "b", "done", "batch") == "RUNNING CANCELLED COMPLETED CANCELLED"
    assert await dag.status() == "running"
    await bench.complete(running)

    assert (await dag.states("a"), await dag.status()) == ("CANCELLED", "cancelled")
    assert (await dag.task("b")).cancel_reason == "no longer needed"
    with pytest.raises(DagEndedError):
        await bench.runtime.dags.cancel(LOCAL, dag.id, None)


async def test_a_task_is_told_of_its_retry_before_its_dag_is_cancelled(bench: Workbench) -> None:
    """The cancellation has its transaction number already when the attempt ends."""
    dag = await a_dag(bench, a=(), b=NOOP)
    a, b = [await dag.task(key) for key in ("a", "b")]
    running = await bench.claim_next(b)
    async with bench.runtime.ledger.transaction() as held:
        await held.fetch("SELECT FROM tasks WHERE id = $1 FOR UPDATE", a.id)
        cancelling = asyncio.create_task(bench.runtime.dags.cancel(LOCAL, dag.id, None))
        await bench.somebody_waits_for_a_lock()
        await bench.fail(running)
    await cancelling

    assert await bench.events(b) == ["task.queued", "task.running", "task.retrying", "task.cancelled"]


@pytest.mark.parametrize("in_dag", [False, True])
async def test_both_ends_that_a_task_waits_for_are_told_before_it_is_ready(bench: Workbench, *, in_dag: bool) -> None:
    """The later end has its transaction number before the earlier one has."""
    several = [await bench.a_task() for _ in range(3)]
    another = bench.another_worker()
    earlier = await another.a_running_task()
    later = [await bench.claim_next(task) for task in several]
    needed = [earlier.id, several[2].id]
    waiting = await (await a_dag(bench, a=needed)).task("a") if in_dag else await bench.a_task(depends_on=needed)
    ledger = bench.runtime.ledger
    async with ledger.transaction() as around:
        await around.fetch("SELECT FROM dags FOR UPDATE" if in_dag else "SELECT FROM tasks WHERE unmet > 0 FOR UPDATE")
        async with ledger.transaction() as held:
            await held.fetch("SELECT FROM tasks WHERE id = $1 FOR UPDATE", several[1].id)
            ends = [EndedAttempt(later[0], FAILED), *(EndedAttempt(task, Succeeded(None)) for task in later[1:])]
            ending_later = asyncio.create_task(bench.settle_together(ends))
            await bench.waiter_for(held.get_server_pid())
            ending_earlier = asyncio.create_task(another.complete(earlier))
            ender_of_earlier = await bench.waiter_for(around.get_server_pid())
        await bench.waiter_for(ender_of_earlier)
    await asyncio.gather(ending_earlier, ending_later)

    told = await bench.events(earlier, waiting)
    assert told == ["task.queued", "task.running", "task.pending", "task.completed", "task.queued"]


async def test_a_failed_dag_can_be_cancelled_for_the_sake_of_what_is_stuck(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    await dag.end("FAILED", "a")

    await bench.runtime.dags.cancel(LOCAL, dag.id, None)

    assert (await dag.states("a", "b"), await dag.status()) == ("FAILED CANCELLED", "cancelled")


async def test_retrying_a_task_of_a_cancelled_dag_reopens_it(bench: Workbench) -> None:
    dag = await a_dag(bench, a=(), b=("a",))
    await bench.runtime.dags.cancel(LOCAL, dag.id, None)

    await dag.retry("a")
    assert await dag.status() == "running"
    await dag.end("COMPLETED", "a")

    assert (await dag.states("b"), await dag.status()) == ("CANCELLED", "completed")


async def test_tasks_are_added_to_a_dag_that_runs_and_to_no_other(bench: Workbench) -> None:
    dag = await a_dag(bench, a=())
    more = DagTasksRequest.model_validate({"tasks": bodies({"b": ("a",), "c": ("b",)})})

    await bench.runtime.dags.add(LOCAL, dag.id, more)
    assert await dag.states("a", "b", "c") == "QUEUED PENDING PENDING"
    with pytest.raises(InvalidRequestError, match="The key 'b' is used twice"):
        await bench.runtime.dags.add(LOCAL, dag.id, more)
    await dag.end("COMPLETED", "a", "b", "c")

    assert await dag.status() == "completed"
    with pytest.raises(DagEndedError, match="completed"):
        await bench.runtime.dags.add(LOCAL, dag.id, DagTasksRequest.model_validate({"tasks": bodies({"d": ()})}))
    with pytest.raises(DagNotFoundError):
        await bench.runtime.dags.details(LOCAL, DagId("01890a5d-ac96-774b-bcce-b302099a8057"))


async def test_nothing_is_added_to_a_dag_that_is_being_cancelled_before_a_task_of_it_is_retried(
    bench: Workbench,
) -> None:
    dag = await a_dag(bench, a=(), b=())
    running = await bench.claim_next(await dag.task("a"))
    more = DagTasksRequest.model_validate({"tasks": bodies({"c": ()})})
    await bench.runtime.dags.cancel(LOCAL, dag.id, None)

    with pytest.raises(DagEndedError, match="is being cancelled; it cannot be added to"):
        await bench.runtime.dags.add(LOCAL, dag.id, more)
    await dag.retry("b")
    await bench.runtime.dags.add(LOCAL, dag.id, more)
    await bench.complete(running)

    assert await dag.states("a", "b", "c") == "CANCELLED QUEUED QUEUED"


async def test_results_of_predecessors_are_put_into_the_payload(bench: Workbench) -> None:
    payload = {"seconds": {"$ref": "a.deep.1"}}
    child = {"taskType": "sleep", "payload": payload}
    dag = await a_dag(
        bench, a=(), b=("a",), c={"taskType": "sleep", "payload": payload, "dependsOn": ["b"]},
        d={"children": [child], "dependsOn": ["c"]},
    )  # fmt: skip
    first = await dag.task("a")
    await bench.complete(await bench.claim_next(first), '{"deep": [7, 8]}')
    await dag.end("COMPLETED", "b")

    claimed = await bench.claim_next(await dag.task("c"))
    by_id = await bench.a_task("sleep", payload={"seconds": {"$ref": f"{first.id}.deep.0"}}, depends_on=[first.id])

    leases = bench.worker.leases
    assert await leases.resolve_payload(claimed) == '{"seconds": 8}'
    assert await leases.resolve_payload(await bench.claim_next(by_id)) == '{"seconds": 7}'
    await bench.complete(claimed)
    (batch,) = (await bench.details((await dag.task("d")).id)).children or [None]
    assert batch is not None
    claimed = await bench.claim_next((await bench.details(batch.id)).task)
    assert await leases.resolve_payload(claimed) == '{"seconds": 8}'


@pytest.mark.parametrize("name", ["b", "c", "z", "last"])
async def test_a_reference_to_what_does_not_come_before_is_refused(bench: Workbench, name: str) -> None:
    body = {"taskType": "sleep", "payload": {"seconds": {"$ref": f"{name}.slept"}}, "dependsOn": ["a"]}

    with pytest.raises(InvalidReferenceError, match="does not wait for anything that is called"):
        await a_dag(bench, a=(), b=(), c=body, last=("c",))


async def test_an_old_dag_is_pruned_whole_and_a_stuck_one_stays(bench: Workbench) -> None:
    done, stuck = await a_dag(bench, a=(), b=("a",)), await a_dag(bench, a=(), b=("a",))
    await done.end("COMPLETED", "a", "b")
    await stuck.end("FAILED", "a")
    await bench.let_days_pass(100, *[await dag.task(key) for dag in (done, stuck) for key in "ab"])
    await bench.execute("UPDATE dags SET finished_at = finished_at - interval '100 days'")

    for _ in range(4):
        await bench.worker.retention.prune()

    assert [row["id"] for row in await bench.execute("SELECT id::text FROM dags")] == [stuck.id]
    assert len(await bench.execute("SELECT id FROM tasks")) == 2
