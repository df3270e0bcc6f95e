"""The runner: one attempt from its payload to its outcome, whatever the handler does."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime

import structlog
from pydantic import BaseModel, ValidationError

from officeplane.domain.batch import BATCH_TYPE
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.outcome import Failed, HandedBack, Outcome, Waiting
from officeplane.domain.reference import REF_TEXT, MissingResultError, PayloadTooLargeError
from officeplane.domain.task import ClaimedTask
from officeplane.domain.validation import read
from officeplane.failpoints import reach
from officeplane.handlers.catalogue import Catalogue
from officeplane.handlers.context import Context, Reader, Reports
from officeplane.handlers.contract import TaskType, failure_of
from officeplane.handlers.spawning import suspension_in
from officeplane.services.claims.leases import Leases
from officeplane.services.edits.editing import DocumentReader, Editing
from officeplane.services.submit.spawns import TaskSpawner
from workers.children import Children
from workers.results import EditsWanted, outcome_of

_log = structlog.stdlib.get_logger(__name__)


class Runner:
    """Runs handlers: `async def` in this loop, plain `def` in a child process, edits in the sandbox."""

    def __init__(
        self,
        catalogue: Catalogue,
        leases: Leases,
        editing: Editing,
        spawner: TaskSpawner,
        reports: Reports,
        children: Children,
    ) -> None:
        self._catalogue = catalogue
        self._leases = leases
        self._editing = editing
        self._spawner = spawner
        self._reports = reports
        self._children = children

    async def run(self, task: ClaimedTask) -> Outcome:
        """Return how the attempt ended; only cancellation gets out as an exception."""
        await reach("handler_start")
        outcome = await self._run(task, self._catalogue.types[task.task_type])
        await reach("handler_end")
        return outcome

    async def _run(self, task: ClaimedTask, task_type: TaskType) -> Outcome:
        try:
            if task.task_type == BATCH_TYPE:
                return await self._editing.run_batch(task)
            payload_json = task.payload_json
            if REF_TEXT in payload_json:
                payload_json = await self._leases.resolve_payload(task, task_type.payload_bytes_max)
            if task_type.edits_document:
                return await self._editing.run(task, payload_json)
            reader = _FirstLook(self._editing, task)
            if not task_type.is_async:
                ended = await self._children.run(task, payload_json, self._reports, reader, self._spawner)
            else:
                payload = read(task_type.payload, payload_json)
                ended = await self._run_here(task, task_type, payload, reader)
            return await self._editing.apply(reader(), ended.edits) if isinstance(ended, EditsWanted) else ended
        except MissingResultError as error:
            return Failed(Failure(FailureKind.PERMANENT, f"a reference leads nowhere: {error}"))
        except PayloadTooLargeError as error:
            return Failed(Failure(FailureKind.PERMANENT, str(error)))
        except ValidationError as error:
            return Failed(Failure(FailureKind.PERMANENT, f"the payload does not fit: {describe(error)}"))
        except DatabaseUnavailableError:
            return HandedBack()

    async def _run_here(
        self, task: ClaimedTask, task_type: TaskType, payload: BaseModel, reader: Callable[[], Reader]
    ) -> Outcome | EditsWanted:
        checkpoint: object = None if task.checkpoint_json is None else json.loads(task.checkpoint_json)
        context = Context(task, checkpoint, self._reports, reader, self._spawner)
        assert task_type.run is not None  # noqa: S101 - only runnable types are claimed
        try:
            result: object = await task_type.run(payload, context)
        except DatabaseUnavailableError:
            return HandedBack()
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything, and none of it ends the worker
            suspended = suspension_in(error)
            if suspended is not None:
                return Waiting(suspended.task_id)
            failure = failure_of(error, datetime.now(UTC))
            if failure.kind is FailureKind.ERROR:
                _log.info("handler.failed", task_id=task.id, task_type=task.task_type, exc_info=True)
            return Failed(failure)
        return outcome_of(result)


class _FirstLook:
    """Opens an attempt's reader when its handler first reads or edits; most handlers do neither."""

    def __init__(self, editing: Editing, task: ClaimedTask) -> None:
        self._editing = editing
        self._task = task
        self._reader: DocumentReader | None = None

    def __call__(self) -> DocumentReader:
        if self._reader is None:
            self._reader = self._editing.reader(self._task)
        return self._reader
