"""Large bodies: read and checked in a thread, so that nobody else waits for them.

A thread cannot be ended. So everything is counted before it is looked at, tasks
are checked one by one, and the first hundred errors are the last. Even a single
step in C, which lets no other thread run, is over soon then.
"""

from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue, ValidationError

from officeplane.api.crowds import CrowdError, refuse_crowds, refuse_many_pieces
from officeplane.api.json_text import parse_json
from officeplane.api.problems import RefusedError
from officeplane.api.validation import refusal_of
from officeplane.domain.errors import ERRORS_SHOWN, FieldError
from officeplane.domain.request import DagTasksRequest, TaskRequest
from officeplane.domain.validation import TooMuchIsWrongError, errors_of
from officeplane.domain.validation_errors import Found, Path, dotted

SMALL_MAX: Final = 64 * 1024
"""How large a body may be that is read and checked on the loop."""


def read_large(raw: bytes, wanted: object) -> object:
    """Return what a body says, its tasks as requests, if tasks are wanted; raise the refusal that fits."""
    try:
        refuse_many_pieces(raw)
        value = parse_json(raw)
        refuse_crowds(value)
        return _with_requests(value, wanted)
    except CrowdError as error:
        raise _refused(FieldError(error.field, str(error))) from None


def _with_requests(value: JsonValue, wanted: object) -> object:
    if wanted is TaskRequest:
        return next(_requests([((), value)], value))
    if wanted == list[TaskRequest] and isinstance(value, list):
        return list(_requests([((index,), one) for index, one in enumerate(value)], value))
    if isinstance(wanted, type) and issubclass(wanted, DagTasksRequest) and isinstance(value, dict):
        tasks = value.get("tasks")
        if isinstance(tasks, list):
            placed: list[tuple[Path, JsonValue]] = [(("tasks", index), one) for index, one in enumerate(tasks)]
            return {**value, "tasks": list(_requests(placed, value))}
    # Of anything else there is so little besides payloads that the loop may check it.
    return value


def _requests(placed: list[tuple[Path, JsonValue]], body: JsonValue) -> Iterator[TaskRequest]:
    found: list[Found] = []
    for path, one in placed:
        try:
            yield TaskRequest.model_validate(one)
        except ValidationError as error:
            try:
                found += [{**each, "loc": (*path, *each["loc"])} for each in errors_of(error)]
            except TooMuchIsWrongError as too_much:
                raise _refused(FieldError(dotted(path), f"{str(too_much).capitalize()}.")) from None
        if len(found) >= ERRORS_SHOWN:
            break
    if found:
        refusal = refusal_of(found, body, TaskRequest)
        raise RefusedError(refusal.code, refusal.detail, errors=refusal.errors)


def _refused(error: FieldError) -> RefusedError:
    detail = f"{error.field}: {error.message}" if error.field else error.message
    return RefusedError("invalid_request", detail, errors=[error])
