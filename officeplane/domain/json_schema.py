"""JSON Schemas from outside: the part of the language that we check by, and a refusal of the rest.

A schema is turned into what pydantic checks its models by, so that a payload is
refused in the same words whoever has described it. A keyword that is not known
here is refused when the schema comes: ignored, it would let pass what it is to
keep out. There are no references: one that leads to itself would be followed
until the process dies. Patterns take linear time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from pydantic import ValidationError
from pydantic_core import CoreSchema, SchemaError, SchemaValidator, core_schema

from officeplane.domain.validation import errors_of
from officeplane.domain.validation_errors import Found

DEPTH_MAX: Final = 32
_KINDS: Final[Mapping[type, str]] = {str: "string", int: "integer", bool: "boolean", type(None): "null"}
_ANNOTATIONS: Final = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "format",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
    }
)
_OF_NUMBERS: Final = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
_OF_STRINGS: Final = {"minLength": "min_length", "maxLength": "max_length", "pattern": "pattern"}
_OF_ARRAYS: Final = {"minItems": "min_length", "maxItems": "max_length"}
_KEYWORDS: Final[Mapping[str, Collection[str]]] = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", *_OF_ARRAYS},
    "string": _OF_STRINGS,
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "boolean": (),
    "null": (),
}


class NoSchemaError(ValueError):
    """A schema says what is not understood here."""


class JsonSchema:
    """What JSON must look like."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Read a schema; raise `NoSchemaError` for one that is not understood to the last word."""
        self.told = schema
        """The schema as it came."""

        try:
            self._reader = SchemaValidator(_made(schema, ""))
        except (SchemaError, RecursionError) as error:
            raise NoSchemaError(f"it is no schema: {error}") from None

    def errors_in(self, text: str) -> list[Found]:
        """Return why JSON is not what the schema describes."""
        try:
            self._reader.validate_json(text, strict=True)
        except ValidationError as error:
            return errors_of(error)
        return []


def _made(given: object, at: str) -> CoreSchema:
    if given is True:
        return core_schema.any_schema()
    if not isinstance(given, Mapping):
        raise _not_understood(at, "it is no schema")
    if at.count("/") > DEPTH_MAX:
        raise _not_understood(at, f"schemas nest at most {DEPTH_MAX} deep")
    schema = {name: value for name, value in cast("Mapping[str, Any]", given).items() if name not in _ANNOTATIONS}
    match schema:
        case {"anyOf": [_, *_] as choices, **rest}:
            _refuse_others(rest, at)
            return _any_of(_made(choice, f"{at}/anyOf/{index}") for index, choice in enumerate(choices))
        case {"const": value, **rest}:
            return _one_of([value], rest, at)
        case {"enum": [_, *_] as values, **rest}:
            return _one_of(values, rest, at)
        case {"type": [_, *_] as kinds, **rest}:
            known = {kind: _KEYWORDS.get(kind, ()) for kind in map(str, kinds)}
            _refuse_others(set(rest).difference(*known.values()), at)
            return _any_of(
                _of_kind(kind, {name: value for name, value in rest.items() if name in keywords}, at)
                for kind, keywords in known.items()
            )
        case {"type": kind, **rest}:
            return _of_kind(kind, rest, at)
        case _:
            _refuse_others(schema, at)
            return core_schema.any_schema()


def _of_kind(kind: object, schema: Mapping[str, Any], at: str) -> CoreSchema:
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        raise _not_understood(at, f"there is no type {kind!r}")
    _refuse_others(set(schema).difference(_KEYWORDS[kind]), at)
    match kind:
        case "object":
            return _object(schema, at)
        case "array":
            items = _made(schema.get("items", True), f"{at}/items")
            # Of a large payload nobody reads more than the first item that does not fit.
            return core_schema.list_schema(items, fail_fast=True, **_bounds(schema, _OF_ARRAYS))
        case "string":
            return core_schema.str_schema(**_bounds(schema, _OF_STRINGS))
        case "integer":
            return core_schema.int_schema(**_bounds(schema, _OF_NUMBERS))
        case "number":
            return core_schema.float_schema(allow_inf_nan=False, **_bounds(schema, _OF_NUMBERS))
        case "boolean":
            return core_schema.bool_schema()
        case _:
            return core_schema.none_schema()


def _object(schema: Mapping[str, Any], at: str) -> CoreSchema:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict):
        raise _not_understood(at, "properties is no object")
    if not isinstance(required, list) or not all(isinstance(name, str) for name in cast("list[object]", required)):
        raise _not_understood(at, "required is no list of names")
    wanted: dict[str, Any] = {**dict.fromkeys(cast("list[str]", required), True), **cast("dict[str, Any]", properties)}
    fields = {
        name: core_schema.typed_dict_field(_made(inner, f"{at}/properties/{name}"), required=name in required)
        for name, inner in wanted.items()
    }
    others = schema.get("additionalProperties", True)
    if others is False:
        return core_schema.typed_dict_schema(fields, extra_behavior="forbid")
    made = _made(others, f"{at}/additionalProperties")
    return core_schema.typed_dict_schema(fields, extra_behavior="allow", extras_schema=made)


def _any_of(choices: Iterable[CoreSchema]) -> CoreSchema:
    return core_schema.union_schema([*choices])


def _one_of(values: Sequence[object], rest: Mapping[str, Any], at: str) -> CoreSchema:
    _refuse_others(set(rest) - {"type"}, at)
    kinds = {_KINDS.get(type(value)) for value in values}
    if None in kinds:
        raise _not_understood(at, "values that are listed are texts, integers, booleans or null")
    if rest.get("type", next(iter(kinds))) not in kinds or (len(kinds) > 1 and "type" in rest):
        raise _not_understood(at, "the values that are listed are not of its type")
    return core_schema.literal_schema(list(values))


def _bounds(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names[name]: value for name, value in schema.items() if name in names}


def _refuse_others(keywords: Collection[str], at: str) -> None:
    if keywords:
        raise _not_understood(at, f"{min(keywords)!r} is not understood here, or not beside what else it says")


def _not_understood(at: str, why: str) -> NoSchemaError:
    return NoSchemaError(f"{at or 'the schema'}: {why}")
