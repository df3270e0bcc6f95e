"""Task types: what the ledger says of those that no handler here does, known to every process within a second.

Nobody reads that in a loop. It is looked for when somebody names a type that
has no handler here, and then once in half a second at most, whoever else asks:
what has a handler needs no look, and an idle process makes none.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import structlog

from officeplane.domain.audit import Action, Deed
from officeplane.domain.declared_type import DECLARED_MAX, SCHEMA_BYTES_MAX, DeclaredType
from officeplane.domain.encoding import size_of
from officeplane.domain.errors import (
    FieldError,
    InvalidRequestError,
    OutsideError,
    TaskTypeInUseError,
    TaskTypeNotFoundError,
    TaskTypeTakenError,
)
from officeplane.domain.json_schema import JsonSchema, NoSchemaError
from officeplane.domain.principal import Principal
from officeplane.domain.request import TaskRequest
from officeplane.handlers.catalogue import Catalogue
from officeplane.handlers.contract import TaskType, declared_type
from officeplane.store import audit, task_types
from officeplane.store.connection import UNSTORABLE, Connection, Ledger

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
                for name in found.not_understood:
                    _log.warning(
                        "task_type.not_understood", task_type=name, error="its defaults are of a later version"
                    )
                self._version = found.version
            self._looked_at = now

    async def declare(self, caller: Principal, declared: DeclaredType) -> bool:
        """Declare a type, or declare it anew; return whether there was none of that name."""
        _check_operator(caller, declared.name)
        if declared.name in self.catalogue.handled:
            raise TaskTypeTakenError(declared.name)
        _check_schema("payloadSchema", declared.payload_schema)
        _check_schema("resultSchema", declared.result_schema)

        async def store(connection: Connection) -> bool:
            count = await task_types.lock(connection)
            before = await task_types.facts(connection, declared.name)
            if before is None and count >= DECLARED_MAX:
                message = f"{count:,} task types are declared, and no more may be: remove one that is not needed."
                raise InvalidRequestError(message)
            await task_types.declare(connection, declared)
            after = await task_types.facts(connection, declared.name)
            await audit.write(connection, Deed(caller, Action.DECLARE_TYPE, declared.name, before=before, after=after))
            return before is None

        try:
            is_new = await self._ledger.in_transaction(store)
        except UNSTORABLE as error:
            # What the driver says holds what was sent: it is not told.
            message = "The task type could not be stored: Postgres refuses one of its values."
            raise InvalidRequestError(message) from error
        # Whoever has declared a type may submit tasks of it at once.
        self._looked_at = float("-inf")
        return is_new

    async def remove(self, caller: Principal, name: str) -> None:
        """Have a type be declared no longer, unless it has unfinished tasks.

        Another process may take one in within the second in which it still knows the type: agents do it all the same.
        """
        _check_operator(caller, name)

        async def decide(connection: Connection) -> None:
            await task_types.lock(connection)
            before = await task_types.facts(connection, name)
            if before is None:
                raise TaskTypeNotFoundError(name)
            if await task_types.is_in_use(connection, name):
                raise TaskTypeInUseError(name)
            await task_types.remove(connection, name)
            await audit.write(connection, Deed(caller, Action.REMOVE_TYPE, name, before=before))

        await self._ledger.in_transaction(decide)
        self._looked_at = float("-inf")


def _check_operator(caller: Principal, name: str) -> None:
    # A type is one for all spaces: it is for who has to do with all of them.
    if not caller.is_operator:
        raise OutsideError(caller.id, "task type", name)


def _check_schema(field: str, schema: Mapping[str, Any] | None) -> None:
    if schema is None:
        return
    try:
        JsonSchema(schema)
    except NoSchemaError as error:
        wrong = str(error)
    else:
        if size_of(schema) <= SCHEMA_BYTES_MAX:
            return
        wrong = f"it is larger than {SCHEMA_BYTES_MAX} bytes"
    raise InvalidRequestError(f"{field}: {wrong}.", [FieldError(field, f"{wrong[0].upper()}{wrong[1:]}.")])


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
