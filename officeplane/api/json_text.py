"""JSON as this API takes it: only what every reader understands alike, and what Postgres can keep."""

import json
import math
import re
from collections.abc import Iterator
from typing import Final, NoReturn, Self

from pydantic import JsonValue

DEPTH_MAX: Final = 64
INTEGER_MAX: Final = 2**53
"""Beyond it, readers that have only floating point numbers see another number."""

_DIGITS_MAX: Final = len(str(-INTEGER_MAX))
_NAME_SHOWN: Final = 100
_KEPT_NOWHERE: Final = re.compile("[\x00\ud800-\udfff]")


class MalformedJsonError(ValueError):
    """The text is not JSON, or says something that readers may understand differently."""


class Spelled(float):
    """A number that knows how it was written: money is what was written, and not what a float makes of it."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Return the number of a text."""
        made = super().__new__(cls, text)
        made.text = text
        return made


def parse_json(raw: bytes, *, spelled: bool = False) -> JsonValue:
    """Return what a body says; if so asked, its numbers with points as they are spelled."""
    try:
        value: JsonValue = (_SPELLED_DECODER if spelled else _DECODER).decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise MalformedJsonError("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise MalformedJsonError(f"{error.msg} at line {error.lineno}, column {error.colno}.") from None
    except RecursionError:
        raise MalformedJsonError(_TOO_DEEP) from None
    # Most bodies cannot hold what is looked for, and need no second look.
    if b"\\u" in raw or raw.count(b"{") + raw.count(b"[") > DEPTH_MAX:
        _inspect(value)
    return value


_TOO_DEEP: Final = f"The body is nested more than {DEPTH_MAX} deep."


def _inspect(value: JsonValue) -> None:
    level: list[JsonValue] = [value]
    depth = 0
    while level:
        for text in _texts(level):
            if _KEPT_NOWHERE.search(text):
                raise MalformedJsonError("A text holds a NUL character or half a surrogate pair.")
        depth += any(isinstance(item, dict | list) for item in level)
        if depth > DEPTH_MAX:
            raise MalformedJsonError(_TOO_DEEP)
        level = list(_inside(level))


def _texts(level: list[JsonValue]) -> Iterator[str]:
    for value in level:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from value


def _inside(level: list[JsonValue]) -> Iterator[JsonValue]:
    for value in level:
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, list):
            yield from value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise MalformedJsonError(f"The name {name[:_NAME_SHOWN]!r} appears twice in one object.")
            seen.add(name)
    return found


def _integer(text: str) -> int:
    if len(text) > _DIGITS_MAX or abs(value := int(text)) > INTEGER_MAX:
        raise MalformedJsonError(f"The number {text[:20]}… is beyond 2^53.")
    return value


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise MalformedJsonError(f"The number {text[:20]} is too large.")
    return value


def _no_number(text: str) -> NoReturn:
    raise MalformedJsonError(f"{text} is not JSON.")


def _spelled(text: str) -> Spelled:
    _number(text)
    return Spelled(text)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_no_number
)
_SPELLED_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_spelled, parse_constant=_no_number
)
