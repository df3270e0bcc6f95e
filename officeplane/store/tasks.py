"""Tasks in the ledger: inserted in groups, read one by one and page by page."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypedDict

from officeplane.domain.audit import Deed
from officeplane.domain.errors import TaskNotFoundError
from officeplane.domain.ids import TaskId, WorkerId
from officeplane.domain.lifecycle import STATES, TaskState
from officeplane.domain.principal import EVERYTHING, Principal, Sight
from officeplane.domain.space import Space, qualified
from officeplane.domain.task import AttemptFailure, ChildSummary, NewTask, Task, TaskDetails
from officeplane.store import agent_claims, dependencies
from officeplane.store.audit import deed_values
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load
from officeplane.store.sights import seen_by
from officeplane.store.task_columns import Inserted, column_values, task_in

_SQL: Final = load("tasks")
END_OF_TIME: Final = 2**63 - 1
FAILURES_SHOWN: Final = 25
"""How many failed attempts of a task are shown: more than a generation is charged with."""
KEY_WAIT: Final = "2s"
OUT_OF_ORDER: Final = timedelta(minutes=5)
"""By how much at most a task with a later number has an earlier time, also when a clock is set back."""


@dataclass(frozen=True, slots=True)
class UsedKey:
    """What an idempotency key was used for."""

    request_hash: bytes
    task_id: TaskId


class Selected(NamedTuple):
    """A task that a filter selects, the root of its tree, and where it stands in the order of all."""

    id: TaskId
    root_id: TaskId
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFilter:
    """Which tasks a list shows."""

    states: tuple[TaskState, ...] | None = None
    document_id: str | None = None
    task_type: str | None = None
    priorities: tuple[int, int] | None = None
    parent_id: TaskId | None = None
    tag: str | None = None
    created_by: str | None = None
    on_behalf_of: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def within(self, space: Space) -> "TaskFilter":
        """Return the filter with the names that the ledger has for those of a space."""
        if self.document_id is None:
            return self
        return replace(self, document_id=qualified(space, self.document_id))


async def insert(executor: Executor, tasks: Sequence[NewTask], deeds: Sequence[Deed] = ()) -> list[Inserted]:
    """Insert tasks in the order given and return what the ledger added, in that order; keep whose deeds that is."""
    if not tasks:
        return []
    (row,) = await _SQL["insert"].fetch(executor, **column_values(tasks), **deed_values(deeds))
    now: datetime = row["now"]
    return [
        Inserted(seq, STATES[state], rank, run_at or now, now, now if state == TaskState.QUEUED else None)
        for seq, state, rank, run_at in zip(row["seqs"], row["states"], row["ranks"], row["run_ats"], strict=True)
    ]


async def remember_keys(executor: Executor, keys: Mapping[str, UsedKey]) -> set[str]:
    """Keep idempotency keys and return those that were new.

    A key that another transaction is about to keep is waited for, but not for long.
    """
    if not keys:
        return set()
    patience = await bound_lock_wait(executor, KEY_WAIT)
    ordered = sorted(keys.items())
    rows = await _SQL["remember_keys"].fetch(
        executor,
        keys=[key for key, _ in ordered],
        request_hashes=[used.request_hash for _, used in ordered],
        task_ids=[used.task_id for _, used in ordered],
    )
    # The transaction may be a caller's, who has other locks to wait for.
    await bound_lock_wait(executor, patience)
    return {row["key"] for row in rows}


async def bound_lock_wait(executor: Executor, wait: str) -> str:
    """Give up waiting for a lock after so long, until the transaction ends; return what it was before."""
    (row,) = await _SQL["bound_lock_wait"].fetch(executor, wait=wait)
    return str(row["before"])


async def recall_keys(executor: Executor, keys: Iterable[str]) -> dict[str, UsedKey]:
    """Return what these keys were used for."""
    rows = await _SQL["recall_keys"].fetch(executor, keys=list(keys))
    return {row["key"]: UsedKey(row["request_hash"], TaskId(str(row["task_id"]))) for row in rows}


async def pass_keys_on(executor: Executor, keys: Mapping[str, TaskId]) -> None:
    """Let keys that were just kept stand for other tasks."""
    await _SQL["pass_keys_on"].fetch(executor, keys=list(keys), task_ids=list(keys.values()))


async def unfinished_of(executor: Executor, contents: Collection[bytes]) -> dict[bytes, TaskId]:
    """Return the unfinished tasks of these contents, to which nobody adds until the transaction ends.

    Another transaction that is about to is waited for, but not for long.
    """
    (patience,) = await _SQL["bound_lock_wait"].fetch(executor, wait=KEY_WAIT)
    keys = sorted(int.from_bytes(content[:8], signed=True) for content in contents)
    await _SQL["lock_contents"].fetch(executor, lock_keys=keys)
    await _SQL["bound_lock_wait"].fetch(executor, wait=patience["before"])
    # In a statement of its own: the one that waited sees what was there before.
    rows = await _SQL["of_contents"].fetch(executor, content_hashes=list(contents))
    return {row["content_hash"]: TaskId(str(row["id"])) for row in rows}


async def contents(executor: Executor, task_ids: Iterable[TaskId]) -> dict[bytes, TaskId]:
    """Return those of these tasks that must not wait twice, by what stands for all that they do."""
    rows = await _SQL["contents"].fetch(executor, task_ids=list(task_ids))
    return {row["content_hash"]: TaskId(str(row["id"])) for row in rows}


async def fetch(executor: Executor, task_ids: Iterable[TaskId], sight: Sight = EVERYTHING) -> dict[TaskId, Task]:
    """Return tasks by id; ids that are not there, for this caller, are left out."""
    rows = await _SQL["fetch"].fetch(executor, task_ids=list(task_ids), **seen_by(sight))
    return {task.id: task for task in _as_seen(rows, sight)}


async def visible(executor: Executor, task_ids: Iterable[TaskId], sight: Sight) -> set[TaskId]:
    """Return which of these tasks are there for a caller."""
    rows = await _SQL["visible"].fetch(executor, task_ids=list(task_ids), **seen_by(sight))
    return {TaskId(str(row["id"])) for row in rows}


async def check_may_change(executor: Executor, caller: Principal, task_id: TaskId) -> None:
    """Raise when a task is not there for a caller, or is another's that the caller may not change."""
    rows = await _SQL["owner"].fetch(executor, task_id=task_id, **seen_by(caller.sight))
    if not rows:
        raise TaskNotFoundError(task_id)
    caller.check_own(rows[0]["created_by"])


async def states(executor: Executor, task_ids: Iterable[TaskId]) -> dict[TaskId, TaskState]:
    """Return the states of tasks by id."""
    rows = await _SQL["states"].fetch(executor, task_ids=list(task_ids))
    return {TaskId(str(row["id"])): TaskState(row["state"]) for row in rows}


async def page(
    executor: Executor, wanted: TaskFilter, sight: Sight, *, before: int, limit: int
) -> tuple[list[Task], bool]:
    """Return the newest tasks that fit, below a sequence number, and whether there may be more."""
    at_least, below = await _created(executor, wanted)
    rows = await _SQL["page"].fetch(
        executor,
        before=before if below is None else min(before, below),
        at_least=at_least,
        **_selected(wanted),
        **seen_by(sight),
        limit=limit,
    )
    found = rows[0]["found"] if rows else 0
    return _as_seen(rows, sight), found == limit or len(rows) < found


async def select(executor: Executor, wanted: TaskFilter, sight: Sight, *, after: int, limit: int) -> list[Selected]:
    """Return the oldest tasks that fit, above a sequence number; a batch comes before its children."""
    at_least, below = await _created(executor, wanted)
    rows = await _SQL["select"].fetch(
        executor,
        after=after if at_least is None else max(after, at_least - 1),
        below=below,
        **_selected(wanted),
        **seen_by(sight),
        limit=limit,
    )
    return [Selected(TaskId(str(row["id"])), TaskId(str(row["root_id"])), row["seq"]) for row in rows]


class _FilterValues(TypedDict):
    states: Sequence[str] | None
    document_id: str | None
    task_type: str | None
    low: int | None
    high: int | None
    parent_id: TaskId | None
    tag: str | None
    created_by: str | None
    on_behalf_of: str | None
    since: datetime | None
    until: datetime | None


async def _created(executor: Executor, wanted: TaskFilter) -> tuple[int | None, int | None]:
    """Return the sequence numbers between which everything was created that a filter selects by time."""
    at_least = below = None
    if wanted.since is not None:
        (row,) = await _SQL["seq_at"].fetch(executor, moment=_moved(wanted.since, -OUT_OF_ORDER))
        at_least = row["seq"]
    if wanted.until is not None:
        (row,) = await _SQL["seq_at"].fetch(executor, moment=_moved(wanted.until, OUT_OF_ORDER))
        below = row["seq"]
    return at_least, below


def _moved(moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        return moment


def _selected(wanted: TaskFilter) -> _FilterValues:
    low, high = wanted.priorities or (None, None)
    return {
        "states": None if wanted.states is None else [str(state) for state in wanted.states],
        "document_id": wanted.document_id,
        "task_type": wanted.task_type,
        "low": low,
        "high": high,
        "parent_id": wanted.parent_id,
        "tag": wanted.tag,
        "created_by": wanted.created_by,
        "on_behalf_of": wanted.on_behalf_of,
        "since": wanted.since,
        "until": wanted.until,
    }


async def details(
    executor: Executor, tasks: Sequence[Task], sight: Sight = EVERYTHING, *, whole: bool = False
) -> list[TaskDetails]:
    """Return the tasks with their failed attempts, their children in sight and what they still wait for.

    What agents have written at length comes with it only if the `whole` is wanted.
    """
    failed = await failures(executor, [task.id for task in tasks if task.attempt], sight)
    by_agents = [task.id for task in tasks if task.attempt and task.demand is not None]
    claimed = await agent_claims.of_tasks(executor, by_agents, whole=whole) if by_agents else {}
    children: dict[TaskId, list[ChildSummary]] = {task.id: [] for task in tasks if task.is_batch}
    if children:
        for row in await _SQL["children"].fetch(executor, parent_ids=list(children), **seen_by(sight)):
            children[TaskId(str(row["parent_id"]))].append(
                ChildSummary(TaskId(str(row["id"])), row["task_type"], TaskState(row["state"]), row["key"])
            )
    blocked_by: dict[TaskId, list[TaskId]] = {}
    blocked = [task.id for task in tasks if task.unmet]
    if blocked:
        for edge in await dependencies.of_tasks(executor, blocked):
            if edge.is_unmet:
                blocked_by.setdefault(edge.task_id, []).append(edge.depends_on)
    return [
        TaskDetails(
            task,
            tuple(agent_claims.failed(one, claimed.get(task.id, ())) for one in failed.get(task.id, ())),
            tuple(children[task.id]) if task.is_batch else None,
            tuple(blocked_by.get(task.id, ())),
            agent_claims.shown(claimed.get(task.id, ())),
        )
        for task in tasks
    ]


async def failures(
    executor: Executor, task_ids: Sequence[TaskId], sight: Sight = EVERYTHING
) -> dict[TaskId, list[AttemptFailure]]:
    """Return the latest failed attempts of tasks, in order; tasks without any are left out."""
    if not task_ids:
        return {}
    failed: dict[TaskId, list[AttemptFailure]] = {}
    for row in await _SQL["failures"].fetch(executor, task_ids=task_ids, limit=FAILURES_SHOWN):
        failed.setdefault(TaskId(str(row["task_id"])), []).append(_failure(row, sight))
    return failed


@dataclass(frozen=True, slots=True)
class LanePosition:
    """Where a task stands in its document's lane."""

    is_due: bool
    ahead: int
    head: TaskId | None
    occupant: TaskId | None
    occupied_by: WorkerId | None


async def lane_position(executor: Executor, task: Task) -> LanePosition:
    """Return what stands before a task in its lane, and who holds the lane."""
    (row,) = await _SQL["lane_position"].fetch(
        executor, document_id=task.document_id, rank=task.rank, seq=task.seq, run_at=task.run_at
    )
    return LanePosition(
        row["is_due"],
        row["ahead"],
        None if row["head"] is None else TaskId(str(row["head"])),
        None if row["occupant"] is None else TaskId(str(row["occupant"])),
        None if row["occupied_by"] is None else WorkerId(row["occupied_by"]),
    )


async def earlier_sibling(executor: Executor, task: Task) -> tuple[TaskId, TaskState] | None:
    """Return the unfinished sibling whose turn comes before this task's."""
    rows = await _SQL["earlier_siblings"].fetch(executor, parent_id=task.parent_id, task_id=task.id)
    return (TaskId(str(rows[0]["id"])), TaskState(rows[0]["state"])) if rows else None


def _as_seen(rows: Iterable[Row], sight: Sight) -> list[Task]:
    found = map(task_in, rows)
    return list(found) if sight.workers else [task._replace(worker_id=None) for task in found]


def _failure(row: Row, sight: Sight) -> AttemptFailure:
    return AttemptFailure(
        row["attempt"],
        row["worker_id"] if sight.workers else None,
        row["kind"],
        row["message"],
        row["started_at"],
        row["duration_seconds"],
        row["cost_usd"],
    )
