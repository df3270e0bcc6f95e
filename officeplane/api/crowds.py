"""Crowds: what a body holds is counted before any of it is looked at.

Checking a million empty children, or building the errors of a million fields
that there are not, would stop everybody else. But for `PIECES_MAX`, which is a
limit of its own, none of these numbers is met by a body that could be taken.
"""

from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from officeplane.domain.dag import EDGES_MAX, TASKS_MAX
from officeplane.domain.validation_errors import Path, dotted

PIECES_MAX: Final = 600_000
"""How many values and names may stand in a body at all."""

NAMES_MAX: Final = 100
"""How many names an object may have that is no payload."""

VALUES_MAX: Final = 1_000
"""How many values one field may hold that is no payload."""

_TASKS_IN: Final = ("tasks", "children")


class CrowdError(ValueError):
    """A body holds more than could be taken, at this place."""

    def __init__(self, message: str, path: Path = ()) -> None:
        super().__init__(message)
        self.field = dotted(path)


def refuse_many_pieces(raw: bytes) -> None:
    """Refuse a body that has more pieces than could be read in a short time; what is in texts counts as well."""
    if raw.count(b",") + raw.count(b"{") + raw.count(b"[") > PIECES_MAX:
        raise CrowdError(
            f"It holds more than {PIECES_MAX:,} values (commas and brackets in texts count as well): send it in parts."
        )


def refuse_many_tasks(value: JsonValue) -> JsonValue:
    """Return a body as it came, unless it holds too many tasks, children of tasks with them."""
    tasks = value["tasks"] if isinstance(value, dict) and "tasks" in value else value
    level = tasks if isinstance(tasks, list) else [tasks]
    count = 0
    while level:
        count += len(level)
        if count > TASKS_MAX:
            raise CrowdError(f"It holds more than {TASKS_MAX:,} tasks.")
        families = [body["children"] for body in level if isinstance(body, dict) and "children" in body]
        level = [child for family in families if isinstance(family, list) for child in family]
    return value


def refuse_crowds(value: JsonValue) -> None:
    """Refuse a body in which anything but payloads is larger than could be taken."""
    refuse_many_tasks(value)
    edges = 0
    for path, one in _objects_in(value):
        if len(one) > NAMES_MAX:
            raise CrowdError(f"It has {len(one):,} names, and no such object has more than {NAMES_MAX}.", path)
        for name, inner in one.items():
            if name == "dependsOn" and isinstance(inner, list):
                edges += len(inner)
            is_plain = name != "payload" and name not in _TASKS_IN
            if is_plain and isinstance(inner, dict | list) and _holds_more_than(VALUES_MAX, inner):
                raise CrowdError(f"It holds more than {VALUES_MAX:,} values.", (*path, name))
    if edges > EDGES_MAX:
        raise CrowdError(f"Its tasks depend on others more than {EDGES_MAX:,} times in all.")


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
