"""Validation: JSON against the model it is meant for, at a price that does not grow with what is wrong with it.

pydantic gathers every error there is, which for a megabyte of wrong cells is a
million of them, and seconds in which nothing else runs. So of a large text each
collection is judged up to the first item that does not fit, and fields that the
model does not know are counted before they are complained of.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Final, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import CoreSchema, SchemaValidator

from officeplane.domain.validation_errors import Found

Model = TypeVar("Model", bound=BaseModel)

ALL_TOLD_MAX: Final = 16 * 1024
"""How long a text may be of which every error is told, if they are not too many."""

ERRORS_MAX: Final = 1_000
"""How many errors are looked at: building them takes longer than finding them."""

_COLLECTIONS: Final = frozenset({"list", "tuple", "set", "frozenset", "dict"})
# What a schema holds that may look like a schema and is none.
_VALUES: Final = frozenset({"metadata", "serialization", "default", "expected"})
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


class TooMuchIsWrongError(Exception):
    """More does not fit than anybody would read."""

    def __init__(self) -> None:
        super().__init__(f"more than {ERRORS_MAX:,} things in it do not fit")


def errors_in(model: type[BaseModel], text: str, *, by_name: bool | None = None) -> list[Found]:
    """Return why JSON is not what a model reads, of exactly its types and with none but its fields.

    Raises `TooMuchIsWrongError` when that is more than anybody would read.
    """
    if len(text) <= ALL_TOLD_MAX:
        try:
            # What `model_validate_json` does, without its own questions first.
            model.__pydantic_validator__.validate_json(text, strict=True, extra="forbid", by_name=by_name)
        except ValidationError as error:
            if error.error_count() <= ERRORS_MAX:
                return errors_of(error)
        else:
            return []
    try:
        _check_in_haste(model, text, by_name)
    except ValidationError as error:
        return errors_of(error)
    return []


def read(model: type[Model], text: str) -> Model:
    """Return JSON as a model reads it; raise `ValidationError`, with not many errors for the size of the text."""
    if len(text) <= ALL_TOLD_MAX:
        return model.model_validate_json(text)
    return cast("Model", _hasty(model).validate_json(text))


def errors_of(error: ValidationError) -> list[Found]:
    """Return the errors; raise `TooMuchIsWrongError` when they are too many to look at."""
    if error.error_count() > ERRORS_MAX:
        raise TooMuchIsWrongError
    return list(error.errors(include_url=False))


def _check_in_haste(model: type[BaseModel], text: str, by_name: bool | None) -> None:
    hasty = _hasty(model)
    found: object = hasty.validate_json(text, strict=True, extra="allow", by_name=by_name)
    unknown = sum(1 for _ in islice(_unknown_fields(found), ERRORS_MAX + 1))
    if unknown > ERRORS_MAX:
        raise TooMuchIsWrongError
    if unknown:
        hasty.validate_json(text, strict=True, extra="forbid", by_name=by_name)


@cache
def _hasty(model: type[BaseModel]) -> SchemaValidator:
    # Those made before, of the models inside it, are not hasty.
    return SchemaValidator(cast("CoreSchema", _in_haste(model.__pydantic_core_schema__)), _use_prebuilt=False)


def _in_haste(schema: object) -> object:
    """Return a schema whose collections end with the first item that does not fit."""
    match schema:
        case Mapping():
            given = cast("Mapping[str, object]", schema)
            kind = given.get("type")
            if not isinstance(kind, str):
                # These are schemas by the names of fields, which may be any: "type", too, or "default".
                return {name: _in_haste(inner) for name, inner in given.items()}
            made = {name: inner if name in _VALUES else _in_haste(inner) for name, inner in given.items()}
            return {**made, "fail_fast": True} if kind in _COLLECTIONS else made
        case list():
            return [_in_haste(inner) for inner in cast("list[object]", schema)]
        case tuple():
            return tuple(_in_haste(inner) for inner in cast("tuple[object, ...]", schema))
        case _:
            return schema


def _unknown_fields(value: object) -> Iterator[str]:
    """Yield what models were given besides their fields, at any depth."""
    ahead: list[object] = [value]
    for one in ahead:
        inside: Iterable[object] = ()
        if isinstance(one, BaseModel):
            yield from one.model_extra or ()
            inside = (getattr(one, name) for name in type(one).model_fields)
        elif isinstance(one, Mapping):
            inside = cast("Mapping[object, object]", one).values()
        elif isinstance(one, list | tuple | set | frozenset):
            inside = cast("Iterable[object]", one)
        # Most of what a large payload holds are these, and looking at each for longer would take most of the time.
        ahead += [inner for inner in inside if type(inner) not in _PLAIN]
