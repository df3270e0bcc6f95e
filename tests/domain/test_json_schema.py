"""Schemas from outside: what they describe fits and nothing else, and what is not understood is refused."""

import json
from typing import Any

import pytest

from officeplane.domain.json_schema import DEPTH_MAX, JsonSchema, NoSchemaError
from officeplane.domain.validation_errors import message_of, relevant

Schema = dict[str, Any]


def complaints(schema: Schema, value: Any) -> dict[str, str]:
    """Return what is said of a value, by its place."""
    return {
        ".".join(map(str, path)): message_of(found)
        for path, found in relevant(value, JsonSchema(schema).errors_in(json.dumps(value)))
    }


OBJECT: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "An order",
    "type": "object",
    "properties": {
        "what": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]", "description": "…"},
        "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 2},
        "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 1.5},
        "done": {"type": "boolean"},
        "note": {"type": ["string", "null"], "minLength": 1},
        "kind": {"enum": ["a", 1, None, True]},
        "unit": {"type": "string", "const": "kg"},
        "parts": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
        "where": {"anyOf": [{"type": "integer"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
    },
    "required": ["what", "$odd name"],
    "additionalProperties": False,
}
FITS: Schema = {
    "what": "abcd", "$odd name": [], "count": 8, "weight": 1, "done": False, "note": None, "kind": 1, "unit": "kg",
    "parts": [1, 2], "where": {"x": 1, "y": "any"},
}  # fmt: skip


def test_what_a_schema_describes_fits() -> None:
    assert complaints(OBJECT, FITS) == {}
    assert complaints({}, {"any": ["thing"]}) == {}
    assert complaints({"type": "object", "additionalProperties": {"type": "null"}}, {"a": None}) == {}


@pytest.mark.parametrize(
    ("field", "value", "at", "complaint"),
    [
        ("what", "a", "what", "String should have at least 2 characters"),
        ("what", "abcde", "what", "String should have at most 4 characters"),
        ("what", "1bc", "what", "String should match pattern '^[a-z]'"),
        ("what", 7, "what", "Input should be a valid string"),
        ("count", "8", "count", "Input should be a valid integer"),
        ("count", True, "count", "Input should be a valid integer"),
        ("count", 0, "count", "Input should be greater than or equal to 1"),
        ("count", 10, "count", "Input should be less than 10"),
        ("count", 3, "count", "Input should be a multiple of 2"),
        ("weight", 0, "weight", "Input should be greater than 0"),
        ("weight", 2, "weight", "Input should be less than or equal to 1.5"),
        ("done", 1, "done", "Input should be a valid boolean"),
        ("kind", False, "kind", "Input should be 'a', 1, None or True"),
        ("unit", "g", "unit", "Input should be 'kg'"),
        ("parts", [], "parts", "List should have at least 1 item after validation, not 0"),
        ("parts", [1, "2"], "parts.1", "Input should be a valid integer"),
        ("parts", {}, "parts", "Input should be a valid array"),
        ("where", {"x": "1"}, "where.x", "Input should be a valid integer"),
        ("more", 1, "more", "There is no such field."),
    ],
)
def test_what_does_not_fit_is_told_at_its_place(field: str, value: Any, at: str, complaint: str) -> None:
    assert complaints(OBJECT, {**FITS, field: value})[at] == complaint


def test_what_is_missing_is_told_by_its_name() -> None:
    assert complaints(OBJECT, {"what": "ab"}) == {"$odd name": "This field is required."}


def test_of_a_long_list_the_first_error_is_told() -> None:
    schema: Schema = {"type": "array", "items": {"type": "integer"}}

    assert list(complaints(schema, [1, *["x"] * 100_000])) == ["1"]


def test_a_pattern_that_others_take_for_ever_over_takes_no_time() -> None:
    assert complaints({"type": "string", "pattern": "^(a+)+$"}, "a" * 100_000 + "!") != {}


def _deep(depth: int) -> Schema:
    return {"type": "array", "items": _deep(depth - 1)} if depth else {}


NOT_UNDERSTOOD: list[tuple[Schema, str]] = [
    ({"if": {}, "then": {}}, "'if' is not understood"),
    ({"type": "string", "minimum": 1}, "'minimum' is not understood"),
    ({"properties": {"x": {}}}, "'properties' is not understood"),
    ({"type": ["string", "null"], "items": {}}, "'items' is not understood"),
    ({"anyOf": [{}], "type": "object"}, "'type' is not understood"),
    ({"type": "object", "properties": {"x": {"type": "text"}}}, "/properties/x: there is no type 'text'"),
    ({"type": "object", "properties": []}, "properties is no object"),
    ({"type": "object", "required": "x"}, "required is no list of names"),
    ({"type": "object", "additionalProperties": {"oneOf": []}}, "/additionalProperties: 'oneOf'"),
    ({"type": "array", "items": [{}]}, "/items: it is no schema"),
    ({"type": []}, "there is no type"),
    ({"type": [["string"]]}, "there is no type"),
    ({"enum": []}, "'enum' is not understood"),
    ({"enum": [1.5]}, "texts, integers, booleans or null"),
    ({"enum": ["a", 1], "type": "string"}, "not of its type"),
    ({"const": 1, "type": "string"}, "not of its type"),
    ({"type": "string", "pattern": "("}, "it is no schema"),
    ({"type": "string", "pattern": "(?=a)"}, "it is no schema"),
    ({"type": "string", "minLength": "1"}, "it is no schema"),
    ({"type": "integer", "multipleOf": 0}, "it is no schema"),
    ({"$ref": "#"}, "'$ref' is not understood"),
    ({"$ref": "http://127.0.0.1/schema"}, "'$ref' is not understood"),
    ({"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}, "is not understood"),
    (_deep(DEPTH_MAX + 1), f"at most {DEPTH_MAX} deep"),
    (_deep(900), f"at most {DEPTH_MAX} deep"),
]


@pytest.mark.parametrize(("schema", "complaint"), NOT_UNDERSTOOD)
def test_what_is_not_understood_is_refused_before_anything_is_checked_by_it(schema: Schema, complaint: str) -> None:
    with pytest.raises(NoSchemaError) as refused:
        JsonSchema(schema)

    assert complaint in str(refused.value)
