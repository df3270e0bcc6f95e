"""Large bodies: counted before any of it is looked at, then read and checked in a thread, so that nobody else waits.

Checking a million empty children, or building the errors of a million fields
that there are not, would stop everybody else, and a thread cannot be ended. So
everything is counted first, tasks are checked one by one, and the first hundred
errors are the last. Even a single step in C, which lets no other thread run, is
over soon then. But for `PIECES_MAX`, which is a limit of its own, none of these
numbers is met by a body that could be taken.
"""

from collections.abc import Collection, Iterator
from typing import Final

from pydantic import JsonValue, ValidationError

from officeplane.api.json_text import parse_json
from officeplane.api.problems import RefusedError
from officeplane.api.rooms import JSON_BYTES_MAX
from officeplane.api.validation import refusal_of
from officeplane.domain.dag import EDGES_MAX, TASKS_MAX
from officeplane.domain.errors import ERRORS_SHOWN, FieldError
from officeplane.domain.request import DagTasksRequest, TaskRequest
from officeplane.domain.validation import TooMuchIsWrongError, errors_of
from officeplane.domain.validation_errors import Found, Path, dotted

SMALL_MAX: Final = 64 * 1024
"""How large a body may be that is read and checked on the loop."""

UNCOUNTED_MAX: Final = 2 * TASKS_MAX
"""How large a body may be whose tasks are not counted: each takes a character and a comma at least."""

PIECES_MAX: Final = 600_000
"""How many values and names may stand in a body at all."""

NAMES_MAX: Final = 100
"""How many names an object may have that is no payload."""

VALUES_MAX: Final = 1_000
"""How many values one field may hold that is no payload."""

PICTURE: Final = "base64"
"""What the field of a payload is called that holds a picture, and may be larger than a body without one."""

_TASKS_IN: Final = ("tasks", "children")


def read_large(raw: bytes, wanted: object) -> object:
    """Return what a body says, its tasks as requests, if tasks are wanted; raise the refusal that fits."""
    _refuse_many_pieces(raw)
    value = parse_json(raw, spelled=has_money(wanted))
    if wanted is TaskRequest:
        _refuse_more_than_pictures(raw, value)
    refuse_many_tasks(value)
    _refuse_large_fields(value, {"payload", *getattr(wanted, "FREE_FIELDS", ())})
    return _with_requests(value, wanted)


def has_money(wanted: object) -> bool:
    """Tell whether a body has amounts of money, which are read as they are spelled."""
    return getattr(wanted, "HAS_MONEY", False)


def refuse_many_tasks(value: JsonValue) -> None:
    """Refuse a body that holds too many tasks, children of tasks with them."""
    tasks = value["tasks"] if isinstance(value, dict) and "tasks" in value else value
    level = tasks if isinstance(tasks, list) else [tasks]
    count = 0
    while level:
        count += len(level)
        if count > TASKS_MAX:
            raise _refused(f"It holds more than {TASKS_MAX:,} tasks.")
        families = [body["children"] for body in level if isinstance(body, dict) and "children" in body]
        level = [child for family in families if isinstance(family, list) for child in family]


def _refuse_many_pieces(raw: bytes) -> None:
    """Refuse a body that has more pieces than could be read in a short time; what is in texts counts as well."""
    if raw.count(b",") + raw.count(b"{") + raw.count(b"[") > PIECES_MAX:
        raise _refused(
            f"It holds more than {PIECES_MAX:,} values (commas and brackets in texts count as well): send it in parts."
        )


def _refuse_more_than_pictures(raw: bytes, value: JsonValue) -> None:
    """Refuse a body of one task, or of a batch, in which anything but pictures is large."""
    if len(raw) <= JSON_BYTES_MAX:
        return
    payloads = [one.get("payload") for _, one in _objects_in(value)]
    pictures = [payload.get(PICTURE) for payload in payloads if isinstance(payload, dict)]
    if len(raw) - sum(len(picture) for picture in pictures if isinstance(picture, str)) > JSON_BYTES_MAX:
        detail = f"The body is larger than {JSON_BYTES_MAX} bytes, besides the pictures in payloads ({PICTURE!r})."
        raise RefusedError("too_large", detail)


def _refuse_large_fields(value: JsonValue, free: Collection[str]) -> None:
    """Refuse a body in which anything but payloads, and what is as free as they are, is larger than could be taken."""
    edges = 0
    for path, one in _objects_in(value):
        if len(one) > NAMES_MAX:
            raise _refused(f"It has {len(one):,} names, and no such object has more than {NAMES_MAX}.", path)
        for name, inner in one.items():
            if name == "dependsOn" and isinstance(inner, list):
                edges += len(inner)
            is_plain = name not in free and name not in _TASKS_IN
            if is_plain and isinstance(inner, dict | list) and _holds_more_than(VALUES_MAX, inner):
                raise _refused(f"It holds more than {VALUES_MAX:,} values.", (*path, name))
    if edges > EDGES_MAX:
        raise _refused(f"Its tasks depend on others more than {EDGES_MAX:,} times in all.")


def _objects_in(value: JsonValue) -> Iterator[tuple[Path, dict[str, JsonValue]]]:
    """Yield what a body asks for: itself or each of its tasks, with their children."""
    ahead: list[tuple[Path, JsonValue]] = [((), value)]
    for path, one in ahead:
        if isinstance(one, list):
            ahead.extend(((*path, index), inner) for index, inner in enumerate(one))
        elif isinstance(one, dict):
            yield path, one
            ahead.extend(((*path, name), one[name]) for name in _TASKS_IN if name in one)


def _holds_more_than(most: int, value: JsonValue) -> bool:
    level = [value]
    count = 0
    while level:
        level = [inner for one in level for inner in _inside(one)]
        count += len(level)
        if count > most:
            return True
    return False


def _inside(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


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
                raise _refused(f"{str(too_much).capitalize()}.", path) from None
        if len(found) >= ERRORS_SHOWN:
            break
    if found:
        refusal = refusal_of(found, body, TaskRequest)
        raise RefusedError(refusal.code, refusal.detail, errors=refusal.errors)


def _refused(message: str, path: Path = ()) -> RefusedError:
    error = FieldError(dotted(path), message)
    detail = f"{error.field}: {error.message}" if error.field else error.message
    return RefusedError("invalid_request", detail, errors=[error])
