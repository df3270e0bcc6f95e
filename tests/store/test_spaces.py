"""Spaces in the ledger: no bug and no operator's psql has something of one refer to another."""

import uuid
from collections.abc import Mapping
from typing import Final

import asyncpg
import pytest

from officeplane.store.connection import Connection

REFERENCES: Final = ("parent_id", "dag_id", "spawned_by")


async def a_task(connection: Connection, space: str = "default", **columns: object) -> uuid.UUID:
    """Put a task into a space, with whatever it refers to."""
    task_id = uuid.uuid4()
    given: Mapping[str, object] = {"id": task_id, "space": space, **columns}
    values = ", ".join(f"${n}" for n in range(1, len(given) + 1))
    await connection.execute(
        f"INSERT INTO tasks ({', '.join(given)}, task_type, payload, state, priority, rank, runnable, yields, blockers,"  # noqa: S608
        " run_at, max_retries, timeout_seconds, created_at, rung_at, rung_tier)"
        f" VALUES ({values}, 'noop', '{{}}', 'QUEUED', 50, 50, true, false, 0, now(), 3, 600, now(), now(), 2)",
        *given.values(),
    )
    return task_id


async def a_dag(connection: Connection, space: str) -> uuid.UUID:
    dag_id = uuid.uuid4()
    await connection.execute("INSERT INTO dags (id, space) VALUES ($1, $2)", dag_id, space)
    return dag_id


async def referring(connection: Connection, reference: str, space: str) -> dict[str, object]:
    """What a task refers to in a space, in the columns that say so."""
    if reference == "dag_id":
        return {"dag_id": await a_dag(connection, space)}
    found = await a_task(connection, space)
    columns: dict[str, dict[str, object]] = {
        "parent_id": {"parent_id": found, "ancestors": [found], "position": 0},
        "spawned_by": {"spawned_by": found, "spawn_key": "it"},
    }
    return columns[reference]


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize(("space", "other"), [("legal", "sales"), ("legal", "default"), ("default", "legal")])
async def test_a_task_refers_to_nothing_of_another_space(
    connection: Connection, reference: str, space: str, other: str
) -> None:
    within = await a_task(connection, space, **await referring(connection, reference, space))
    beyond = await referring(connection, reference, other)

    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="another space"):
        await a_task(connection, space, **beyond)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="another space"):
        await connection.execute(
            f"UPDATE tasks SET {reference} = $1 WHERE id = $2",  # noqa: S608
            beyond[reference],
            within,
        )


@pytest.mark.parametrize("reference", REFERENCES)
async def test_a_task_refers_to_nothing_that_is_not_there(connection: Connection, reference: str) -> None:
    missing = {**await referring(connection, reference, "legal"), reference: uuid.uuid4()}
    if reference == "parent_id":
        missing["ancestors"] = [missing["parent_id"]]

    with pytest.raises(asyncpg.IntegrityConstraintViolationError):
        await a_task(connection, "legal", **missing)


async def test_a_task_depends_on_none_of_another_space(connection: Connection) -> None:
    one, beside, other = [await a_task(connection, space) for space in ("legal", "legal", "sales")]
    edge = "INSERT INTO task_edges (task_id, depends_on) VALUES ($1, $2)"
    await connection.execute(edge, one, beside)

    for pair in ((one, other), (other, one)):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="another space"):
            await connection.execute(edge, *pair)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="another space"):
        await connection.execute("UPDATE task_edges SET depends_on = $2 WHERE task_id = $1", one, other)


async def test_a_task_and_a_dag_stay_in_their_space(connection: Connection) -> None:
    task_id, dag_id = await a_task(connection, "legal"), await a_dag(connection, "legal")

    for statement, one in (
        ("UPDATE tasks SET space = 'sales' WHERE id = $1", task_id),
        ("UPDATE dags SET space = 'sales' WHERE id = $1", dag_id),
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await connection.execute(statement, one)
        await connection.execute(statement.replace("'sales'", "'legal'"), one)


@pytest.mark.parametrize(
    ("space", "document_id"),
    [
        ("default", "legal/plan"),
        ("legal", "plan"),
        ("legal", "sales/plan"),
        ("legal", "legalx/plan"),
        ("a", "b/a/plan"),
    ],
)
async def test_a_document_has_its_space_in_its_name_wherever_it_is_named(
    connection: Connection, space: str, document_id: str
) -> None:
    for statement in (
        "INSERT INTO documents (id, space, format, head) VALUES ($2, $1, 'docx', 0)",
        "INSERT INTO paused_documents (document_id, space) VALUES ($2, $1)",
    ):
        with pytest.raises(asyncpg.CheckViolationError):
            await connection.execute(statement, space, document_id)
    with pytest.raises(asyncpg.CheckViolationError):
        await a_task(connection, space, document_id=document_id)
