"""From what pydantic found wrong to one refusal, in the words and the paths of the JSON that came."""

from collections.abc import Iterable
from typing import NamedTuple

from fastapi.exceptions import RequestValidationError
from pydantic import JsonValue

from officeplane.domain.errors import ERRORS_SHOWN, FieldError
from officeplane.domain.misfit import Found, dotted, field_errors, meant, message_of
from officeplane.domain.request import NOT_SUPPORTED_YET


class Refusal(NamedTuple):
    """What to say of a request that does not fit its model."""

    code: str
    detail: str
    errors: tuple[FieldError, ...] = ()


def refusal_of_request(error: RequestValidationError) -> Refusal:
    """Return the refusal that fits what FastAPI found in a request."""
    found: list[Found] = list(error.errors())
    parameters = [one for one in found if one["loc"][0] != "body"]
    if parameters:
        return _refusal("invalid_parameter", ((str(one["loc"][1]), message_of(one)) for one in parameters))
    if any(one["loc"] == ("body",) and one["type"] == "missing" for one in found):
        return Refusal("malformed_json", "The body is empty; it must be JSON.")
    return refusal_of([{**one, "loc": one["loc"][1:]} for one in found], error.body)


def refusal_of(found: Iterable[Found], body: JsonValue) -> Refusal:
    """Return the refusal that fits what was found in a body."""
    found = list(found)
    later = [one["loc"] for one in found if _is_of_a_later_version(one)]
    if later:
        return _refusal("not_supported_yet", ((dotted(path), "This version does not have it yet.") for path in later))
    return _refusal("invalid_request", ((dotted(path), message_of(one)) for path, one in meant(body, found)))


def _refusal(code: str, wrong: Iterable[tuple[str, str]]) -> Refusal:
    errors = field_errors(wrong)
    first = errors[0]
    detail = f"{first.field}: {first.message}" if first.field else first.message
    more = "" if len(errors) == 1 else f" (and {len(errors) - 1} more)"
    return Refusal(code, detail + more, tuple(errors[:ERRORS_SHOWN]))


def _is_of_a_later_version(found: Found) -> bool:
    *above, name = found["loc"] or ("",)
    return (
        found["type"] == "extra_forbidden"
        and name in NOT_SUPPORTED_YET
        # Only of a task or a DAG: in a bulk, in a DAG, or at any depth of children.
        and all(part in ("children", "tasks") or isinstance(part, int) for part in above)
    )
