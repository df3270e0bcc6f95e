"""Whatever fails, is cancelled and is retried in a DAG while workers are at it, it comes to rest as its rules say."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pytest

from officeplane.domain.errors import DagEndedError, IllegalStateError
from officeplane.domain.graph import reached_from
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.principal import LOCAL
from officeplane.domain.request import DagRequest
from tests.support import eventually
from tests.workbench import Workbench
from tests.workers.hosting import a_worker

SEEDS: Final = int(os.environ.get("PROVE_DAGS", "6"))
NODES_MAX: Final = 200
REST_SECONDS: Final = 60.0
GAVE_UP: Final = frozenset({"FAILED", "TIMEOUT"})
FINAL: Final = GAVE_UP | {"COMPLETED", "CANCELLED"}


@dataclass(frozen=True, slots=True)
class Row:
    """A task of the DAG as the ledger has it."""

    id: TaskId
    state: str
    generation: int
    needs: tuple[TaskId, ...]


def a_task(dice: Random) -> dict[str, Any]:
    """Return a task that fails a few times, more often than it is retried now and then."""
    times = dice.choice([0, 0, 0, 0, 1, 2])
    task: dict[str, Any] = {
        "taskType": "test.fail",
        "payload": {"times": times},
        "maxRetries": dice.choice([0, 1]) if times else 0,
        "retry": {"strategy": "immediate"},
    }
    return task if dice.random() < 0.8 else {**task, "documentId": f"document-{dice.randrange(3)}"}


def a_dag(dice: Random) -> DagRequest:
    """Return a DAG of up to 200 tasks, of which some are batches."""
    tasks: list[dict[str, Any]] = []
    for number in range(dice.randrange(2, NODES_MAX * 5 // 6)):
        body = a_task(dice)
        if dice.random() < 0.1:
            body = {
                "children": [a_task(dice) for _ in range(dice.randrange(1, 4))],
                "onChildFailure": dice.choice(["abort", "continue"]),
            }
        before = [f"t{one}" for one in dice.sample(range(number), min(number, dice.randrange(4)))]
        tasks.append({"key": f"t{number}", **body, "dependsOn": before})
    return DagRequest.model_validate({"tasks": tasks})


async def rows(bench: Workbench, dag_id: DagId) -> dict[TaskId, Row]:
    """Return the tasks of a DAG, each with what it and the batch around it depend on."""
    found = await bench.execute(
        "SELECT id::text, state, generation, "
        "ARRAY(SELECT depends_on::text FROM task_edges e "
        "WHERE e.task_id = t.id OR e.task_id = ANY(t.ancestors)) AS needs "
        "FROM tasks t WHERE dag_id = $1::uuid",
        dag_id,
    )
    return {TaskId(row["id"]): Row(row["id"], row["state"], row["generation"], tuple(row["needs"])) for row in found}


async def status(bench: Workbench, dag_id: DagId) -> str:
    return (await bench.runtime.dags.details(LOCAL, dag_id)).dag.status.value


async def disturb(bench: Workbench, dag_id: DagId, dice: Random) -> None:
    """Cancel and retry this and that, whether it is allowed or not, while the workers are at it."""
    ids = list(await rows(bench, dag_id))
    for _ in range(dice.randrange(10)):
        task_id = dice.choice(ids)
        with suppress(IllegalStateError):
            if dice.random() < 0.5:
                await bench.runtime.reopening.retry(LOCAL, task_id)
            else:
                await bench.runtime.cancellation.cancel(LOCAL, task_id, None)
    if dice.random() < 0.15:
        with suppress(DagEndedError):
            await bench.runtime.dags.cancel(LOCAL, dag_id, None)


async def at_rest(bench: Workbench, dag_id: DagId) -> dict[TaskId, Row]:
    """Return the tasks of a DAG once its status is final, which is as soon as none of them can run."""

    async def is_so() -> bool:
        return await status(bench, dag_id) != "running"

    await eventually(is_so, within=REST_SECONDS, what="a final status")
    return await rows(bench, dag_id)


def check_rest(found: Mapping[TaskId, Row], said: str) -> None:
    """Every task is final, or waits behind one that gave up, and the status says so."""
    needed_by: dict[TaskId, set[TaskId]] = {}
    for row in found.values():
        for one in row.needs:
            needed_by.setdefault(one, set()).add(row.id)
    stuck = reached_from((row.id for row in found.values() if row.state in GAVE_UP), needed_by)
    waiting = [row for row in found.values() if row.state not in FINAL]
    assert all(row.state == "PENDING" and row.id in stuck for row in waiting), waiting
    states = {row.state for row in found.values()}
    if waiting:
        assert said == "failed"
    elif said != "cancelled":
        assert said == ("failed" if states & GAVE_UP else "completed")
    assert not (said == "completed" and "COMPLETED" not in states)


async def check_events(bench: Workbench, found: Mapping[TaskId, Row]) -> None:
    """Each was ready once in a generation, and ran first when all that it depends on was COMPLETED."""
    told: dict[TaskId, list[tuple[int, str]]] = {}
    happened = await bench.execute(
        "SELECT kind, task_id::text FROM (SELECT xid, id, kind, unnest(task_ids) AS task_id FROM events) e "
        "WHERE task_id IS NOT NULL ORDER BY xid, id"
    )
    for place, event in enumerate(happened):
        told.setdefault(TaskId(event["task_id"]), []).append((place, event["kind"]))
    for row in found.values():
        mine = told[row.id]
        assert sum(kind == "task.queued" for _, kind in mine) <= row.generation, (row, mine)
        began = next((place for place, kind in mine if kind == "task.running"), None)
        if began is not None:
            for one in row.needs:
                completed = [place for place, kind in told[one] if kind == "task.completed"]
                assert len(completed) == 1, (row, told[one])
                assert completed[0] < began, (row, mine, told[one])


@pytest.mark.parametrize("seed", range(SEEDS))
async def test_whatever_happens_a_dag_comes_to_rest_and_its_status_is_final(bench: Workbench, seed: int) -> None:
    dice = Random(seed)
    async with a_worker(bench, concurrency=4), a_worker(bench, concurrency=4):
        dag_id, _ = await bench.runtime.dags.submit(LOCAL, a_dag(dice))
        await disturb(bench, dag_id, dice)
        found = await at_rest(bench, dag_id)
        check_rest(found, await status(bench, dag_id))
        await check_events(bench, found)

        # Whatever gave up is tried again until nothing has; what is cancelled stays so.
        while gave_up := [row.id for row in found.values() if row.state in GAVE_UP]:
            for task_id in gave_up:
                # A batch is reopened with the first of its children, or tried itself if they were cancelled.
                with suppress(IllegalStateError):
                    await bench.runtime.reopening.retry(LOCAL, task_id)
            found = await at_rest(bench, dag_id)

    check_rest(found, await status(bench, dag_id))
    await check_events(bench, found)
    assert all(row.state in FINAL for row in found.values())
