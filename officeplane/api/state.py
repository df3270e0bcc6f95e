"""What the routes work with: the process's runtime, and whether the process is about to stop."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from starlette.requests import HTTPConnection

from officeplane.api.wrong_keys import WrongKeys
from officeplane.config import Auth
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.principal import Principal, Scope
from officeplane.runtime import Runtime
from officeplane.services.access.oidc import Oidc


@dataclass(slots=True)
class ServerState:
    """The application's own state; whoever hosts the application fills it."""

    runtime: Runtime | None = None
    """None while Postgres could not be reached yet."""

    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server drains: what would wait for long answers at once."""

    large_bodies: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    """Held while a large body is read and checked, so that many of them do not take all memory at once."""

    streams: int = 0
    """How many readers of events there are."""

    auth: Auth = "auto"
    """Who is asked for a key."""

    oidc: Oidc | None = None
    """How people log in with a provider, if they can."""

    wrong_keys: WrongKeys = field(default_factory=WrongKeys)

    placed: dict[tuple[int, str], tuple[Principal, Principal]] = field(
        default_factory=dict[tuple[int, str], tuple[Principal, Principal]]
    )
    """Callers by which object they are, which is kept so that no other becomes it, and where they call from."""

    refused: Counter[Scope] = field(default_factory=Counter[Scope])
    """How many requests were refused because their callers had not this scope."""


def state_of(connection: HTTPConnection) -> ServerState:
    """Return the state of the application that a request came to."""
    state = connection.app.state.server
    assert isinstance(state, ServerState)  # noqa: S101 - `app.state` is untyped
    return state


def runtime_of(connection: HTTPConnection) -> Runtime:
    """Return the services; raise while there is no database to stand on."""
    runtime = state_of(connection).runtime
    if runtime is None:
        raise DatabaseUnavailableError("Postgres could not be reached yet.")
    return runtime
