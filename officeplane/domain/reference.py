"""References: `{"$ref": "key.field"}` in a child's payload, an earlier sibling's result.

A reference is that object and nothing else; text that merely looks like one,
and an object with more in it, is what it is.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from pydantic import JsonValue

from officeplane.domain.encoding import size_of

REF: Final = "$ref"
REF_TEXT: Final = f'"{REF}"'
"""How a reference begins in JSON text."""

_DIGITS_MAX: Final = 10

PAYLOAD_BYTES_MAX: Final = 1024 * 1024
"""How large a payload may be, as JSON and with all that is put in for its references, unless its type says more."""

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


class PayloadTooLargeError(Exception):
    """A payload would be larger than any may be, with what its references stand for."""


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


class Resolution:
    """A payload on the way to one without references.

    What comes in their place is added up before it is put in: a hundred bytes
    may stand for a megabyte, and a thousand of them for more than there is memory.
    """

    def __init__(self, payload: JsonValue, bytes_max: int = PAYLOAD_BYTES_MAX) -> None:
        self._payload = payload
        self._bytes_max = bytes_max
        self._references = list(find_references(payload))
        self._values: dict[tuple[str, tuple[str, ...]], JsonValue] = {}
        self._size = size_of(payload)
        self.keys: Final = list(dict.fromkeys(reference.key for reference in self._references))

    def take(self, keys: Collection[str], results: Mapping[str, JsonValue]) -> None:
        """Look up what these keys' results are needed for; raise when that leads nowhere, or is too much."""
        sizes: dict[tuple[str, tuple[str, ...]], int] = {}
        for reference in self._references:
            if reference.key not in keys:
                continue
            named = reference.key, reference.fields
            if named not in sizes:
                self._values[named] = _looked_up(reference, results.get(reference.key))
                sizes[named] = size_of(self._values[named])
            self._size += sizes[named]
            if self._size > self._bytes_max:
                message = f"with the results that it refers to, the payload has more than {self._bytes_max} bytes"
                raise PayloadTooLargeError(message)

    def resolved(self) -> JsonValue:
        """Return the payload, every reference replaced by what it names."""
        return self._resolved(self._payload)

    def _resolved(self, value: JsonValue) -> JsonValue:
        match value:
            case dict():
                reference = _as_reference(value)
                if reference is not None:
                    return self._values[reference.key, reference.fields]
                return {name: self._resolved(inner) for name, inner in value.items()}
            case list():
                return [self._resolved(inner) for inner in value]
            case _:
                return value


def lies_within(path: Path, places: Collection[Path]) -> bool:
    """Tell whether a place in a payload is, or is inside, one of some others; a set of them answers at once."""
    return any(path[:depth] in places for depth in range(len(path) + 1))


def _looked_up(reference: Reference, result: JsonValue) -> JsonValue:
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


def _as_reference(value: dict[str, JsonValue], path: Path = ()) -> Reference | None:
    target = value.get(REF)
    if not isinstance(target, str) or len(value) != 1:
        return None
    key, *fields = target.split(".")
    return Reference(path, key, tuple(fields))
