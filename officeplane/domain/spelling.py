"""Spelling: the name that was probably meant where an unknown one was given."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from functools import cache
from itertools import islice
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema

from officeplane.domain.errors import FieldError
from officeplane.domain.validation_errors import NO_SUCH_FIELD

_LENGTH_MAX: Final = 100
_LOOKED_AT_MAX: Final = 10
_CUTOFF: Final = 0.75


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that an unknown one is probably meant to be, whatever its capitals and its underscores."""
    plain = {_plain(one): one for one in known}
    if len(name) > _LENGTH_MAX:
        return None
    near = get_close_matches(_plain(name), plain, n=1, cutoff=_CUTOFF)
    return plain[near[0]] if near else None


def with_suggestions(errors: Iterable[FieldError], model: Any) -> list[FieldError]:
    """Return errors, those of the first unknown fields with the field of the model that was probably meant."""
    told = list(errors)
    unknown = (place for place, error in enumerate(told) if error.message == NO_SUCH_FIELD)
    for place in islice(unknown, _LOOKED_AT_MAX):
        field = told[place].field
        nearest = nearest_name(field.rpartition(".")[2], _names_in(model))
        if nearest is not None:
            told[place] = FieldError(field, f"{NO_SUCH_FIELD.removesuffix('.')}; did you mean {nearest}?")
    return told


@cache
def _names_in(model: Any) -> Collection[str]:
    """Return the names of all fields of a model, those of models inside it too."""
    try:
        schema = TypeAdapter(model).json_schema()
    except PydanticInvalidForJsonSchema:
        return ()
    models = [schema, schema.get("items", {}), *schema.get("$defs", {}).values()]
    return {name for one in models for name in one.get("properties", {})}


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
