"""From what pydantic found wrong to one refusal, in the words and the paths of the JSON that came."""

from collections.abc import Iterable
from typing import NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue

from officeplane.domain.errors import ERRORS_SHOWN, FieldError
from officeplane.domain.request import NOT_SUPPORTED_YET
from officeplane.domain.spelling import with_suggestions
from officeplane.domain.validation_errors import Found, dotted, field_errors, message_of, relevant


class Refusal(NamedTuple):
    """What to say of a request that does not fit its model."""

    code: str
    detail: str
    errors: tuple[FieldError, ...] = ()


def refusal_of_request(error: RequestValidationError, wanted: object) -> Refusal:
    """Return the refusal that fits what FastAPI found in a request, whose body was to be what is wanted."""
    found: list[Found] = list(error.errors())
    parameters = [one for one in found if one["loc"][0] != "body"]
    if parameters:
        return _refusal("invalid_parameter", ((str(one["loc"][1]), message_of(one)) for one in parameters))
    if any(one["loc"] == ("body",) and one["type"] == "missing" for one in found):
        return Refusal("malformed_json", "The body is empty; it must be JSON.")
    return refusal_of([{**one, "loc": one["loc"][1:]} for one in found], error.body, wanted)


def refusal_of(found: Iterable[Found], body: JsonValue, wanted: object) -> Refusal:
    """Return the refusal that fits what was found in a body."""
    found = list(found)
    later = [one["loc"] for one in found if _is_of_a_later_version(one)]
    if later:
        return _refusal("not_supported_yet", ((dotted(path), "This version does not have it yet.") for path in later))
    wrong = ((dotted(path), message_of(one)) for path, one in relevant(body, found))
    return _refusal("invalid_request", wrong, wanted)


def _refusal(code: str, wrong: Iterable[tuple[str, str]], wanted: object = None) -> Refusal:
    errors = with_suggestions(field_errors(wrong), wanted)
    first = errors[0]
    detail = f"{first.field}: {first.message}" if first.field else first.message
    more = "" if len(errors) == 1 else f" (and {len(errors) - 1} more)"
    return Refusal(code, detail + more, tuple(errors[:ERRORS_SHOWN]))


def _is_of_a_later_version(found: Found) -> bool:
    *above, name = found["loc"] or ("",)
    return (
        found["type"] == "extra_forbidden"
        and name in NOT_SUPPORTED_YET
        # Only of a task or a DAG, in a bulk, in a DAG, or at any depth of children; or of what a type's tasks have.
        and (above == ["defaults"] or all(part in ("children", "tasks") or isinstance(part, int) for part in above))
    )
