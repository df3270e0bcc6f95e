"""Validation errors: what pydantic found wrong, in the words and the paths of the JSON that came.

pydantic tells where in its model it found something wrong. That is also a place
in the JSON, but for members of unions, which it names by their types.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import JsonValue

from officeplane.domain.errors import FieldError

Found = Mapping[str, Any]
"""One error as pydantic describes it: `type`, `loc`, `msg`, `input` and, of some types, `ctx`."""

Path = tuple[int | str, ...]

NO_SUCH_FIELD: Final = "There is no such field."

_OF_A_NAME: Final = "[key]"
_PART_SHOWN: Final = 200


def path_in(value: JsonValue, found: Found) -> Path:
    """Return where in the JSON the error is."""
    parts: Path = found["loc"]
    path: list[int | str] = []
    here = value
    for depth, part in enumerate(parts):
        match here, part:
            case dict(), str() if part in here:
                here = here[part]
            case list(), int() if part < len(here):
                here = here[part]
            case dict(), str() if found["type"] == "missing" and depth == len(parts) - 1:
                pass
            case _:
                continue
        path.append(part)
    return tuple(path)


def relevant(value: JsonValue, found: Iterable[Found]) -> list[tuple[Path, Found]]:
    """Return the errors with their places, without those of members of a union that the value is nothing like.

    A union says of each of its members why the value is not that. If the value
    got further as one of them, that is the one it was meant to be.
    """
    placed = [(path_in(value, one), one) for one in found]
    within = {path[:depth] for path, _ in placed for depth in range(len(path))}
    return [(path, one) for path, one in placed if not (path in within and _is_of_a_member(path, one))]


def field_errors(wrong: Iterable[tuple[str, str]]) -> list[FieldError]:
    """Gather what is wrong by field."""
    messages: dict[str, list[str]] = {}
    for field, message in wrong:
        told = messages.setdefault(field, [])
        if message not in told:
            told.append(message)
    return [FieldError(field, "; or: ".join(told)) for field, told in messages.items()]


def dotted(path: Path) -> str:
    """Return a place as it is written in a refusal."""
    return ".".join(str(part)[:_PART_SHOWN] for part in path)


def message_of(found: Found) -> str:
    """Return what is wrong, in words about JSON."""
    match found["type"]:
        case "missing":
            return "This field is required."
        case "extra_forbidden":
            return NO_SUCH_FIELD
        case "model_type" | "model_attributes_type" | "dict_type":
            return "It must be an object."
        case "value_error":
            return str(found["ctx"]["error"])
        # pydantic calls them items where something else has looked at the text before.
        case "too_short" if isinstance(found["input"], str):
            return f"String should have at least {found['ctx']['min_length']} characters"
        case "too_long" if isinstance(found["input"], str):
            return f"String should have at most {found['ctx']['max_length']} characters"
        case _:
            return str(found["msg"])


def _is_of_a_member(path: Path, found: Found) -> bool:
    loc: Path = found["loc"]
    return len(loc) > len(path) and loc[-1] != _OF_A_NAME
