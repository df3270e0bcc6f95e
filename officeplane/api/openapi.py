"""The OpenAPI document: what routes declare of themselves, with every refusal they may answer with."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

from officeplane.api.answer_headers import HOLDS
from officeplane.api.callers import ANY_SCOPE, need_of
from officeplane.api.edge import PROBES, SAFE
from officeplane.api.problems import MEDIA_TYPE, STATUSES
from officeplane.api.schemas import untitled

TITLE: Final = "OfficePlane"
KEY: Final = "key"
DESCRIPTION: Final = """
A task queue that lets many agents and people edit the same Office documents without losing an edit.

Tasks of one document run one at a time and in order, those of different documents in parallel. Refusals are
`application/problem+json` (RFC 9457) with a stable `code`; bodies and parameters are strict, and a refused
request has stored nothing.
"""
TAGS: Final = (
    {"name": "tasks", "description": "Submit tasks and batches, and follow them to their end."},
    {"name": "documents", "description": "Real files, their revisions, and what is in them."},
    {"name": "dags", "description": "Tasks that depend on each other, submitted and cancelled as one."},
    {"name": "dead letters", "description": "What gave up, and what people decide about it."},
    {"name": "flow control", "description": "What holds whole types of tasks back."},
    {"name": "task types", "description": "What this installation knows how to run."},
    {"name": "events", "description": "What happens, as it happens."},
    {"name": "agents", "description": "Programs of others that claim tasks, and what they hold."},
    {"name": "keys", "description": "Who may call from elsewhere, and what each may do."},
    {"name": "spaces", "description": "Installations within the installation, and what each may use."},
    {"name": "audit", "description": "Who has changed what, from where."},
    {"name": "operation", "description": "How the installation is."},
)

Responses = dict[int | str, dict[str, Any]]


class FieldProblem(BaseModel):
    """One field that was wrong, and how."""

    field: str
    message: str


class Problem(BaseModel):
    """Why a request was refused."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: list[FieldProblem] | None = None


_HEADERS: Final[Mapping[str, tuple[str, str]]] = {
    "Retry-After": ("integer", "Seconds after which to try again."),
    "Location": ("string", "The path of the task, or of the document that was made."),
    "ETag": ("string", "The document's revision, in quotes, for `If-Match` and `If-None-Match`."),
    "Content-Disposition": ("string", "The file's name."),
    HOLDS: (
        "string",
        "What the file leads to or holds: `linked-picture`, `linked-workbook`, `embedded-document`, or `unknown`.",
    ),
    "Idempotency-Replayed": ("string", "`true` when the key was used before; the task is shown as it is now."),
    "Link": ("string", 'The next page, as `<...>; rel="next"`; absent on the last.'),
}
_CODES: Final = ("invalid_parameter", "overloaded", "internal_error", "database_unavailable", "server_stopping")
_BODY_CODES: Final = (
    "malformed_json",
    "request_timeout",
    "too_large",
    "unsupported_media_type",
    "invalid_request",
)


def refusals(*codes: str, body: bool = False) -> Responses:
    """Return the documentation of these refusals, and of those that every route has."""
    wanted = (*_CODES, *(_BODY_CODES if body else ()), *codes)
    responses: Responses = {}
    for code in STATUSES:
        if code in wanted:
            known = responses.setdefault(STATUSES[code], _refusal())
            known["description"] = f"{known['description']}, `{code}`".removeprefix(", ")
            if STATUSES[code] in {429, 503} or code == "idempotency_in_progress":
                known["headers"] = headers("Retry-After")
    return responses


def headers(*names: str) -> dict[str, object]:
    """Return the documentation of answer headers."""
    return {name: {"description": _HEADERS[name][1], "schema": {"type": _HEADERS[name][0]}} for name in names}


def document(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return what makes the application's document, once."""

    def make() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=list(TAGS),
            )
            schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas = made.setdefault("components", {}).setdefault("schemas", {})
            schemas |= schema.pop("$defs", {}) | {"Problem": schema}
            _tell_of_the_edge(made["paths"])
            _tell_of_callers(made, app)
            app.openapi_schema = untitled(made)
        return app.openapi_schema

    return make


def _tell_of_the_edge(paths: dict[str, dict[str, Any]]) -> None:
    """Add what is refused before any route is asked."""
    for path, operations in paths.items():
        for method, operation in operations.items():
            codes = [] if path.startswith(PROBES) else ["misdirected_request"]
            codes += [] if method.upper() in SAFE else ["cross_site"]
            for code in codes:
                operation["responses"][str(STATUSES[code])] = {**_refusal(), "description": f"`{code}`"}


def _tell_of_callers(made: dict[str, Any], app: FastAPI) -> None:
    """Add which scope each operation needs, and how whoever has not the scope is refused."""
    made["components"]["securitySchemes"] = {
        KEY: {"type": "http", "scheme": "bearer", "description": "A key; on the server's own machine none is needed."}
    }
    for route in app.routes:
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        need = need_of(route.endpoint)
        if need is None:
            continue
        for method in route.methods or ():
            operation = made["paths"][route.path][method.lower()]
            # On the server's own machine it is done without.
            operation["security"] = [{KEY: [] if need == ANY_SCOPE else [need]}, {}]
            if need != ANY_SCOPE:
                operation["description"] += f"\n\nNeeds the scope `{need}`."
            for code in ("unauthenticated",) if need == ANY_SCOPE else ("unauthenticated", "forbidden"):
                told = operation["responses"].setdefault(str(STATUSES[code]), _refusal())
                told["description"] = f"{told['description']}, `{code}`".removeprefix(", ")


def _refusal() -> dict[str, Any]:
    return {"description": "", "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
