"""Submission: requests become rows in one transaction, then the bell is rung.

Requests that arrive while a commit is under way share the next one. The bell
comes after the commit: a worker must never see an id that Postgres does not
have yet. A crash in between is the sweeper's work.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import (
    DocumentNotFoundError,
    FieldError,
    IdempotencyInProgressError,
    IdempotencyMismatchError,
    InvalidRequestError,
)
from officeplane.domain.failure import storable
from officeplane.domain.ids import DocumentId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.priority import tier_of
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import NewTask, Task
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.failpoints import reach
from officeplane.services.grouping import Group
from officeplane.services.intake import Intake, take_in
from officeplane.store import documents, tasks
from officeplane.store.connection import UNSTORABLE, Executor, Ledger, LockNotAvailableError
from officeplane.store.tasks import Inserted, UsedKey

GROUP_LIMIT: Final = 1_000


class Submitted(NamedTuple):
    """What one request became: its task, those below it, and whether all were there before."""

    tasks: tuple[Task, ...]
    replayed: bool

    @property
    def task(self) -> Task:
        """The task that was asked for."""
        return self.tasks[0]


class Submission:
    """The way in."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, catalogue: Catalogue) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self.catalogue = catalogue
        self.group: Group[Intake, Submitted] = Group(self._flush, GROUP_LIMIT)

    async def submit(self, request: TaskRequest) -> Submitted:
        """Store one task, together with whatever else is being submitted, and ring for it."""
        intake = take_in(request, self.catalogue)
        if intake.edited:
            await self.check_documents([intake])
        return await self.group.add(intake)

    async def submit_many(self, requests: Iterable[TaskRequest]) -> list[Submitted]:
        """Store all of these tasks or none, in the order given, and ring for them."""
        intakes: list[Intake] = []
        for index, request in enumerate(requests):
            try:
                intakes.append(take_in(request, self.catalogue))
            except InvalidRequestError as error:
                raise error.within(str(index)) from None
        await self.check_documents(intakes)
        try:
            return await self._store(intakes)
        except UNSTORABLE as error:
            raise _refusal(error) from error

    async def submit_within(self, executor: Executor, request: TaskRequest) -> Submitted:
        """Store one task in a transaction of the caller's; whoever commits may ring."""
        try:
            intake = take_in(request, self.catalogue)
            await self.check_documents([intake])
            (stored,) = await _keyed(executor, [intake])
        except UNSTORABLE as error:
            raise _refusal(error) from error
        return stored

    async def check_documents(self, intakes: Sequence[Intake]) -> None:
        """Refuse edits of documents that are not there, and edits that their documents' formats do not know."""
        edited = [one for intake in intakes for one in intake.edited]
        if not edited:
            return
        known = await documents.formats(self._ledger, {one.document_id for one in edited})
        for one in edited:
            if one.document_id not in known:
                raise DocumentNotFoundError(one.document_id)
            kind = known[one.document_id]
            if one.formats and kind not in one.formats:
                message = f"{one.task_type} knows {', '.join(one.formats)}; document {one.document_id!r} is a {kind}."
                raise InvalidRequestError(message, [FieldError(one.field, message)])

    async def ring(self, tasks: Iterable[Task]) -> None:
        """Ring for tasks that may run; a batch is rung by its first leaf."""
        await self._doorbell.bells.ring(
            (task.id, tier_of(task.priority))
            for task in tasks
            if task.state is TaskState.QUEUED and (not task.is_batch or task.is_atomic)
        )

    async def _flush(self, intakes: Sequence[Intake]) -> Sequence[Submitted | Exception]:
        try:
            return await self._store(intakes)
        except (*UNSTORABLE, IdempotencyMismatchError, IdempotencyInProgressError) as error:
            # One of them cannot be stored; halving finds it and lets its neighbours pass.
            if len(intakes) == 1:
                return [_refusal(error)]
            half = len(intakes) // 2
            return [*await self._flush(intakes[:half]), *await self._flush(intakes[half:])]

    async def _store(self, intakes: Sequence[Intake]) -> list[Submitted]:
        if any(intake.key or intake.conditions for intake in intakes):
            stored = await self._ledger.in_transaction(lambda connection: _keyed(connection, intakes))
        else:
            stored = await _fresh(self._ledger, intakes)
        await reach("after_insert")
        await self.ring(task for one in stored if not one.replayed for task in one.tasks)
        await reach("after_ring")
        return stored


async def _fresh(executor: Executor, intakes: Sequence[Intake]) -> list[Submitted]:
    inserted = iter(await tasks.insert(executor, [row for intake in intakes for row in intake.rows]))
    return [
        Submitted(
            tuple(
                _task(row, payload, next(inserted)) for row, payload in zip(intake.rows, intake.payloads, strict=True)
            ),
            replayed=False,
        )
        for intake in intakes
    ]


async def _keyed(executor: Executor, intakes: Sequence[Intake]) -> list[Submitted]:
    first = {intake.key: intake for intake in reversed(intakes) if intake.key is not None}
    used = {key: UsedKey(intake.request_hash, intake.root_id) for key, intake in first.items()}
    try:
        new = await tasks.remember_keys(executor, used)
    except LockNotAvailableError:
        raise IdempotencyInProgressError from None
    recalled = await tasks.recall_keys(executor, used.keys() - new)
    if used.keys() - new - recalled.keys():
        # It was there a statement ago and has expired since: free for whoever tries again.
        raise IdempotencyInProgressError
    earlier = used | recalled
    for intake in intakes:
        if intake.key is not None and earlier[intake.key].request_hash != intake.request_hash:
            message = f"The idempotency key {intake.key!r} was used before, with another body."
            raise IdempotencyMismatchError(message)
    fresh = [intake for intake in intakes if intake.key is None or (intake.key in new and first[intake.key] is intake)]
    stored = dict(zip((intake.root_id for intake in fresh), await _fresh(executor, fresh), strict=True))
    replays = {
        intake.root_id: earlier[intake.key].task_id
        for intake in intakes
        if intake.root_id not in stored and intake.key is not None
    }
    conditions = [condition for intake in fresh for condition in intake.conditions]
    if conditions:
        await documents.remember_conditions(executor, conditions)
    found = await tasks.fetch(executor, replays.values())
    return [
        stored.get(intake.root_id) or Submitted((found[replays[intake.root_id]],), replayed=True) for intake in intakes
    ]


def _refusal(error: Exception) -> Exception:
    if not isinstance(error, UNSTORABLE):
        return error
    message = f"The task could not be stored: {storable(str(error))}"
    return InvalidRequestError(message)


def _task(row: NewTask, payload: Mapping[str, object], inserted: Inserted) -> Task:
    return Task(
        id=row.id,
        seq=inserted.seq,
        task_type=row.task_type,
        document_id=None if row.document_id is None else DocumentId(row.document_id),
        title=row.title,
        payload=payload,
        state=inserted.state,
        priority=row.priority,
        rank=inserted.rank,
        run_at=inserted.run_at,
        yields=row.yields,
        blockers=row.blockers,
        max_retries=row.max_retries,
        timeout_seconds=row.timeout_seconds,
        generation=1,
        attempt=0,
        attempts_charged=0,
        poison_pill=False,
        worker_id=None,
        cancel_requested_at=None,
        cancel_reason=None,
        progress=None,
        result=None,
        error=None,
        parent_id=row.parent_id,
        ancestors=row.ancestors,
        position=row.position,
        key=row.key,
        on_child_failure=row.on_child_failure,
        tags=row.tags,
        created_by=row.created_by,
        created_at=inserted.created_at,
        queued_at=inserted.queued_at,
        started_at=None,
        finished_at=None,
    )
