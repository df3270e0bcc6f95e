from datetime import UTC, datetime

from uuid_utils import uuid7

from officeplane.domain.batch import ALL_OR_NOTHING
from officeplane.domain.demand import AgentTerms, Demand
from officeplane.domain.ids import DagId, TaskId
from officeplane.domain.space import Space
from officeplane.domain.task import NewTask, Task
from officeplane.store import demands, tasks
from officeplane.store.connection import Connection, Ledger
from officeplane.store.task_columns import COLUMNS, SENT, Inserted, as_inserted
from tests.workbench import Workbench

DUE = datetime(2040, 1, 1, tzinfo=UTC)


def _id() -> TaskId:
    return TaskId(str(uuid7()))


ASKED = Demand(Space("acme"), "code", ("git", "python"), ("one", "two"), ("three",), 7)


def a_new_task(demand: Demand = ASKED) -> NewTask:
    """A task that has something of its own in all its fields."""
    return NewTask(
        id=_id(),
        task_type="replace_text",
        document_id="acme/a-document",
        title="a title",
        payload_json='{"a":1}',
        priority=7,
        runnable=True,
        yields=True,
        blockers=1,
        run_at=DUE,
        max_retries=9,
        timeout_seconds=12.5,
        retry_json='{"maxSeconds": 5}',
        parent_id=_id(),
        ancestors=(_id(), _id()),
        position=4,
        key="a-key",
        on_child_failure=ALL_OR_NOTHING,
        tags=("a", "b"),
        created_by="somebody",
        on_behalf_of="somebody else",
        space=Space("acme"),
        dag_id=DagId(str(uuid7())),
        spawned_by=_id(),
        spawn_key="a-spawn-key",
        deadline=DUE,
        boost_per_minute=0.5,
        path_boost=1.5,
        content_hash=b"a hash",
        unmet=1,
        lifts=True,
        demand=demand,
        agent_terms=AgentTerms(require_decision_report=True, output="json"),
    )


async def inserted(ledger: Ledger, given: list[NewTask]) -> list[Inserted]:
    """Insert tasks whose parents, DAGs and spawners are not there."""
    async with ledger.transaction() as connection:
        await connection.execute("SET LOCAL session_replication_role = replica")
        return await tasks.insert(connection, given)


def test_a_column_stands_for_every_field_of_tasks_and_of_new_tasks() -> None:
    assert {column.name for column in COLUMNS} >= set(Task._fields)
    assert {column.field or column.name for column in SENT} == set(NewTask._fields)


async def test_the_table_has_every_column(connection: Connection) -> None:
    rows = await connection.fetch("SELECT attname FROM pg_attribute WHERE attrelid = 'tasks'::regclass")

    assert {column.name for column in COLUMNS} - {row["attname"] for row in rows} == {"depends_on", "demand"}


async def test_a_task_is_read_as_it_was_inserted(bench: Workbench) -> None:
    ledger = bench.runtime.ledger
    asked = ASKED._replace(id=None)
    demand = asked._replace(id=(await demands.intern(ledger, [asked]))[asked])
    one, other = a_new_task(demand), a_new_task()._replace(key="another", position=5, content_hash=None)
    other = other._replace(demand=None, agent_terms=None)
    given = [one, other._replace(tags=(), ancestors=(), title=None, run_at=None, on_child_failure=None)]

    added_to = await inserted(ledger, given)

    expected = {row.id: as_inserted(row, added, {"a": 1}, ()) for row, added in zip(given, added_to, strict=True)}
    assert await tasks.fetch(ledger, expected) == expected


async def test_what_nobody_is_shown_is_stored_too(bench: Workbench, connection: Connection) -> None:
    new = a_new_task()

    await inserted(bench.runtime.ledger, [new])

    hidden = [column for column in SENT if column.name not in Task._fields]
    names = ", ".join(f"{column.name}::text" if column.stored else column.name for column in hidden)
    (row,) = await connection.fetch(f"SELECT {names} FROM tasks WHERE id = $1", new.id)  # noqa: S608  (our own names)
    assert {column.name: row[column.name] for column in hidden} == {
        column.name: column.encoded(value) if column.encoded else value
        for column in hidden
        for value in [getattr(new, column.field or column.name)]
    }
