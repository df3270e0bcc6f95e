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

_DIGITS_MAX: Final = 10

REFERENCES_MAX: Final = 1_000
"""How many references a payload may hold."""

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
            reference = _as_reference(value, path)
            if reference is not None:
                yield reference
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
            reference = _as_reference(value)
            if reference is not None:
                return looked_up(reference, results(reference.key))
            return {name: resolved(inner, results) for name, inner in value.items()}
        case list():
            return [resolved(inner, results) for inner in value]
        case _:
            return value


def looked_up(reference: Reference, result: JsonValue) -> JsonValue:
    """Return what a reference names in a result; raise when it leads nowhere."""
    found = result
    for field in reference.fields:
        match found:
            case dict() if field in found:
                found = found[field]
            # Longer ones no list has, and Python reads no number of thousands of digits.
            case list() if field.isdecimal() and len(field) < _DIGITS_MAX and int(field) < len(found):
                found = found[int(field)]
            case _:
                message = f"the result of {reference.key!r} has no {'.'.join(reference.fields)!r}"
                raise MissingResultError(message)
    return found


def lies_within(path: Path, places: Collection[Path]) -> bool:
    """Tell whether a place in a payload is, or is inside, one of some others; a set of them answers at once."""
    return any(path[:depth] in places for depth in range(len(path) + 1))


def _as_reference(value: dict[str, JsonValue], path: Path = ()) -> Reference | None:
    target = value.get(REF)
    if not isinstance(target, str) or len(value) != 1:
        return None
    key, *fields = target.split(".")
    return Reference(path, key, tuple(fields))
