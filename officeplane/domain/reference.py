"""References: `{"$ref": "key.field"}` in a child's payload, an earlier sibling's result.

A reference is that object and nothing else; text that merely looks like one,
and an object with more in it, is what it is.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple

from pydantic import JsonValue

REF: Final = "$ref"
REF_TEXT: Final = f'"{REF}"'
"""How a reference begins in JSON text."""

Path = tuple[str | int, ...]


class Reference(NamedTuple):
    """Where a reference stands, and what it names."""

    path: Path
    key: str
    fields: tuple[str, ...]


class MissingResultError(Exception):
    """A reference leads to nothing."""


def find_references(value: JsonValue, path: Path = ()) -> Iterator[Reference]:
    """Yield every reference in a JSON value."""
    match value:
        case dict():
            target = value.get(REF)
            if isinstance(target, str) and len(value) == 1:
                key, *fields = target.split(".")
                yield Reference(path, key, tuple(fields))
                return
            for name, inner in value.items():
                yield from find_references(inner, (*path, name))
        case list():
            for index, inner in enumerate(value):
                yield from find_references(inner, (*path, index))
        case _:
            return


def resolved(value: JsonValue, results: Callable[[str], JsonValue]) -> JsonValue:
    """Return the value with every reference replaced by what it names."""
    match value:
        case dict():
            for reference in find_references(value):
                if not reference.path:
                    return _look_up(reference, results(reference.key))
            return {name: resolved(inner, results) for name, inner in value.items()}
        case list():
            return [resolved(inner, results) for inner in value]
        case _:
            return value


def _look_up(reference: Reference, result: JsonValue) -> JsonValue:
    found = result
    for field in reference.fields:
        match found:
            case dict() if field in found:
                found = found[field]
            case list() if field.isdecimal() and int(field) < len(found):
                found = found[int(field)]
            case _:
                message = f"the result of {reference.key!r} has no {'.'.join(reference.fields)!r}"
                raise MissingResultError(message)
    return found


def lies_within(path: Path, references: Collection[Reference]) -> bool:
    """Tell whether a place in a payload is, or is inside, a reference."""
    return any(path[: len(reference.path)] == reference.path for reference in references)
