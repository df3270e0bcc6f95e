"""The table of tasks guards itself: no bug and no operator's psql gets past it."""

import re
import uuid
from itertools import product

import asyncpg
import pytest

from officeplane.domain.lifecycle import (
    ACTIVE,
    CLAIMABLE,
    FINAL,
    NOT_BEGUN,
    REOPENABLE,
    STATE_SETS,
    UNFINISHED,
    WAITING,
    TaskState,
)
from officeplane.store.connection import Connection

COLUMNS_OF_STATE = {
    **dict.fromkeys(TaskState, ""),
    **dict.fromkeys(ACTIVE, "claim_id = gen_random_uuid(), worker_id = 'w', lease_until = now()"),
    **dict.fromkeys(FINAL, "finished_at = now(), error = '{}'"),
}

REFUSED = {
    "tasks_terms_are_of_agents": "UPDATE tasks SET agent_terms = '{}' WHERE id = $1",
    "tasks_state_is_known": "UPDATE tasks SET state = 'SLEEPING' WHERE id = $1",
    "tasks_priority_is_in_range": "UPDATE tasks SET priority = 101 WHERE id = $1",
    "tasks_held_under_a_lease": "UPDATE tasks SET state = 'RUNNING' WHERE id = $1",
    "tasks_leased_to_someone": "UPDATE tasks SET state = 'RUNNING', lease_until = now() WHERE id = $1",
    "tasks_final_has_an_end": "UPDATE tasks SET state = 'COMPLETED' WHERE id = $1",
    "tasks_completed_was_not_cancelled": "UPDATE tasks SET state = 'COMPLETED', finished_at = now(),"
    " cancel_requested_at = now() WHERE id = $1",
    "tasks_failure_has_a_reason": "UPDATE tasks SET state = 'FAILED', finished_at = now() WHERE id = $1",
    "tasks_blocked_waits": "UPDATE tasks SET blockers = 1 WHERE id = $1",
    "tasks_unmet_blocks": "UPDATE tasks SET unmet = 1 WHERE id = $1",
    "tasks_charge_is_bounded": "UPDATE tasks SET attempts_charged = attempt + 1 WHERE id = $1",
    "tasks_of_their_documents_space": "UPDATE tasks SET document_id = 'acme/plan' WHERE id = $1",
    "tasks_parent_is_whole": "UPDATE tasks SET parent_id = id WHERE id = $1",
}


async def a_row(
    connection: Connection, state: TaskState = TaskState.QUEUED, document_id: str | None = None
) -> uuid.UUID:
    """Put a task into the table, in a state, and return its id."""
    task_id = uuid.uuid4()
    await connection.execute(
        "INSERT INTO tasks (id, task_type, document_id, payload, state, priority, rank, runnable, yields, blockers,"
        " run_at, max_retries, timeout_seconds, created_at, rung_at, rung_tier)"
        " VALUES ($1, 'noop', $2, '{}', 'QUEUED', 50, 50, true, false, 0, now(), 3, 600, now(), now(), 2)",
        task_id,
        document_id,
    )
    if state is not TaskState.QUEUED:
        await into(connection, task_id, state)
    return task_id


async def into(connection: Connection, task_id: uuid.UUID, state: TaskState) -> None:
    """Move a waiting task into a state as the program would."""
    columns = COLUMNS_OF_STATE[state]
    await connection.execute(f"UPDATE tasks SET state = '{state}'{columns and ', ' + columns} WHERE id = $1", task_id)  # noqa: S608


async def row_of(connection: Connection, task_id: uuid.UUID) -> asyncpg.Record | None:
    return await connection.fetchrow("SELECT * FROM tasks WHERE id = $1", task_id)


async def test_every_check_of_the_table_has_a_test_that_breaks_it(connection: Connection) -> None:
    rows = await connection.fetch(
        "SELECT conname FROM pg_constraint WHERE conrelid = 'tasks'::regclass AND contype = 'c'"
    )

    assert {row["conname"] for row in rows} == set(REFUSED)


@pytest.mark.parametrize("check", REFUSED)
async def test_a_row_that_breaks_a_check_is_refused(connection: Connection, check: str) -> None:
    task_id = await a_row(connection)
    before = await row_of(connection, task_id)

    with pytest.raises(asyncpg.CheckViolationError) as refused:
        await connection.execute(REFUSED[check], task_id)

    assert refused.value.as_dict()["constraint_name"] == check
    assert await row_of(connection, task_id) == before


@pytest.mark.parametrize("columns", [
    "on_child_failure = 'abort'", "position = 0", "state = 'TIMEOUT', finished_at = now()",
    "finished_at = now()", "lease_until = now(), claim_id = gen_random_uuid(), worker_id = 'w'",
    "state = 'RUNNING', lease_until = now(), claim_id = gen_random_uuid()", "attempts_charged = -1", "priority = -1",
])  # fmt: skip
async def test_other_ways_to_break_a_check_are_refused_as_well(connection: Connection, columns: str) -> None:
    task_id = await a_row(connection)

    with pytest.raises(asyncpg.CheckViolationError):
        await connection.execute(f"UPDATE tasks SET {columns} WHERE id = $1", task_id)  # noqa: S608


@pytest.mark.parametrize("state", sorted(set(TaskState) - {TaskState.PENDING, TaskState.CANCELLED}))
async def test_what_is_blocked_only_waits(connection: Connection, state: TaskState) -> None:
    task_id = await a_row(connection, TaskState.PENDING)
    await connection.execute("UPDATE tasks SET blockers = 1 WHERE id = $1", task_id)

    with pytest.raises(asyncpg.CheckViolationError, match="tasks_blocked_waits"):
        await into(connection, task_id, state)


@pytest.mark.parametrize(("first", "second"), list(product(ACTIVE, ACTIVE)))
async def test_a_document_has_one_occupant_whatever_it_does_there(
    connection: Connection, first: TaskState, second: TaskState
) -> None:
    document_id = str(uuid.uuid4())
    await a_row(connection, first, document_id)
    waiting = await a_row(connection, document_id=document_id)

    with pytest.raises(asyncpg.UniqueViolationError) as refused:
        await into(connection, waiting, second)

    assert refused.value.as_dict()["constraint_name"] == "tasks_occupant"


@pytest.mark.parametrize("state", sorted(set(TaskState) - set(ACTIVE)))
async def test_what_is_not_active_leaves_the_document_to_others(connection: Connection, state: TaskState) -> None:
    document_id = str(uuid.uuid4())
    await a_row(connection, state, document_id)

    await a_row(connection, TaskState.RUNNING, document_id)


async def test_tasks_of_no_document_do_not_exclude_each_other(connection: Connection) -> None:
    await a_row(connection, TaskState.RUNNING)

    await a_row(connection, TaskState.RUNNING)


TOUCHES = [
    "title = 'x'", "result = '{}'", "error = '{\"kind\": \"other\"}'", "finished_at = now()", "worker_id = 'w'",
    "cancel_requested_at = now()", "attempt = attempt + 1", "state = 'QUEUED'", "state = 'QUEUED', finished_at = NULL",
    "state = 'RUNNING', finished_at = NULL", "generation = generation + 1",
    "generation = generation + 2, state = 'QUEUED', finished_at = NULL",
    "generation = generation - 1, state = 'QUEUED', finished_at = NULL",
]  # fmt: skip


@pytest.mark.parametrize(("state", "columns"), list(product(FINAL, TOUCHES)))
async def test_a_final_task_cannot_be_changed(connection: Connection, state: TaskState, columns: str) -> None:
    task_id = await a_row(connection, state)
    before = await row_of(connection, task_id)

    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="only a retry may change it"):
        await connection.execute(f"UPDATE tasks SET {columns} WHERE id = $1", task_id)  # noqa: S608

    assert await row_of(connection, task_id) == before


@pytest.mark.parametrize(("state", "target"), list(product(REOPENABLE, NOT_BEGUN)))
async def test_a_new_generation_reopens_what_gave_up(
    connection: Connection, state: TaskState, target: TaskState
) -> None:
    task_id = await a_row(connection, state)

    await connection.execute(
        "UPDATE tasks SET generation = generation + 1, state = $2, finished_at = NULL WHERE id = $1", task_id, target
    )

    row = await row_of(connection, task_id)
    assert row is not None
    assert (row["state"], row["generation"]) == (target, 2)


async def test_not_even_a_new_generation_reopens_what_completed(connection: Connection) -> None:
    task_id = await a_row(connection, TaskState.COMPLETED)

    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="is COMPLETED and final"):
        await connection.execute(
            "UPDATE tasks SET generation = generation + 1, state = 'QUEUED', finished_at = NULL WHERE id = $1", task_id
        )


@pytest.mark.parametrize("state", sorted(set(TaskState) - set(FINAL)))
async def test_what_is_not_final_may_be_changed_in_its_generation(connection: Connection, state: TaskState) -> None:
    task_id = await a_row(connection, state)

    await connection.execute("UPDATE tasks SET title = 'x' WHERE id = $1", task_id)


async def test_a_task_has_one_record_per_failed_attempt(connection: Connection) -> None:
    task_id = await a_row(connection)
    failure = "INSERT INTO task_failures (task_id, attempt, kind, message, duration_seconds) VALUES ($1, 1, '', '', 0)"
    await connection.execute(failure, task_id)

    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute(failure, task_id)


PREDICATES = {
    "tasks_gave_up": REOPENABLE,
    "tasks_occupant": ACTIVE,
    "tasks_active": ACTIVE,
    "tasks_lane": CLAIMABLE,
    "tasks_by_urgency": CLAIMABLE,
    "tasks_by_ring": CLAIMABLE,
    "tasks_ranked_anew": WAITING,
    "tasks_of_other_spaces": CLAIMABLE,
    "tasks_waiting_in_spaces": WAITING,
    "tasks_content": UNFINISHED,
    "tasks_due": (TaskState.PENDING, TaskState.RETRYING),
    "tasks_going_on_in_dag": UNFINISHED,
    "tasks_with_unmet": (TaskState.PENDING,),
    "tasks_demanded": CLAIMABLE,
    "tasks_demanded_lanes": CLAIMABLE,
    "tasks_demanded_free": (TaskState.QUEUED,),
    "tasks_demanded_again": (TaskState.RETRYING,),
}
PARTS_OF_SETS = ("tasks_due", "tasks_with_unmet", "tasks_demanded_free", "tasks_demanded_again")


async def test_the_states_spelled_in_an_index_are_those_of_the_lifecycle(connection: Connection) -> None:
    rows = await connection.fetch(
        "SELECT indexrelid::regclass::text AS name, pg_get_expr(indpred, indrelid) AS predicate FROM pg_index"
        " WHERE indrelid = 'tasks'::regclass AND indpred IS NOT NULL"
    )
    spelled = {row["name"]: _states(row["predicate"]) for row in rows if "state" in row["predicate"]}

    assert spelled == {name: sorted(states) for name, states in PREDICATES.items()}
    in_sets = [states for name, states in PREDICATES.items() if name not in PARTS_OF_SETS]
    assert all(states in STATE_SETS.values() for states in in_sets)


async def test_the_states_spelled_in_the_trigger_are_the_final_ones(connection: Connection) -> None:
    (row,) = await connection.fetch(
        "SELECT pg_get_triggerdef(oid) AS said FROM pg_trigger WHERE tgname = 'tasks_final_is_final'"
    )

    assert _states(row["said"]) == sorted(FINAL)


def _states(sql: str) -> list[str]:
    return sorted(re.findall(r"'([A-Z]+)'", sql))
