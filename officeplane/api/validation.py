"""From what pydantic found wrong to one refusal, in the words and the paths of the JSON that came."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue

from officeplane.domain.errors import FieldError
from officeplane.domain.request import NOT_SUPPORTED_YET

ERRORS_SHOWN: Final = 100

Found = Mapping[str, Any]
"""One error as pydantic describes it: `type`, `loc` and `msg`."""

Path = tuple[int | str, ...]


class Refusal(NamedTuple):
    """What to say of a request that does not fit its model."""

    code: str
    detail: str
    errors: tuple[FieldError, ...] = ()


def refusal_of(error: RequestValidationError) -> Refusal:
    """Return the refusal that fits what was found."""
    found: list[Found] = list(error.errors())
    parameters = [one for one in found if one["loc"][0] != "body"]
    if parameters:
        return _refusal("invalid_parameter", ((str(one["loc"][1]), one["msg"]) for one in parameters))
    if any(one["loc"] == ("body",) and one["type"] == "missing" for one in found):
        return Refusal("malformed_json", "The body is empty; it must be JSON.")
    later = [one["loc"][1:] for one in found if _is_of_a_later_version(one)]
    if later:
        return _refusal("not_supported_yet", ((_dotted(path), "This version does not have it yet.") for path in later))
    wrong = [(_path_in(error.body, one), _message(one)) for one in found]
    # What is wrong inside of a member of a union says which one was meant; the others have nothing to add.
    entered = {path[:depth] for path, _ in wrong for depth in range(len(path))}
    told = ((_dotted(path), message) for path, message in wrong if path not in entered)
    return _refusal("invalid_request", told)


def _refusal(code: str, wrong: Iterable[tuple[str, str]]) -> Refusal:
    """Gather what is wrong by field: a union says of each of its members why it is not that."""
    messages: dict[str, list[str]] = {}
    for field, message in wrong:
        told = messages.setdefault(field, [])
        if message not in told:
            told.append(message)
    errors = [FieldError(field, "; or: ".join(told)) for field, told in messages.items()]
    first = errors[0]
    detail = f"{first.field}: {first.message}" if first.field else first.message
    more = "" if len(errors) == 1 else f" (and {len(errors) - 1} more)"
    return Refusal(code, detail + more, tuple(errors[:ERRORS_SHOWN]))


def _is_of_a_later_version(found: Found) -> bool:
    *above, name = found["loc"][1:] or ("",)
    return (
        found["type"] == "extra_forbidden"
        and name in NOT_SUPPORTED_YET
        # Only of a task or a DAG: in a bulk, in a DAG, or at any depth of children.
        and all(part in ("children", "tasks") or isinstance(part, int) for part in above)
    )


def _path_in(body: JsonValue, found: Found) -> Path:
    """Return where in the body the error is; pydantic names members of unions too, which are no part of it."""
    parts: Path = found["loc"][1:]
    path: list[int | str] = []
    here = body
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


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _message(found: Found) -> str:
    match found["type"]:
        case "missing":
            return "This field is required."
        case "extra_forbidden":
            return "There is no such field."
        case "model_type" | "model_attributes_type" | "dict_type":
            return "It must be an object."
        case "too_long" if isinstance(found["input"], str):
            return f"String should have at most {found['ctx']['max_length']} characters"
        case "too_short" if isinstance(found["input"], str):
            return "It must not be empty."
        case "value_error":
            return str(found["ctx"]["error"])
        case _:
            return str(found["msg"])
