"""Problems: the one place where refusals become `application/problem+json` (RFC 9457)."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from officeplane.api.answer_headers import ANSWERS_SAY
from officeplane.api.validation import refusal_of_request
from officeplane.domain.errors import FieldError, InvalidRequestError, OfficePlaneError
from officeplane.domain.quota import QuotaExceededError

MEDIA_TYPE: Final = "application/problem+json"

STATUSES: Final[Mapping[str, int]] = {
    "malformed_request": 400,
    "malformed_json": 400,
    "invalid_cursor": 400,
    "unauthenticated": 401,
    "cross_site": 403,
    "forbidden": 403,
    "not_found": 404,
    "task_not_found": 404,
    "document_not_found": 404,
    "revision_not_found": 404,
    "node_not_found": 404,
    "dead_letter_not_found": 404,
    "dag_not_found": 404,
    "key_not_found": 404,
    "agent_not_found": 404,
    "space_not_found": 404,
    "task_type_not_found": 404,
    "claim_not_found": 404,
    "no_circuit_breaker": 404,
    "method_not_allowed": 405,
    "request_timeout": 408,
    "illegal_state": 409,
    "claim_settled": 409,
    "claim_lost": 409,
    "idempotency_in_progress": 409,
    "document_exists": 409,
    "key_exists": 409,
    "agent_busy": 409,
    "task_type_taken": 409,
    "task_type_in_use": 409,
    "stale_revision": 412,
    "too_large": 413,
    "too_large_to_show": 413,
    "precondition_required": 428,
    "unsupported_media_type": 415,
    "unsupported_document": 415,
    "misdirected_request": 421,
    "invalid_request": 422,
    "invalid_parameter": 422,
    "unknown_task_type": 422,
    "invalid_payload": 422,
    "invalid_reference": 422,
    "cycle": 422,
    "invalid_edit": 422,
    "invalid_result": 422,
    "decision_report_required": 422,
    "idempotency_mismatch": 422,
    "not_supported_yet": 422,
    "overloaded": 429,
    "headers_too_large": 431,
    "internal_error": 500,
    "converter_missing": 501,
    "database_unavailable": 503,
    "server_stopping": 503,
}
"""Every code there is, and the status it comes with."""

RETRY_AFTER: Final = {"Retry-After": "1"}
_MAY_BE_REPEATED: Final = frozenset(
    {"idempotency_in_progress", "overloaded", "database_unavailable", "server_stopping"}
)
_CODES_OF_HTTP: Final = {400: "malformed_json"}

_NOTHING_THERE: Final = "There is nothing at this path; /docs and /openapi.json name those there are."
_WAYS_ON: Final = {
    "/api": "What begins with /api is described at /docs, and for programs at /openapi.json.",
    "/health": "Whether this server answers is at /api/health/live, whether it can work at /api/health/ready.",
}

# What the driver says of a lost server names hosts and ports, which are nobody's business.
_DETAILS: Final = {"database_unavailable": "Postgres does not answer at the moment; try again in a second."}


class RefusedError(HTTPException):
    """A refusal that only HTTP knows; FastAPI lets it pass wherever it is raised."""

    def __init__(
        self, code: str, detail: str, headers: Mapping[str, str] | None = None, errors: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(STATUSES[code], detail, headers)
        self.code = code
        self.errors = tuple(errors)


def problem(
    code: str,
    detail: str,
    errors: Sequence[FieldError] = (),
    headers: Mapping[str, str] | None = None,
    facts: Mapping[str, object] | None = None,
) -> Response:
    """Return the answer that says what was wrong."""
    status = STATUSES[code]
    body: dict[str, object] = {
        "type": f"urn:officeplane:problem:{code}",
        "title": code.replace("_", " ").capitalize(),
        "status": status,
        "detail": detail,
        "code": code,
        **(facts or {}),
    }
    if errors:
        body["errors"] = [{"field": error.field, "message": error.message} for error in errors]
    heads = {**(RETRY_AFTER if code in _MAY_BE_REPEATED else {}), **(headers or {})}
    return Response(json.dumps(body), status, heads, MEDIA_TYPE)


def install_problems(app: FastAPI) -> None:
    """Make the application answer every refusal and every surprise with a problem."""
    app.add_exception_handler(OfficePlaneError, _of_the_domain)
    app.add_exception_handler(RequestValidationError, _of_the_request)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(ClientDisconnect, _of_nobody)
    app.add_exception_handler(Exception, _unexpected)


async def _of_the_domain(_request: Request, error: Exception) -> Response:
    assert isinstance(error, OfficePlaneError)  # noqa: S101 - what it was registered for
    errors = error.errors if isinstance(error, InvalidRequestError) else ()
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, QuotaExceededError) else None
    return problem(error.code, _DETAILS.get(error.code) or str(error), errors, headers, error.facts)


async def _of_the_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - what it was registered for
    body = getattr(request.scope.get("route"), "body_field", None)
    refusal = refusal_of_request(error, None if body is None else body.field_info.annotation)
    return problem(refusal.code, refusal.detail, refusal.errors)


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - what it was registered for
    if isinstance(error, RefusedError):
        return problem(error.code, error.detail, error.errors, error.headers)
    if error.status_code == 405:
        allowed = ", ".join(sorted(_methods_of(request)))
        return problem("method_not_allowed", f"This path has only {allowed}.", headers={"Allow": allowed})
    if error.status_code == 404:
        return problem("not_found", _WAYS_ON.get(request.url.path.rstrip("/"), _NOTHING_THERE))
    code = _CODES_OF_HTTP.get(error.status_code, "internal_error")
    return problem(code, error.detail, headers=error.headers)


async def _of_nobody(_request: Request, _error: Exception) -> Response:
    # Whoever sent half a body has gone away: no defect, and nobody hears this.
    return Response(status_code=400)


def _methods_of(request: Request) -> set[str]:
    """Return what can be done at a path; one route knows only its own method."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    path = next(route.path for route in routes if route.path_regex.match(request.url.path))
    methods = {method for route in routes if route.path == path for method in route.methods or ()}
    return methods | ({"HEAD"} if "GET" in methods else set())


async def _unexpected(_request: Request, _error: Exception) -> Response:
    # It is raised again once this is sent, logged with its stack by the server, and the connection is closed.
    # No middleware sees this answer.
    detail = "Something went wrong here; it has been logged."
    return problem("internal_error", detail, headers={**ANSWERS_SAY, "Connection": "close"})
