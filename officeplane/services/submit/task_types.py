"""Task types: what the ledger says of those that no handler here does, known to every process within a second.

Nobody reads that in a loop. It is looked for when somebody names a type that
has no handler here, and then once in half a second at most, whoever else asks:
what has a handler needs no look, and an idle process makes none.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator
from typing import Final

import structlog

from officeplane.domain.declared_type import DeclaredType
from officeplane.domain.json_schema import JsonSchema, NoSchemaError
from officeplane.domain.request import TaskRequest
from officeplane.handlers.catalogue import Catalogue, DuplicateTaskTypeError
from officeplane.handlers.contract import TaskType, declared_type
from officeplane.store import task_types
from officeplane.store.connection import Ledger

LOOK_SECONDS: Final = 0.5
_log = structlog.stdlib.get_logger(__name__)


class TaskTypes:
    """What keeps a catalogue up to date."""

    def __init__(self, ledger: Ledger, catalogue: Catalogue) -> None:
        self._ledger = ledger
        self.catalogue = catalogue
        # No version of the table has this number.
        self._version = -1
        self._looked_at = float("-inf")
        self._looking = asyncio.Lock()

    async def know(self, names: Iterable[str]) -> None:
        """Have the catalogue know these types as they were declared a second ago or later."""
        if not self.catalogue.handled.issuperset(names):
            await self.look()

    async def know_those_of(self, requests: Iterable[TaskRequest]) -> None:
        """Do the same for the types that requests name."""
        if not all(map(self.handles, requests)):
            await self.look()

    def handles(self, request: TaskRequest) -> bool:
        """Tell whether all types that a request names have handlers here, of which the ledger has nothing to say."""
        if request.children is None:
            return request.task_type in self.catalogue.handled
        return self.catalogue.handled.issuperset(_names_in(request))

    async def look(self) -> None:
        """Have the catalogue know all that was declared a second ago or earlier."""
        async with self._looking:
            now = time.monotonic()
            if now - self._looked_at < LOOK_SECONDS:
                return
            found = await task_types.changed(self._ledger, self._version)
            if found is not None:
                self.catalogue.learn(_understood(found.types))
                self._version = found.version
            self._looked_at = now

    async def declare(self, declared: DeclaredType) -> None:
        """Declare a type, or declare it anew; raise `NoSchemaError` or `DuplicateTaskTypeError` if that cannot be."""
        if declared.name in self.catalogue.handled:
            raise DuplicateTaskTypeError(f"Task type {declared.name!r} has a handler: declare it under another name.")
        for schema in (declared.payload_schema, declared.result_schema):
            if schema is not None:
                JsonSchema(schema)
        await task_types.declare(self._ledger, declared)
        # Whoever has declared a type may submit tasks of it at once.
        self._looked_at = float("-inf")


def _names_in(request: TaskRequest) -> Iterator[str]:
    if request.task_type is not None:
        yield request.task_type
    for child in request.children or ():
        yield from _names_in(child)


def _understood(types: Iterable[DeclaredType]) -> Iterator[TaskType]:
    for declared in types:
        try:
            yield declared_type(declared)
        except NoSchemaError as error:
            # A version after this one may understand more; here nobody can tell what fits.
            _log.warning("task_type.not_understood", task_type=declared.name, error=str(error))
