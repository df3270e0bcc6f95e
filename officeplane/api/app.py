"""The application: routes, problems, limits and the OpenAPI document, put together."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from typing import Final

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from officeplane.api.answer_headers import HOLDS
from officeplane.api.authority import Names
from officeplane.api.edge import Edge
from officeplane.api.openapi import DESCRIPTION, TITLE, document
from officeplane.api.problems import install_problems
from officeplane.api.rooms import Rooms
from officeplane.api.routes import (
    agents,
    audit,
    circuit_breakers,
    claims,
    dags,
    dead_letters,
    document_reading,
    documents,
    events,
    health,
    heartbeats,
    keys,
    limits,
    login,
    metrics,
    pages,
    pauses,
    sessions,
    spaces,
    statistics,
    task_types,
    tasks,
)
from officeplane.api.routes import oidc as oidc_routes
from officeplane.api.state import ServerState
from officeplane.config import Auth
from officeplane.services.access.oidc import Oidc

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
REQUEST_HEADERS: Final = (
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
)
ANSWER_HEADERS: Final = (
    "Content-Disposition", "ETag", "Idempotency-Replayed", "Link", "Location", HOLDS, "Retry-After",
)  # fmt: skip
"""What pages of the origins that are allowed may ask with, and may read of answers; never with cookies."""

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build_app(lifespan: Lifespan, names: Names, auth: Auth = "auto", oidc: Oidc | None = None) -> FastAPI:
    """Return the API of a server that is called so; its lifespan fills `app.state.server`."""
    app = FastAPI(
        title=TITLE,
        version=version("officeplane"),
        description=DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
        # FastAPI's own pages run what others host.
        docs_url=None,
        redoc_url=None,
    )
    app.state.server = ServerState(auth=auth, oidc=oidc)
    for noun in (
        tasks,
        dags,
        dead_letters,
        documents,
        document_reading,
        claims,
        heartbeats,
        task_types,
        pauses,
        circuit_breakers,
        limits,
        events,
        health,
        statistics,
        metrics,
        agents,
        keys,
        sessions,
        login,
        oidc_routes,
        spaces,
        audit,
        pages,
    ):
        # Not `include_router`: it would look for each path twice, and every request would pay for it.
        app.router.routes.extend(noun.router.routes)
    app.add_middleware(Rooms)
    # Outside of the rooms, so that a page also learns why it was refused.
    if names.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[str(origin) for origin in names.origins],
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            expose_headers=ANSWER_HEADERS,
        )
    app.add_middleware(Edge, names=names)
    install_problems(app)
    app.openapi = document(app)  # type: ignore[method-assign]  # FastAPI's documented way to change it
    return app
