"""Fields of payloads: what a type's JSON Schema says of them, and values of them as they are typed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from officeplane.cli.answers import TaskType
from officeplane.cli.exits import UsageError
from officeplane.cli.tasks.bodies import JSON, read_argument

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a payload."""

    name: str
    kinds: tuple[str, ...]
    """What it may be: JSON's types, or the words that it has to be one of."""
    is_required: bool
    default: JsonValue
    description: str

    @property
    def is_text(self) -> bool:
        """Whether what is typed for it is what it says, however it looks."""
        return all(kind == "string" or kind.startswith('"') for kind in self.kinds)


def fields_of(task_type: TaskType) -> list[Field]:
    """Return the fields of a type's payload, in their order."""
    schema: Schema = task_type.payload_schema
    required = schema.get("required", ())
    return [
        Field(
            name,
            tuple(dict.fromkeys(kind for kind in _kinds(said, schema) if kind != "null")),
            name in required,
            said.get("default"),
            said.get("description", ""),
        )
        for name, said in schema.get("properties", {}).items()
    ]


def example_of(task_type: TaskType) -> JsonValue:
    """Return a payload that shows how the type is used; None if its schema has none."""
    match task_type.payload_schema:
        case {"examples": [example, *_]}:
            return JSON.validate_python(example)
        case _:
            return None


def payload_of(task_type: TaskType | None, words: Sequence[str]) -> dict[str, JsonValue]:
    """Return the payload that words such as `position=0` make; which fields hold text is for their type to say."""
    texts = frozenset(field.name for field in fields_of(task_type) if field.is_text) if task_type else frozenset[str]()
    payload: dict[str, JsonValue] = {}
    for word in words:
        name, is_field, value = word.partition("=")
        if not name or not is_field:
            raise UsageError(f"{word!r} is no FIELD=VALUE, such as title=Risks.")
        payload[name] = _value(value, is_text=name in texts)
    return payload


def _value(typed: str, *, is_text: bool) -> JsonValue:
    if typed.startswith("@"):
        typed = _text_of(typed)
    if is_text:
        return typed
    try:
        return JSON.validate_python(json.loads(typed))
    except ValueError:
        return typed


def _text_of(typed: str) -> str:
    try:
        return read_argument(typed).decode()
    except UnicodeDecodeError:
        raise UsageError(f"{typed[1:]} is not a text in UTF-8.") from None


def _kinds(said: Schema, whole: Schema) -> Iterator[str]:
    match said:
        case {"$ref": str(reference)}:
            yield from _kinds(whole.get("$defs", {}).get(reference.rpartition("/")[2], {}), whole)
        case {"enum": [*words]}:
            yield from (json.dumps(word) for word in words)
        case {"const": word}:
            yield json.dumps(word)
        case {"anyOf": [*several]} | {"oneOf": [*several]}:
            for one in several:
                yield from _kinds(one, whole)
        case {"type": str(kind)}:
            yield kind
        case _:
            yield "any"
