"""The server: the API over a runtime that is opened in the background.

Postgres may come later than the server: until it is there, what needs it is
answered with 503. A database that is lost afterwards is the ledger's business,
which connects anew with the next request.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog
from fastapi import FastAPI

from officeplane.api.app import build_app
from officeplane.api.authority import names_of
from officeplane.api.state import ServerState
from officeplane.config import Settings
from officeplane.domain.api_key import ADMIN_NAME
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.principal import Kind, Principal, Scope
from officeplane.runtime import Runtime, open_runtime
from officeplane.services.access.oidc import oidc_of

REOPEN_SECONDS: Final = 0.5
_ENVIRONMENT: Final = Principal("environment", Kind.LOCAL, frozenset({Scope.ADMIN}))
"""Whoever has set this process's variables, which name its database too."""
_log = structlog.stdlib.get_logger(__name__)


def create_app(settings: Settings) -> FastAPI:
    """Return the application that serves an installation.

    Whoever hosts it sets `app.state.server.stopping` when it drains, so that
    streams and long waits end instead of holding the drain up.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        state: ServerState = app.state.server
        tried = asyncio.Event()
        keeping = asyncio.create_task(_keep_open(settings, state, tried))
        try:
            await _first(keeping, tried)
            yield
        finally:
            state.stopping.set()
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping

    return build_app(lifespan, names_of(settings, socket.gethostname()), settings.auth, oidc_of(settings))


async def _first(keeping: asyncio.Task[None], tried: asyncio.Event) -> None:
    """Wait for the first try; what no patience can mend is raised, and the server does not start."""
    trying = asyncio.create_task(tried.wait())
    await asyncio.wait({keeping, trying}, return_when=asyncio.FIRST_COMPLETED)
    trying.cancel()
    if keeping.done():
        keeping.result()


async def _keep_open(settings: Settings, state: ServerState, tried: asyncio.Event) -> None:
    while True:
        try:
            async with open_runtime(settings) as runtime:
                await _admit_admin(settings, runtime)
                state.runtime = runtime
                tried.set()
                await asyncio.Event().wait()
        except DatabaseUnavailableError as error:
            _log.warning("server.waits_for_postgres", error=str(error))
        except Exception:
            if not tried.is_set():
                raise
            _log.exception("server.runtime_failed")
        finally:
            state.runtime = None
        tried.set()
        await asyncio.sleep(REOPEN_SECONDS)


async def _admit_admin(settings: Settings, runtime: Runtime) -> None:
    """Let the key in that the environment names."""
    text = settings.admin_key
    if text and not await runtime.api_keys.admit(_ENVIRONMENT, ADMIN_NAME, {Scope.ADMIN}, text):
        _log.warning(
            "admin_key.refused",
            because="it was revoked, replaced or has expired",
            advice="set OFFICEPLANE_ADMIN_KEY to another, of `officeplane keys generate`",
        )
