"""Submission: requests become rows in one transaction, then the bell is rung.

Requests that arrive while a commit is under way share the next one. The bell
comes after the commit: a worker must never see an id that Postgres does not
have yet. A crash in between is the sweeper's work.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, Protocol, TypeAlias

import structlog

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Deed
from officeplane.domain.errors import (
    DatabaseUnavailableError,
    DocumentNotFoundError,
    FieldError,
    IdempotencyInProgressError,
    IdempotencyMismatchError,
    InvalidReferenceError,
    InvalidRequestError,
)
from officeplane.domain.hint import Hint
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.principal import Principal
from officeplane.domain.priority import tier_of
from officeplane.domain.quota import QuotaExceededError
from officeplane.domain.request import TaskRequest
from officeplane.domain.space import bare, bare_key
from officeplane.domain.task import Task
from officeplane.failpoints import reach
from officeplane.grouping import Group
from officeplane.services.access.spaces import Spaces
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.submit.demands import Demands
from officeplane.services.submit.dependencies import waiting
from officeplane.services.submit.intake import Intake, deeds_of, take_in
from officeplane.services.submit.sources import with_sources
from officeplane.services.submit.task_types import TaskTypes
from officeplane.store import dependencies, documents, tasks
from officeplane.store.connection import UNSTORABLE, Executor, Ledger, LockNotAvailableError
from officeplane.store.task_columns import Inserted, as_inserted
from officeplane.store.tasks import UsedKey

GROUP_LIMIT: Final = 1_000
PART: Final = 200
DEPENDENCY_WAIT: Final = "200ms"
_log = structlog.stdlib.get_logger(__name__)


_Take: TypeAlias = Callable[[Iterable[Intake]], Awaitable[list[Intake]]]


class Requests(Sized, Iterable[TaskRequest], Protocol):
    """So many requests, which may be gone through more than once."""


class Submitted(NamedTuple):
    """What one request became: its task, those below it, and whether all were there before."""

    task: Task
    below: tuple[Task, ...] = ()
    replayed: bool = False

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The task that was asked for, and those below it in order."""
        return (self.task, *self.below)


class Submission:
    """Stores requests as tasks, and rings for them."""

    def __init__(
        self, ledger: Ledger, doorbell: Doorbell, types: TaskTypes, letters: DeadLetterWriter, spaces: Spaces
    ) -> None:
        self._ledger = ledger
        self._spaces = spaces
        self._doorbell = doorbell
        self.types = types
        self.catalogue = types.catalogue
        self._letters = letters
        self._demands = Demands(ledger)
        self.group: Group[Intake, Submitted] = Group(self._flush, GROUP_LIMIT)
        # What others depend on may be locked for a while, which concerns nobody else.
        self.dependents: Group[Intake, Submitted] = Group(self._flush, GROUP_LIMIT)

    async def submit(
        self, caller: Principal, request: TaskRequest, *, is_large: bool = False, deed: Deed | None = None
    ) -> Submitted:
        """Store one task, together with whatever else is being submitted, and ring for it.

        What is large is taken in beside the loop. `deed` is what the caller does by it, if that is more.
        """
        await self.types.know_those_of([request])
        if is_large:
            intake = await asyncio.to_thread(take_in, caller, request, self.catalogue)
        else:
            intake = take_in(caller, request, self.catalogue)
        if deed is not None:
            intake = intake._replace(deed=deed)
        if intake.edited:
            (intake,) = await self.check_documents([intake])
        if not self._spaces.has_no_limits(caller):
            await self.check_quotas(caller, [intake])
        if intake.demands:
            (intake,) = await self._demands.numbered([intake])
        return await (self.dependents if intake.dependencies else self.group).add(intake)

    async def submit_many(self, caller: Principal, requests: Requests, *, is_large: bool = False) -> list[Submitted]:
        """Store all of these tasks or none, in the order given, and ring for them.

        What is more than a part is checked and written at the same time: a
        refusal further behind takes back what was written before it. What is
        large is taken in beside the loop.
        """
        take = _take_beside if is_large else _take
        try:
            return await self._submit_many(caller, requests, take)
        except _LookFirstError:
            await self.types.look()
            return await self._submit_many(caller, requests, take, has_looked=True)

    async def submit_within(self, caller: Principal, executor: Executor, request: TaskRequest) -> Submitted:
        """Store one task in a transaction of the caller's; whoever commits may ring."""
        await self.types.know_those_of([request])
        try:
            (intake,) = await self.ready(caller, [take_in(caller, request, self.catalogue)])
        except UNSTORABLE as error:
            raise _refusal(error) from error
        return await self.store_within(executor, intake)

    async def store_within(self, executor: Executor, intake: Intake) -> Submitted:
        """Do the same for what the caller has taken in and made ready."""
        try:
            (stored,) = await _keyed(executor, [intake], self._letters)
        except UNSTORABLE as error:
            raise _refusal(error) from error
        return stored

    async def ready(self, caller: Principal, intakes: Sequence[Intake], place: str = "") -> Sequence[Intake]:
        """Return what was taken in as it can be stored; raise when it refers to what is not there, or is too much.

        `place` is where one of several stands in what came; `{}` is its number.
        """
        intakes = await self.check_documents(intakes, place)
        await self.check_quotas(caller, intakes)
        return await self._demands.numbered(intakes)

    async def check_documents(self, intakes: Sequence[Intake], place: str = "") -> list[Intake]:
        """Refuse edits of documents that are not there, and edits that their documents' formats do not know.

        Those that take something from others are returned with the revision of which they do. `place` is where one of
        several stands in what came; `{}` is its number.
        """
        checked = [*intakes]
        edited = [one for intake in intakes for one in intake.edited]
        if not edited:
            return checked
        known = await documents.formats(self._ledger, {one.document_id for one in edited})
        repeated: set[str] = set()
        if any(one.document_id not in known for one in edited):
            # A request that was stored before is answered with what it became, whatever has gone since.
            keys = [intake.key for intake in intakes if intake.key is not None]
            repeated = set(await tasks.recall_keys(self._ledger, keys))
        for index, intake in enumerate(intakes):
            if intake.key in repeated:
                continue
            for one in intake.edited:
                if one.document_id not in known:
                    raise DocumentNotFoundError(one.document_id)
                kind = known[one.document_id]
                if one.formats and kind not in one.formats:
                    knows = ", ".join(one.formats)
                    message = f"{one.task_type} knows {knows}; document {bare(one.document_id)!r} is a {kind}."
                    refusal = InvalidRequestError(message, [FieldError(one.field, message)])
                    raise refusal.within(place.format(index))
            if any(one.takes_from is not None for one in intake.edited):
                try:
                    checked[index] = await with_sources(self._ledger, intake)
                except InvalidRequestError as error:
                    raise error.within(place.format(index)) from None
        return checked

    async def check_quotas(self, caller: Principal, intakes: Sequence[Intake]) -> None:
        """Refuse what the caller's space may not have besides, unless all of it was stored before."""
        count = sum(len(intake.rows) for intake in intakes)
        edited = {one.document_id for intake in intakes for one in intake.edited}
        try:
            await self._spaces.let_in_tasks(caller, count, edited)
        except QuotaExceededError:
            keys = {intake.key for intake in intakes if intake.key is not None}
            if len(keys) < len(intakes) or len(await tasks.recall_keys(self._ledger, keys)) < len(keys):
                raise

    async def ring(self, tasks: Iterable[Task]) -> None:
        """Ring for tasks that may run, once for each lane; a batch is rung by its first leaf."""
        hints: dict[str, Hint] = {}
        for task in tasks:
            if task.state is not TaskState.QUEUED or (task.is_batch and not task.is_atomic):
                continue
            if task.demand is not None:
                # No worker does what agents do: a hint would be popped in vain.
                continue
            tier = tier_of(task.effective_priority(task.created_at) if _has_urgency(task) else task.priority)
            # Any hint leads to its lane's head: the others would be popped in vain, before those of other documents.
            place = task.document_id or task.id
            known = hints.get(place)
            if known is None or tier < known.tier:
                hints[place] = Hint(task.id, tier, task.space)
        await self._doorbell.bells.ring(hints.values())

    async def rung(self, stored: list[Submitted]) -> list[Submitted]:
        """Ring for what was stored just now, and return it."""
        await reach("after_insert")
        await self.ring(task for one in stored if not one.replayed for task in one.tasks)
        await reach("after_ring")
        return stored

    async def _submit_many(
        self, caller: Principal, requests: Requests, take: _Take, *, has_looked: bool = False
    ) -> list[Submitted]:
        many = partial(self._taken_in, caller, requests, has_looked=has_looked)
        try:
            # Where there are limits, all have to be known before the first is stored.
            if len(requests) > PART and not await self._spaces.is_limited(caller):
                with suppress(_TogetherError):
                    return await self.rung(
                        await self._ledger.in_transaction(lambda one: self._overlapped(one, many(), take))
                    )
            intakes = await take(many())
            return await self._store(await self.ready(caller, intakes, "{}"))
        except UNSTORABLE as error:
            raise _refusal(error) from error

    async def _flush(self, intakes: Sequence[Intake]) -> Sequence[Submitted | Exception]:
        try:
            return await self._store(intakes)
        except (*UNSTORABLE, IdempotencyMismatchError, IdempotencyInProgressError, InvalidReferenceError) as error:
            # One of them cannot be stored; halving finds it and lets its neighbours pass.
            if len(intakes) == 1:
                return [_refusal(error)]
            half = len(intakes) // 2
            return [*await self._flush(intakes[:half]), *await self._flush(intakes[half:])]
        except DatabaseUnavailableError as error:
            # Only these failed: the other half of the group has an answer of its own.
            return [error] * len(intakes)

    async def _store(self, intakes: Sequence[Intake]) -> list[Submitted]:
        if any(intake.dependencies for intake in intakes):
            stored = await self._ledger.in_transaction(lambda one: _patiently(one, intakes, self._letters))
        elif any(intake.key or intake.conditions or intake.content_hash for intake in intakes):
            stored = await self._ledger.in_transaction(lambda one: _keyed(one, intakes, self._letters))
        else:
            stored = await _fresh(self._ledger, intakes)
        return await self.rung(stored)

    async def _overlapped(self, connection: Executor, coming: Iterator[Intake], take: _Take) -> list[Submitted]:
        """Insert part after part; while Postgres has one, make the answers of the last and take in the next.

        Nothing is kept for longer than its turn: what a caller's garbage collector
        finds alive in two looks, it looks through again and again.
        """
        stored: list[Submitted] = []
        part = await take(islice(coming, PART))
        earlier: tuple[Sequence[Intake], Sequence[Inserted]] = (), ()
        while part:
            if any(_is_looked_up(intake) for intake in part):
                raise _TogetherError
            writing = asyncio.ensure_future(_inserted(connection, part))
            try:
                # In the first turn of the loop the statement is made, in the second it has been sent.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                stored += submitted(*earlier)
                following = await take(islice(coming, PART))
            finally:
                # Whatever happens here, no statement is under way when the transaction ends.
                inserted = await writing
            earlier, part = (part, inserted), following
        return stored + submitted(*earlier)

    def _taken_in(self, caller: Principal, requests: Iterable[TaskRequest], *, has_looked: bool) -> Iterator[Intake]:
        for index, request in enumerate(requests):
            if not has_looked and not self.types.handles(request):
                raise _LookFirstError
            try:
                intake = take_in(caller, request, self.catalogue)
            except InvalidRequestError as error:
                raise error.within(str(index)) from None
            yield intake


async def _take(coming: Iterable[Intake]) -> list[Intake]:
    return list(coming)


async def _take_beside(coming: Iterable[Intake]) -> list[Intake]:
    return await asyncio.to_thread(list, coming)


class _TogetherError(Exception):
    """For one of these something is looked up, which is done for all together."""


class _LookFirstError(Exception):
    """One of these names a type that has no handler here: the ledger is to be asked for it first."""


async def _patiently(executor: Executor, intakes: Sequence[Intake], letters: DeadLetterWriter) -> list[Submitted]:
    """Store tasks some of which depend on others; who waits long for a lock may be waited for, and starts again."""
    await tasks.bound_lock_wait(executor, DEPENDENCY_WAIT)
    return await _keyed(executor, intakes, letters)


def _is_looked_up(intake: Intake) -> bool:
    """Tell whether a request has a key, must not wait twice, edits a document, depends on a task, is an agent's."""
    looked_up = intake.key or intake.edited or intake.conditions or intake.content_hash
    return bool(looked_up or intake.dependencies or intake.demands)


async def _fresh(executor: Executor, intakes: Sequence[Intake]) -> list[Submitted]:
    return submitted(intakes, await _inserted(executor, intakes))


async def _inserted(executor: Executor, intakes: Sequence[Intake]) -> list[Inserted]:
    return await tasks.insert(executor, [row for intake in intakes for row in intake.rows], deeds_of(intakes))


def submitted(intakes: Iterable[Intake], inserted: Iterable[Inserted]) -> list[Submitted]:
    """Return what requests became, with what the ledger added to their rows."""
    each = iter(inserted)
    return [
        # Nearly every request is one task that depends on nothing.
        Submitted(as_inserted(intake.rows[0], next(each), intake.payloads[0], ()))
        if len(intake.rows) == 1 and not intake.dependencies
        else _submitted(intake, each)
        for intake in intakes
    ]


def _submitted(intake: Intake, each: Iterator[Inserted]) -> Submitted:
    depends_on = intake.depends_on
    task, *below = (
        as_inserted(row, next(each), payload, depends_on.get(row.id, ()))
        for row, payload in zip(intake.rows, intake.payloads, strict=True)
    )
    return Submitted(task, tuple(below))


async def _keyed(executor: Executor, intakes: Sequence[Intake], letters: DeadLetterWriter) -> list[Submitted]:
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
            message = f"The idempotency key {bare_key(intake.key)!r} was used before, with another body."
            raise IdempotencyMismatchError(message)
    fresh = [intake for intake in intakes if intake.key is None or (intake.key in new and first[intake.key] is intake)]
    twins = await _twins(executor, fresh)
    fresh = [intake for intake in fresh if intake.root_id not in twins]
    needed = [(one.task_id, one.depends_on) for intake in fresh for one in intake.dependencies]
    failed: list[TaskId] = []
    if needed:
        fresh, failed = await waiting(executor, fresh)
    stored = dict(zip((intake.root_id for intake in fresh), await _fresh(executor, fresh), strict=True))
    if needed:
        await dependencies.insert(executor, needed)
        await letters.write(executor, failed)
    conditions = [condition for intake in fresh for condition in intake.conditions]
    if conditions:
        await documents.remember_conditions(executor, conditions)
    replays = {intake.root_id: _root_of(intake, earlier) for intake in intakes if intake.root_id not in stored}
    replays = {root_id: twins.get(earlier_id, earlier_id) for root_id, earlier_id in replays.items()}
    found = await tasks.fetch(executor, replays.values())
    return [
        stored.get(intake.root_id) or Submitted(found[replays[intake.root_id]], replayed=True) for intake in intakes
    ]


async def _twins(executor: Executor, intakes: Sequence[Intake]) -> dict[TaskId, TaskId]:
    """Return which of these are not to be stored, and the unfinished tasks that do the same."""
    first = {intake.content_hash: intake.root_id for intake in reversed(intakes) if intake.content_hash is not None}
    if not first:
        return {}
    try:
        unfinished = await tasks.unfinished_of(executor, first)
    except LockNotAvailableError:
        raise IdempotencyInProgressError from None
    standing = first | unfinished
    twins = {
        intake.root_id: standing[intake.content_hash]
        for intake in intakes
        if intake.content_hash is not None and standing[intake.content_hash] != intake.root_id
    }
    keys = {intake.key: twins[intake.root_id] for intake in intakes if intake.key and intake.root_id in twins}
    if keys:
        await tasks.pass_keys_on(executor, keys)
    return twins


def _root_of(intake: Intake, earlier: Mapping[str, UsedKey]) -> TaskId:
    """Return the task that the key of a request stands for; without a key, its own."""
    return intake.root_id if intake.key is None else earlier[intake.key].task_id


def _has_urgency(task: Task) -> bool:
    """Tell whether a new task is more urgent than its priority says."""
    return task.deadline is not None or task.dag_id is not None


def _refusal(error: Exception) -> Exception:
    if not isinstance(error, UNSTORABLE):
        return error
    # What the driver says may hold the payload: it is neither told nor logged.
    _log.warning("submission.unstorable", kind=type(error).__name__)
    return InvalidRequestError("The task could not be stored: Postgres refuses one of its values.")
