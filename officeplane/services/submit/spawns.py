"""Spawns: a handler's new tasks are stored at once, while its attempt stands, and once for each key.

A handler that runs again from the top asks for the same tasks again and is
answered with what it has spawned before. The row of the spawning task is
locked meanwhile, so an attempt that has lost its claim stores nothing.
"""

import hashlib
import json
from typing import Final

from officeplane.domain.errors import (
    CycleError,
    DocumentNotFoundError,
    FieldError,
    InvalidPayloadError,
    InvalidRequestError,
)
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import GAVE_UP, TaskState
from officeplane.domain.quota import QuotaExceededError
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import ClaimedTask
from officeplane.handlers.contract import PermanentFailure, RateLimited
from officeplane.handlers.spawning import Spawned
from officeplane.services.claims.leases import ClaimLostError
from officeplane.services.submit.intake import Intake, take_in
from officeplane.services.submit.submission import Submission, Submitted
from officeplane.store import dags, dependencies, spawns
from officeplane.store.connection import Connection, Executor, Ledger
from officeplane.store.spawns import SpawningTask

SPAWNED_MAX: Final = 1_000
DEPTH_MAX: Final = 100
_SAME_EACH_TIME: Final = {"task_type", "payload", "document_id", "children"}


class TaskSpawner:
    """Stores the tasks that handlers spawn."""

    def __init__(self, ledger: Ledger, submission: Submission) -> None:
        self._ledger = ledger
        self._submission = submission

    async def spawn(self, task: ClaimedTask, request: TaskRequest, key: str, *, wait: bool = False) -> Spawned:
        """Return what an attempt has spawned under a key, now or before, to be waited for or not.

        Raises `PermanentFailure` for what cannot be spawned, `RateLimited` while the
        space has no room for more, and `ClaimLostError` when the attempt is no longer
        this worker's or was asked to stop.
        """
        try:
            spawned = await self._spawn(task, request, key)
            # A spawned task that waited for nothing may have come to wait for others since.
            if wait and not spawned.is_completed:
                await self._refuse_circle(task, spawned)
        except (InvalidRequestError, DocumentNotFoundError) as error:
            message = f"The task {key!r} cannot be spawned: {error}"
            raise PermanentFailure(message) from error
        except QuotaExceededError as error:
            raise RateLimited(error.retry_after, f"The task {key!r} cannot be spawned yet: {error}") from error
        return spawned

    async def _refuse_circle(self, task: ClaimedTask, spawned: Spawned) -> None:
        if await spawns.leads_back(self._ledger, spawned.task_id, task.id):
            message = f"task {spawned.task_id}, which it is to wait for, waits for it in its turn."
            raise CycleError(message)

    async def _spawn(self, task: ClaimedTask, request: TaskRequest, key: str) -> Spawned:
        request_hash = _hash(request)
        spawner = await self._look(self._ledger, task, key)
        known = _known(spawner, request_hash)
        if known is not None:
            return known
        await self._submission.types.know_those_of([request])
        intake = take_in(spawner.caller, _inheriting(request, spawner), self._submission.catalogue)
        (intake,) = await self._submission.check_documents([intake])
        await self._submission.check_quotas(spawner.caller, [intake])
        intake = _spawned(intake, task.id, key, spawner)

        async def store(connection: Connection) -> tuple[Spawned, Submitted | None]:
            if spawner.dag_id is not None:
                # The DAG is locked before the task, as everywhere: its cancel sees the new task, or is seen here.
                await dags.lock(connection, [spawner.dag_id])
            await spawns.lock(connection, task.id)
            # Another statement looks: the one that waited for the lock sees the rows as they were before.
            standing = await self._look(connection, task, key)
            known = _known(standing, request_hash)
            if known is not None:
                return known, None
            if not standing.stands:
                raise ClaimLostError(task.id)
            await _refuse_too_many(connection, task.id)
            stored = await self._submission.store_within(connection, intake)
            await spawns.remember(connection, task, key, stored.task.id, standing.generation, request_hash)
            return Spawned(stored.task.id, is_completed=False, result=None), stored

        spawned, stored = await self._ledger.in_transaction(store)
        if stored is not None:
            await self._submission.ring(stored.tasks)
        return spawned

    @staticmethod
    async def _look(executor: Executor, task: ClaimedTask, key: str) -> SpawningTask:
        spawner = await spawns.look(executor, task.id, task.claim_id, key)
        if spawner is None:
            raise ClaimLostError(task.id)
        found = spawner.found
        if found is None or found.state not in GAVE_UP or found.generation == spawner.generation:
            return spawner
        # After an explicit retry, a spawned task that was given up is as if it had never been spawned.
        return spawner._replace(found=None) if await dependencies.given_up(executor, [found.task_id]) else spawner


def _known(spawner: SpawningTask, request_hash: bytes) -> Spawned | None:
    """Return what the key led to, if that still counts: an explicit retry spawns anew what was cancelled or is gone."""
    found = spawner.found
    if found is None:
        return None
    if found.state in (None, TaskState.CANCELLED) and found.generation < spawner.generation:
        return None
    if found.request_hash != request_hash:
        message = "under this key it has spawned a task of another type, payload or document."
        raise InvalidRequestError(message, [FieldError("key", message)])
    return Spawned(found.task_id, found.state is TaskState.COMPLETED, found.result)


def _inheriting(request: TaskRequest, spawner: SpawningTask) -> TaskRequest:
    """Return the request with what it leaves open as it is with the task that spawns."""
    handed_on = {
        "priority": spawner.priority,
        "deadline": spawner.deadline,
        "boost_per_minute": spawner.boost_per_minute,
        "tags": list(spawner.tags),
        "on_behalf_of": None if request.created_by else spawner.on_behalf_of,
    }
    return request.model_copy(
        update={name: value for name, value in handed_on.items() if getattr(request, name) is None}
    )


def _spawned(intake: Intake, task_id: TaskId, key: str, spawner: SpawningTask) -> Intake:
    root, *below = (row._replace(dag_id=spawner.dag_id) for row in intake.rows)
    return intake._replace(rows=(root._replace(spawned_by=task_id, spawn_key=key), *below))


async def _refuse_too_many(executor: Executor, task_id: TaskId) -> None:
    extent = await spawns.extent(executor, task_id, depth_max=DEPTH_MAX)
    if extent.spawned >= SPAWNED_MAX:
        message = f"a task spawns at most {SPAWNED_MAX} others, and this one has."
        raise InvalidRequestError(message)
    if extent.depth >= DEPTH_MAX:
        message = f"{DEPTH_MAX} tasks above it have each spawned the next, and no more may."
        raise InvalidRequestError(message)


def _hash(request: TaskRequest) -> bytes:
    """Return what stands for all that has to be the same whenever a key is used."""
    try:
        asked = request.model_dump(mode="json", by_alias=True, exclude_unset=True, include=_SAME_EACH_TIME)
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode("utf-8", "surrogatepass")).digest()
    except (TypeError, ValueError, RecursionError) as error:
        message = f"The payload is not JSON: {error}."
        raise InvalidPayloadError(message, [FieldError("payload", message)]) from None
