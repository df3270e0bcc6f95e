"""The ways of `TRANSITIONS`: how a task gets into each state, and what then sends it on."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from itertools import product

from officeplane.domain.document import Format
from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.ids import ClaimId, TaskId, WorkerId
from officeplane.domain.lifecycle import (
    ACTIVE,
    REOPENABLE,
    RESERVED,
    TaskState,
    sources_of,
)
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Succeeded, Waiting
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import request_of
from officeplane.domain.task import ClaimedTask, Task
from officeplane.store import agent_claims
from officeplane.store.claims import Claimant
from officeplane.store.connection import Connection
from tests.attempts import a_claimed_task
from tests.holders import a_holder, work
from tests.workbench import Workbench

S = TaskState
PAST = datetime(2000, 1, 1, tzinfo=UTC)
TOMORROW = datetime.now(UTC) + timedelta(days=1)
A_CHILD = {"task_type": "noop"}
A_LAST_CHANCE = {"task_type": "noop", "max_retries": 0}

Act = Callable[[], Awaitable[object]]
Way = Callable[[Workbench], Awaitable[tuple[TaskId, Act]]]
WAYS: dict[tuple[str, TaskState], Way] = {}


def way(signal: str, *sources: TaskState) -> Callable[[Way], Way]:
    """Declare how a task gets into a state, and what then sends it the signal."""

    def declare(declared: Way) -> Way:
        WAYS.update({(signal, source): declared for source in sources})
        return declared

    return declare


def outcome_of(signal: str) -> Outcome:
    """Return the outcome that sends the signal, for a task without retries unless they are needed."""
    outcomes: dict[str, Outcome] = {
        "complete": Succeeded(None),
        "retry_later": Failed(Failure(FailureKind.INFRASTRUCTURE, "the database was away")),
        "fail": Failed(Failure(FailureKind.PERMANENT, "it cannot work")),
        "time_out": Failed(Failure(FailureKind.TIMEOUT, "it took too long")),
        "hand_back": HandedBack(),
    }
    return outcomes[signal]


async def a_leaf_in(bench: Workbench, state: TaskState) -> ClaimedTask:
    """Bring a task without a document into a state; what it was claimed as, if it was, comes with it."""
    match state:
        case S.PENDING:
            return unclaimed(await bench.a_task(run_at=TOMORROW, max_retries=0))
        case S.QUEUED:
            return unclaimed(await bench.a_task(max_retries=0))
        case S.CANCELLED:
            task = await bench.a_task(max_retries=0)
            await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
            return unclaimed(task)
        case S.RETRYING:
            running = await bench.a_running_task(max_retries=0)
            await bench.settle(running, outcome_of("retry_later"))
        case S.COMPLETED | S.FAILED | S.TIMEOUT:
            signals = {S.COMPLETED: "complete", S.FAILED: "fail", S.TIMEOUT: "time_out"}
            running = await bench.a_running_task(max_retries=0)
            await bench.settle(running, outcome_of(signals[state]))
        case S.RUNNING:
            running = await bench.a_running_task(max_retries=0)
        case S.VALIDATING:
            running = await bench.a_running_task(max_retries=0)
            assert await bench.runtime.claims.validate(running)
        case S.CLAIMED:
            (running,) = await reserved(bench, await bench.a_task(max_retries=0))
    return running


async def reserved(bench: Workbench, *tasks: Task) -> list[ClaimedTask]:
    """Claim tasks for somebody who starts them later."""
    who = Claimant(WorkerId("somebody"), 30, ["noop"], may_take_suspect=True, reserves=True)
    return (await bench.runtime.claims.follow_hints(who, [task.id for task in tasks])).claimed


def unclaimed(task: Task) -> ClaimedTask:
    """Return what somebody would hold who thinks he has claimed this task."""
    return a_claimed_task(task.task_type, timeout_seconds=task.timeout_seconds)._replace(
        id=task.id,
        document_id=task.document_id,
        max_retries=task.max_retries,
        parent_id=task.parent_id,
        root_id=task.id,
        created_at=task.created_at,
    )


async def make_due(bench: Workbench) -> None:
    """Let the time of everything that waits for its time come."""
    await bench.execute("UPDATE tasks SET run_at = now() WHERE run_at > now()")


async def taken_up(bench: Workbench, claim_id: ClaimId) -> None:
    claim = (await agent_claims.look(bench.runtime.ledger, [claim_id]))[claim_id]
    await agent_claims.take_up(bench.runtime.ledger, claim, 90)


async def completed(bench: Workbench, task: Task) -> None:
    (claimed,) = await bench.claim(task)
    await bench.complete(claimed)


async def failed(bench: Workbench, task: Task, kind: FailureKind = FailureKind.PERMANENT) -> None:
    (claimed,) = await bench.claim(task)
    await bench.fail(claimed, kind)


@way("become_ready", S.PENDING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task(run_at=TOMORROW)
    await make_due(bench)
    return task.id, bench.worker.redelivery.promote


@way("bring_forward", S.PENDING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task(run_at=TOMORROW)
    return task.id, lambda: bench.runtime.patches.patch(LOCAL, task.id, TaskPatch.model_validate({"runAt": PAST}))


@way("put_off", S.QUEUED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task()
    return task.id, lambda: bench.runtime.patches.patch(LOCAL, task.id, TaskPatch.model_validate({"runAt": TOMORROW}))


@way("claim", S.QUEUED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task()
    return task.id, lambda: bench.claim(task)


@way("take_up", S.QUEUED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await work(bench)
    claim_id = await (await a_holder(bench)).claim(task)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    return task.id, lambda: taken_up(bench, claim_id)


@way("take_up", S.RETRYING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await work(bench)
    claim_id = await (await a_holder(bench)).claim(task, start=True)
    await bench.let_leases_lapse()
    await bench.worker.redelivery.reap()
    return task.id, lambda: taken_up(bench, claim_id)


@way("claim", S.RETRYING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task(retry={"strategy": "immediate"})
    await failed(bench, task, FailureKind.ERROR)
    return task.id, lambda: bench.claim(task)


@way("reserve", S.QUEUED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task()
    return task.id, lambda: reserved(bench, task)


@way("reserve", S.RETRYING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await bench.a_task(retry={"strategy": "immediate"})
    await failed(bench, task, FailureKind.ERROR)
    return task.id, lambda: reserved(bench, task)


@way("start", S.CLAIMED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await a_leaf_in(bench, S.CLAIMED)
    return task.id, lambda: bench.runtime.claims.start(task)


@way("validate", S.RUNNING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await a_leaf_in(bench, S.RUNNING)
    return task.id, lambda: bench.runtime.claims.validate(task)


@way("begin_batch", S.QUEUED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    parent, child = await bench.a_batch(A_CHILD)
    return parent.id, lambda: bench.claim(child)


@way("begin_batch", S.PENDING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    """The promoter, which never waits, found the batch locked and queued only its child."""
    parent, child = await bench.a_batch(A_CHILD, run_at=TOMORROW)
    await make_due(bench)

    async def while_locked(connection: Connection) -> None:
        await connection.fetch("SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE", parent.id)
        await bench.worker.redelivery.promote()

    await bench.runtime.ledger.in_transaction(while_locked)
    return parent.id, lambda: bench.claim(child)


@way("complete_within", S.PENDING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    await bench.runtime.documents.create(LOCAL, "plan", Format.DOCX, None, None)
    batch, child = await bench.a_batch(
        {"task_type": "add_chapter", "payload": {"title": "One"}}, document_id="plan", atomic=True
    )
    claimed = await bench.claim_next(batch)

    async def settle() -> None:
        await bench.settle(claimed, await bench.worker.editing.run_batch(claimed))

    return child.id, settle


def settling(signal: str, source: TaskState) -> None:
    @way(signal, source)
    async def _(bench: Workbench) -> tuple[TaskId, Act]:
        task = await a_leaf_in(bench, source)
        return task.id, lambda: bench.settle(task, outcome_of(signal))


for _signal, _source in product(
    ("complete", "retry_later", "fail", "time_out", "hand_back"), (S.RUNNING, S.VALIDATING)
):
    settling(_signal, _source)


@way("hand_back", S.CLAIMED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await a_leaf_in(bench, S.CLAIMED)
    return task.id, lambda: bench.settle(task, HandedBack())


@way("fail", S.QUEUED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    parent, child = await bench.a_batch(A_CHILD)
    return parent.id, lambda: bench.runtime.cancellation.cancel(LOCAL, child.id, None)


@way("fail", S.PENDING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    parent, child = await bench.a_batch(A_CHILD, run_at=TOMORROW)
    return parent.id, lambda: bench.runtime.cancellation.cancel(LOCAL, child.id, None)


@way("wait", S.RUNNING)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    task = await a_leaf_in(bench, S.RUNNING)
    spawned = await bench.worker.spawner.spawn(task, request_of({"task_type": "noop"}), "it")
    return task.id, lambda: bench.settle(task, Waiting(spawned.task_id))


def cancelling(source: TaskState) -> None:
    @way("cancel", source)
    async def _(bench: Workbench) -> tuple[TaskId, Act]:
        task = await a_leaf_in(bench, source)

        async def cancel() -> None:
            await bench.runtime.cancellation.cancel(LOCAL, task.id, None)
            if source in ACTIVE:
                await bench.settle(task, HandedBack() if source in RESERVED else Succeeded(None))

        return task.id, cancel


for _source in sorted(sources_of("cancel")):
    cancelling(_source)


def reopening(source: TaskState) -> None:
    @way("reopen", source)
    async def _(bench: Workbench) -> tuple[TaskId, Act]:
        task = await a_leaf_in(bench, source)
        return task.id, lambda: bench.runtime.reopening.retry(LOCAL, task.id)

    @way("reopen_blocked", source)
    async def _(bench: Workbench) -> tuple[TaskId, Act]:
        _, first, _ = await bench.a_batch(A_LAST_CHANCE, A_CHILD, on_child_failure="continue")
        match source:
            case S.FAILED:
                await failed(bench, first)
            case S.TIMEOUT:
                await failed(bench, first, FailureKind.TIMEOUT)
            case _:
                await bench.runtime.cancellation.cancel(LOCAL, first.id, None)
        return first.id, lambda: bench.runtime.reopening.retry(LOCAL, first.id)


for _source in REOPENABLE:
    reopening(_source)


@way("reopen_batch", S.FAILED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    parent, child = await bench.a_batch(A_CHILD)
    await failed(bench, child)
    return parent.id, lambda: bench.runtime.reopening.retry(LOCAL, child.id)


@way("reopen_batch", S.CANCELLED)
async def _(bench: Workbench) -> tuple[TaskId, Act]:
    parent, child = await bench.a_batch(A_CHILD)
    await bench.runtime.cancellation.cancel(LOCAL, parent.id, None)
    return parent.id, lambda: bench.runtime.reopening.retry(LOCAL, child.id)
