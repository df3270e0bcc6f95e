"""The columns of tasks: how each is sent when a task is inserted, stored, shown and read.

From this table are made what is inserted, what is selected, and the tasks that are made
of either. A field of a task needs a line here and its column in a migration.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, NamedTuple

from officeplane.domain.demand import AgentTerms, Demand
from officeplane.domain.ids import DagId, DocumentId, TaskId, WorkerId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.space import Space
from officeplane.domain.task import NewTask, Task
from officeplane.store.connection import Row


class Inserted(NamedTuple):
    """What the ledger added to a new task."""

    seq: int
    state: TaskState
    rank: float
    run_at: datetime
    created_at: datetime
    queued_at: datetime | None


class Column(NamedTuple):
    """A column of tasks; it is shown if a task has a field of its name."""

    name: str
    sent: str = ""
    """As which type it is sent when a task is inserted; empty: the ledger decides about it."""
    field: str = ""
    """The field of a new task that it is sent from, if that has another name."""
    may_be_null: bool = True
    stored: str = ""
    """What is stored, made of what was sent under its name, if that is not the same."""
    shown: str = ""
    """What is selected, if that is not the column itself."""
    initial: object = None
    """What a new task has there, if it is neither sent nor told by the ledger."""
    encoded: Callable[[Any], object] | None = None
    """Makes of a new task's field what is sent."""
    decoded: Callable[[Any], object] | None = None
    """Makes of what was selected a task's field."""


def _unless_null(make: Callable[[Any], object]) -> Callable[[Any], object]:
    return lambda value: None if value is None else make(value)


def _ids(values: Sequence[object]) -> tuple[TaskId, ...]:
    return tuple(TaskId(str(value)) for value in values)


def _task_id(value: object) -> TaskId:
    return TaskId(str(value))


# Postgres has no arrays of arrays of different lengths: these two go as texts.
def _array_text(ids: tuple[TaskId, ...]) -> str | None:
    return "{" + ",".join(ids) + "}" if ids else None


def _json_text(tags: tuple[str, ...]) -> str | None:
    return json.dumps(tags) if tags else None


def _number(demand: Demand) -> int:
    if demand.id is None:
        # Stored without one, its task would be a worker's.
        message = f"the demand of a task of type {demand.task_type!r} was not looked up before the task is stored"
        raise ValueError(message)
    return demand.id


def _demand(value: str) -> Demand:
    number, space, task_type, capabilities, models, fallback_models = json.loads(value)
    return Demand(Space(space), task_type, tuple(capabilities), tuple(models), tuple(fallback_models), number)


# Terms that are not asked for are left out.
def _terms_json(terms: AgentTerms) -> str:
    told: dict[str, object] = {"requireDecisionReport": True} if terms.require_decision_report else {}
    return json.dumps(told if terms.output is None else {**told, "output": {"type": terms.output}})


def _terms(value: str) -> AgentTerms:
    told = json.loads(value)
    return AgentTerms(told.get("requireDecisionReport", False), told.get("output", {}).get("type"))


_json: Final = _unless_null(json.loads)
_DEPENDS_ON: Final = "ARRAY(SELECT depends_on FROM task_edges WHERE task_id = tasks.id ORDER BY depends_on)"
# Of what workers do nothing is looked up.
_DEMAND: Final = """CASE WHEN tasks.demand_id IS NOT NULL THEN (
           SELECT json_build_array(d.id, d.space, d.task_type, d.capabilities, d.models, d.fallback_models)::text
             FROM demands d WHERE d.id = tasks.demand_id) END"""
_TAGS: Final = "CASE WHEN tags IS NULL THEN '{}' ELSE ARRAY(SELECT jsonb_array_elements_text(tags::jsonb)) END"
# The last that was told stays in the row; of what is done it says less than the state.
_PROGRESS: Final = "CASE WHEN state <> 'COMPLETED' THEN progress::text END"

COLUMNS: Final = (
    Column("id", "uuid", decoded=_task_id),
    Column("seq"),
    Column("task_type", "text", may_be_null=False),
    Column("document_id", "text", decoded=_unless_null(DocumentId)),
    Column("title", "text"),
    # JSON goes in and out as text: the connection may be a caller's, with codecs of its own.
    Column("payload", "text", "payload_json", may_be_null=False, stored="payload::jsonb", shown="payload::text",
           decoded=_json),
    Column("state", decoded=STATES.__getitem__),
    Column("priority", "smallint", may_be_null=False),
    Column("rank"),
    Column("runnable", "boolean", may_be_null=False),
    Column("yields", "boolean", may_be_null=False),
    Column("blockers", "integer", may_be_null=False),
    Column("unmet", "integer", may_be_null=False),
    Column("run_at", "timestamptz", stored="coalesce(run_at, now)"),
    Column("max_retries", "smallint", may_be_null=False),
    Column("timeout_seconds", "float8", may_be_null=False),
    Column("retry_policy", "text", "retry_json", stored="retry_policy::jsonb"),
    Column("generation", initial=1),
    Column("attempt", initial=0),
    Column("attempts_charged", initial=0),
    Column("poison_pill", initial=False),
    Column("worker_id", decoded=_unless_null(WorkerId)),
    Column("cancel_requested_at"),
    Column("cancel_reason"),
    Column("progress", shown=_PROGRESS, decoded=_json),
    Column("result", shown="result::text", decoded=_json),
    Column("error", shown="error::text", decoded=_json),
    Column("parent_id", "uuid", decoded=_unless_null(_task_id)),
    Column("ancestors", "text", stored="coalesce(ancestors::uuid[], '{}')", encoded=_array_text, decoded=_ids),
    Column("position", "integer"),
    Column("key", "text"),
    Column("on_child_failure", "text"),
    Column("tags", "text", stored=_TAGS, encoded=_json_text, decoded=tuple),
    Column("created_by", "text", may_be_null=False),
    Column("on_behalf_of", "text"),
    Column("space", "text", may_be_null=False),
    Column("created_at"),
    Column("queued_at"),
    Column("started_at"),
    Column("finished_at"),
    Column("dag_id", "uuid", decoded=_unless_null(lambda value: DagId(str(value)))),
    Column("spawned_by", "uuid", decoded=_unless_null(_task_id)),
    Column("spawn_key", "text"),
    Column("deadline", "timestamptz"),
    Column("boost_per_minute", "float8"),
    Column("path_boost", "float8", may_be_null=False),
    Column("content_hash", "bytea"),
    Column("lifts", "boolean", may_be_null=False),
    Column("demand_id", "integer", "demand", encoded=_unless_null(_number)),
    Column("agent_terms", "text", stored="agent_terms::jsonb", shown="agent_terms::text",
           encoded=_unless_null(_terms_json), decoded=_unless_null(_terms)),
    # No columns of the table: what the task's number stands for, and where its edges lead.
    Column("demand", shown=_DEMAND, decoded=_unless_null(_demand)),
    Column("depends_on", shown=_DEPENDS_ON, decoded=_ids),
)  # fmt: skip

SENT: Final = tuple(column for column in COLUMNS if column.sent)
_SHOWN: Final = tuple({column.name: column for column in COLUMNS}[name] for name in Task._fields)


def _listed(items: Sequence[str]) -> str:
    """Return a list as SQL has it, in lines of a few."""
    lines = (", ".join(items[start : start + 5]) for start in range(0, len(items), 5))
    return ",\n       ".join(lines)


def _given(column: Column) -> str:
    if column.may_be_null:
        return f"g.{column.name}"
    return f"coalesce(g.{column.name}, (:{column.name}::{column.sent}[])[1]) AS {column.name}"


PARTS: Final[Mapping[str, str]] = {
    "task_columns": _listed([f"{one.shown} AS {one.name}" if one.shown else one.name for one in _SHOWN]),
    "columns_sent": _listed([f":{one.name}::{one.sent}[]" for one in SENT]),
    "columns_given": _listed([_given(one) for one in SENT]),
    "columns_stored": _listed([one.stored or one.name for one in SENT]),
    "columns_of_new_tasks": _listed([one.name for one in SENT]),
}
"""What statements about tasks are put together of, by the names that they have for it."""


def column_values(tasks: Sequence[NewTask]) -> dict[str, Sequence[object]]:
    """Return what is sent of new tasks, column by column."""
    columns: dict[str, Sequence[object]] = dict(zip(NewTask._fields, zip(*tasks, strict=True), strict=True))
    return {column.name: _column(column, columns[column.field or column.name]) for column in SENT}


def _column(column: Column, values: Sequence[object]) -> Sequence[object]:
    """Return no value for a column of nulls, one for a column without nulls that is the same everywhere.

    `unnest` fills shorter arrays with nulls, and the statement takes the first value for these.
    """
    if column.encoded is not None:
        if values.count(None) == len(values):
            return []
        values = [column.encoded(value) for value in values]
    first = values[0]
    if values.count(first) < len(values):
        return values
    return [] if first is None else values if column.may_be_null else [first]


_DECODERS: Final = tuple((column.name, column.decoded) for column in _SHOWN)


def task_in(row: Row) -> Task:
    """Return the task that a row has the columns of."""
    return Task._make(row[name] if decoded is None else decoded(row[name]) for name, decoded in _DECODERS)


_TOLD: Final = (*NewTask._fields, *Inserted._fields, "payload", "depends_on")
_REST: Final = tuple(column for column in COLUMNS if column.name not in _TOLD)
_INITIAL: Final = tuple(column.initial for column in _REST)
# Of two of one name the ledger's comes later, and counts.
_PLACES: Final = {name: place for place, name in enumerate((*_TOLD, *(column.name for column in _REST)))}
_chosen: Final = itemgetter(*(_PLACES[name] for name in Task._fields))


def as_inserted(
    row: NewTask, inserted: Inserted, payload: Mapping[str, object], depends_on: tuple[TaskId, ...]
) -> Task:
    """Return the task that a new one has become."""
    return Task._make(_chosen(row + inserted + (payload, depends_on) + _INITIAL))
