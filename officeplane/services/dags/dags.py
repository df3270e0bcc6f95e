"""DAGs: tasks that are submitted together and wait for each other, followed and cancelled as one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeAlias, TypeVar

import structlog
from uuid_utils import uuid7

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Action, Deed
from officeplane.domain.dag import Dag, DagStatus, DagTask
from officeplane.domain.errors import (
    DagEndedError,
    DagNotFoundError,
    FieldError,
    IdempotencyInProgressError,
    IdempotencyMismatchError,
    InvalidRequestError,
)
from officeplane.domain.failure import storable
from officeplane.domain.ids import DagId, DocumentId, TaskId
from officeplane.domain.lifecycle import FINAL
from officeplane.domain.principal import Principal
from officeplane.domain.request import DagRequest, DagTasksRequest
from officeplane.domain.space import bare_key, qualified_key
from officeplane.domain.tree import Tree, cancelling
from officeplane.services.dags.intake import take_in_dag
from officeplane.services.operate.cancellation import tell_cancelled
from officeplane.services.settle.batches import TreeEffects
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.dependents import follow, lock_around, update_statuses
from officeplane.services.submit.dependencies import waiting
from officeplane.services.submit.intake import Intake
from officeplane.services.submit.submission import DEPENDENCY_WAIT, Submission, Submitted, submitted
from officeplane.store import audit, dags, dependencies, documents, tasks, trees
from officeplane.store.connection import UNSTORABLE, Connection, Ledger, LockNotAvailableError
from officeplane.store.tasks import END_OF_TIME, UsedKey

INSERTED_AT_ONCE: Final = 1_000
_log = structlog.stdlib.get_logger(__name__)
Result = TypeVar("Result")
Store: TypeAlias = Callable[[Connection], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class DagDetails:
    """A DAG with its tasks in order."""

    dag: Dag
    tasks: tuple[DagTask, ...]


class Dags:
    """Stores, shows and cancels tasks that belong together."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, submission: Submission, letters: DeadLetterWriter) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._submission = submission
        self._letters = letters
        self._counted_by = letters.counted_by

    async def submit(self, caller: Principal, request: DagRequest, key: str | None = None) -> tuple[DagId, bool]:
        """Store a DAG with all its tasks and ring for those that may run; return its id, and whether it was there."""
        dag_id = DagId(str(uuid7()))
        key = None if key is None else qualified_key(caller.space, key)
        await self._submission.types.know_those_of(request.tasks)
        intakes = await asyncio.to_thread(take_in_dag, caller, request.tasks, (), dag_id, self._submission.catalogue)
        intakes = await self._submission.check_documents(intakes, "tasks.{}")
        await self._submission.check_quotas(caller, intakes)
        used = UsedKey(b"" if key is None else await asyncio.to_thread(_hash, request), intakes[0].root_id)

        async def store(connection: Connection) -> tuple[DagId, list[Submitted]]:
            if key is not None:
                earlier = await _earlier(connection, key, used)
                if earlier is not None:
                    return earlier, []
            await dags.insert(connection, dag_id, caller, request.title, request.asked_for)
            stored = await _inserted(connection, intakes, self._letters)
            deed = Deed(caller, Action.SUBMIT_DAG, dag_id, _ids(intakes), on_behalf_of=request.asked_for)
            await audit.write(connection, deed)
            # All that it waits for may have failed already: nobody would judge it later.
            await update_statuses(connection, [dag_id])
            return dag_id, stored

        stored_id, stored = await self._stored(store)
        await self._submission.rung(stored)
        return stored_id, not stored

    async def add(self, caller: Principal, dag_id: DagId, request: DagTasksRequest) -> None:
        """Add tasks to a DAG that is running, and ring for those that may run."""
        dag = await self._own_dag(caller, dag_id)
        existing = await dags.tasks(self._ledger, dag_id)
        await self._submission.types.know_those_of(request.tasks)
        intakes = await asyncio.to_thread(
            take_in_dag, caller, request.tasks, existing, dag_id, self._submission.catalogue
        )
        intakes = await self._submission.check_documents(intakes, "tasks.{}")
        await self._submission.check_quotas(caller, intakes)

        async def store(connection: Connection) -> list[Submitted]:
            await dags.lock(connection, [dag_id])
            standing = await dags.fetch(connection, dag_id)
            if standing is None or standing.status is not DagStatus.RUNNING:
                raise DagEndedError(dag_id, (standing or dag).status, "added to")
            if standing.cancel_requested_at is not None:
                # Its running tasks have been asked to stop and have not ended yet.
                raise DagEndedError(dag_id, "being cancelled", "added to")
            stored = await _inserted(connection, intakes, self._letters)
            await audit.write(connection, Deed(caller, Action.ADD_TO_DAG, dag_id, _ids(intakes)))
            return stored

        await self._submission.rung(await self._stored(store))

    async def details(self, caller: Principal, dag_id: DagId) -> DagDetails:
        """Return a DAG with its tasks."""
        dag = await self._dag(caller, dag_id)
        return DagDetails(dag, tuple(await dags.tasks(self._ledger, dag_id)))

    async def page(self, caller: Principal, status: DagStatus | None, before: int | None, limit: int) -> list[Dag]:
        """Return the newest DAGs that fit, below the sequence number of the last page's last."""
        return await dags.page(
            self._ledger, caller.sight, status=status, before=END_OF_TIME if before is None else before, limit=limit
        )

    async def cancel(self, caller: Principal, dag_id: DagId, reason: str | None) -> None:
        """Cancel what is unfinished of a DAG, at once or, while it runs, by asking it to stop."""
        reason = storable(reason or "its DAG was cancelled")
        dag = await self._own_dag(caller, dag_id)

        async def decide(connection: Connection) -> tuple[list[TaskId], list[TaskId], list[DocumentId], TreeEffects]:
            members = [task.id for task in await dags.tasks(connection, dag_id) if task.state not in FINAL]
            locked = await lock_around(connection, completing=(), ending=members, roots=())
            await dags.lock(connection, {dag_id} - locked)
            tree = await dags.unfinished(connection, dag_id)
            if not tree.nodes:
                raise DagEndedError(dag_id, dag.status, "cancelled")
            await dags.request_cancel(connection, dag_id)
            ending, asked = _plan(tree)
            ended, lanes = await trees.cancel(connection, ending, asked, reason, counted_by=self._counted_by)
            after = {"cancelled": len(ended), "askedToStop": len(asked), "reason": reason}
            await audit.write(
                connection, Deed(caller, Action.CANCEL_DAG, dag_id, before={"status": dag.status}, after=after)
            )
            effects = await follow(
                connection,
                ended,
                locked | {dag_id},
                [task.task_id for task in ended],
                self._letters,
            )
            return [task.task_id for task in ended], asked, lanes, effects

        await tell_cancelled(self._ledger, self._doorbell, *await self._ledger.in_transaction(decide))

    async def _dag(self, caller: Principal, dag_id: DagId) -> Dag:
        dag = await dags.fetch(self._ledger, dag_id, caller.sight)
        if dag is None:
            raise DagNotFoundError(dag_id)
        return dag

    async def _own_dag(self, caller: Principal, dag_id: DagId) -> Dag:
        dag = await self._dag(caller, dag_id)
        caller.check_own(dag.created_by)
        return dag

    async def _stored(self, store: Store[Result]) -> Result:
        try:
            return await self._ledger.in_transaction(store)
        except UNSTORABLE as error:
            # What the driver says may hold payloads: it is neither told nor logged.
            _log.warning("submission.unstorable", kind=type(error).__name__)
            message = "The DAG could not be stored: Postgres refuses one of its values."
            raise InvalidRequestError(message, [FieldError("tasks", message)]) from error


async def _inserted(connection: Connection, intakes: Sequence[Intake], letters: DeadLetterWriter) -> list[Submitted]:
    """Insert tasks and their edges; what they depend on is locked first."""
    await tasks.bound_lock_wait(connection, DEPENDENCY_WAIT)
    blocked, failed = await waiting(connection, intakes)
    stored: list[Submitted] = []
    for start in range(0, len(blocked), INSERTED_AT_ONCE):
        part = blocked[start : start + INSERTED_AT_ONCE]
        rows = [row for intake in part for row in intake.rows]
        stored += submitted(part, await tasks.insert(connection, rows))
    found = [(one.task_id, one.depends_on) for intake in intakes for one in intake.dependencies]
    if found:
        await dependencies.insert(connection, found)
        await letters.write(connection, failed)
    conditions = [condition for intake in intakes for condition in intake.conditions]
    if conditions:
        await documents.remember_conditions(connection, conditions)
    return stored


def _ids(intakes: Sequence[Intake]) -> list[TaskId]:
    return [row.id for intake in intakes for row in intake.rows]


async def _earlier(connection: Connection, key: str, used: UsedKey) -> DagId | None:
    """Return the DAG that a key stands for already; from now on it stands for the one about to be stored."""
    try:
        if await tasks.remember_keys(connection, {key: used}):
            return None
    except LockNotAvailableError:
        raise IdempotencyInProgressError from None
    recalled = (await tasks.recall_keys(connection, [key])).get(key)
    if recalled is None:
        raise IdempotencyInProgressError
    first = (await tasks.fetch(connection, [recalled.task_id])).get(recalled.task_id)
    if recalled.request_hash != used.request_hash or first is None or first.dag_id is None:
        message = f"The idempotency key {bare_key(key)!r} was used before, with another body."
        raise IdempotencyMismatchError(message)
    return first.dag_id


def _hash(request: DagRequest) -> bytes:
    return sha256(request.model_dump_json(by_alias=True, exclude_unset=True).encode()).digest()


def _plan(tree: Tree) -> tuple[list[TaskId], list[TaskId]]:
    """Return what ends at once and what is asked to stop, of all the trees together."""
    plans = [cancelling(tree, node.id) for node in tree.nodes.values() if node.parent_id not in tree.nodes]
    return sorted({one for plan in plans for one in plan.ended}), sorted({one for plan in plans for one in plan.asked})
