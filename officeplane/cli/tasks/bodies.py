"""Request bodies from what was typed: inline JSON, a file, or the standard input."""

import json
import sys
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

from officeplane.cli.exits import UsageError

JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


def read_argument(given: str) -> bytes:
    """Return the text itself, the file named after an @, or the standard input for a dash."""
    if given == "-":
        return sys.stdin.buffer.read()
    if not given.startswith("@"):
        return given.encode()
    try:
        return Path(given[1:]).read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read {given[1:]}: {error.strerror}") from None


def parse_payload(given: str) -> JsonValue:
    """Return a payload; whether its type accepts it is for the API to say."""
    try:
        return JSON.validate_python(json.loads(read_argument(given)))
    except ValueError as error:
        raise UsageError(f"--payload is not JSON: {error}") from None


def parse_priority(given: str) -> JsonValue:
    """Return a priority as the API wants it: a number, or a name in capitals."""
    return int(given) if given.isdecimal() else given.upper()


def is_bulk(body: bytes) -> bool:
    """Tell whether a body is a list of tasks rather than one."""
    return body.lstrip()[:1] == b"["


def without_nothing(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the fields that were given; the rest keep the API's defaults."""
    return {name: value for name, value in fields.items() if value is not None and value != []}
