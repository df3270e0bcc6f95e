"""Sources: documents of which edits take something, as whoever asks for that may read them.

Which revision that is, is written into the task when it is taken in: so every attempt
takes the same, and nobody needs to be asked again when the edit is carried out.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from officeplane.domain.errors import (
    DocumentNotFoundError,
    FieldError,
    ForbiddenError,
    InvalidReferenceError,
    InvalidRequestError,
    RevisionNotFoundError,
)
from officeplane.domain.principal import Scope
from officeplane.domain.reference import REF
from officeplane.services.submit.intake import EditedDocument, Intake
from officeplane.store import documents
from officeplane.store.connection import Executor

Value = TypeVar("Value")

_DOCUMENT: Final = "documentId"
_REVISION: Final = "revision"


async def with_sources(executor: Executor, intake: Intake) -> Intake:
    """Return a request that says of which revision each of its edits takes something; refuse what may not be read."""
    for edited in intake.edited:
        if edited.takes_from is not None:
            intake = await _with_source(executor, intake, edited, edited.takes_from)
    return intake


async def _with_source(executor: Executor, intake: Intake, edited: EditedDocument, field: str) -> Intake:
    caller = intake.caller
    if not caller.may(Scope.READ):
        raise ForbiddenError(Scope.READ, caller.id)
    row = intake.rows[edited.row]
    payload: dict[str, Any] = json.loads(row.payload_json)
    source: Mapping[str, Any] = payload[field]
    _refuse_references(source, edited, field)
    name = source[_DOCUMENT]
    document_id = caller.document(name)
    found = await documents.revision(executor, document_id, source.get(_REVISION))
    if found is None:
        if await documents.show(executor, document_id) is None:
            raise DocumentNotFoundError(document_id)
        raise RevisionNotFoundError(document_id, source.get(_REVISION) or 0)
    if found.base.format not in edited.formats:
        message = (
            f"{edited.task_type} takes from {', '.join(edited.formats)}; document {name!r} is {found.base.format}."
        )
        raise InvalidRequestError(message, [FieldError(_place(edited, field, _DOCUMENT), message)])
    payload[field] = {**source, _REVISION: found.revision.revision}
    pinned = row._replace(payload_json=json.dumps(payload))
    return intake._replace(
        rows=_replaced(intake.rows, edited.row, pinned), payloads=_replaced(intake.payloads, edited.row, payload)
    )


def _refuse_references(source: Mapping[str, Any], edited: EditedDocument, field: str) -> None:
    """Refuse results of other tasks as a source: nobody has looked whether it may be read."""
    for name, value in ((None, source), *source.items()):
        if isinstance(value, Mapping) and REF in value:
            message = f"{field!r} takes no references: name the document and the slide."
            place = _place(edited, field, *([] if name is None else [name]))
            raise InvalidReferenceError(message, [FieldError(place, message)])


def _place(edited: EditedDocument, *names: str) -> str:
    return ".".join((f"{edited.field.removesuffix('taskType')}payload", *names))


def _replaced(values: Sequence[Value], at: int, value: Value) -> tuple[Value, ...]:
    return (*values[:at], value, *values[at + 1 :])
