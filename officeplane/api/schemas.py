"""JSON Schemas as they are shown: without the titles that nobody gave.

pydantic calls a field `pageId` "Pageid". Whoever reads a schema learns nothing
from that, and an agent pays for it; a title that somebody gave stays.
"""

from typing import Any

from pydantic import JsonValue


def untitled(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema, or a document with schemas in it, without invented titles."""
    return {name: _looked_through(name, inner) for name, inner in schema.items()}


def _looked_through(name: str, value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_looked_through("", inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if name == "properties":
        return {field: _looked_through("", _without_invented(field, inner)) for field, inner in value.items()}
    # The schema of a parameter, a body or an answer: what holds it has a name.
    return untitled({key: inner for key, inner in value.items() if name != "schema" or key != "title"})


def _without_invented(name: str, schema: JsonValue) -> JsonValue:
    if isinstance(schema, dict) and schema.get("title") == name.title().replace("_", " ").strip():
        return {key: inner for key, inner in schema.items() if key != "title"}
    return schema
