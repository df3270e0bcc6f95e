"""The application: routes, problems, limits and the OpenAPI document, put together."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version

from fastapi import FastAPI
from starlette.responses import RedirectResponse

from officeplane.api.interruption import Interruption
from officeplane.api.limits import BodyLimit
from officeplane.api.openapi import DESCRIPTION, TITLE, document
from officeplane.api.plane import Plane
from officeplane.api.problems import install_problems
from officeplane.api.routes import (
    circuit_breakers,
    dags,
    dead_letters,
    documents,
    events,
    health,
    limits,
    metrics,
    pauses,
    statistics,
    task_types,
    tasks,
)

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


def build_app(lifespan: Lifespan) -> FastAPI:
    """Return the API; its lifespan fills `app.state.plane`."""
    app = FastAPI(
        title=TITLE,
        version=version("officeplane"),
        description=DESCRIPTION,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.plane = Plane()
    for noun in (
        tasks,
        dags,
        dead_letters,
        documents,
        task_types,
        pauses,
        circuit_breakers,
        limits,
        events,
        health,
        statistics,
        metrics,
    ):
        # Not `include_router`: it would look for each path twice, and every request would pay for it.
        app.router.routes.extend(noun.router.routes)
    app.add_api_route("/", _to_the_documentation, include_in_schema=False)
    app.add_middleware(BodyLimit)
    app.add_middleware(Interruption)
    install_problems(app)
    app.openapi = document(app)  # type: ignore[method-assign]  # FastAPI's documented way to change it
    return app


async def _to_the_documentation() -> RedirectResponse:
    return RedirectResponse("/docs")
