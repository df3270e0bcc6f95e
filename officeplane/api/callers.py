"""Callers: who asks, and whether what is asked is for them. That comes before anything else of a request is looked at.

Every route says what scope it needs, or that it is open to all; one that says neither is no route.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import structlog
from starlette.requests import HTTPConnection

from officeplane.api.edge import IS_LOCAL
from officeplane.api.problems import RefusedError
from officeplane.api.state import ServerState, runtime_of, state_of
from officeplane.domain.dead_letter import SOMEBODY
from officeplane.domain.errors import ForbiddenError
from officeplane.domain.principal import ANYBODY, LOCAL, Kind, Principal, Scope

_NEED: Final = "officeplane_needs"
_CALLER: Final = "officeplane.caller"
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="officeplane"'}
_NO_KEY: Final = (
    "Who calls from elsewhere needs a key, as in `Authorization: Bearer opk_...`; "
    "`officeplane keys create NAME --scope read` makes one."
)
_WRONG_KEY: Final = "This key does not work: it is wrong, has expired or was revoked."
_TOO_MANY: Final = "Too many wrong keys came from this address; try again in a second."
_log = structlog.stdlib.get_logger(__name__)

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class UndeclaredScopeError(Exception):
    """A route does not say whom it is for."""

    def __init__(self, endpoint: Callable[..., Any]) -> None:
        super().__init__(f"{endpoint.__module__}.{endpoint.__qualname__} needs @needs(Scope...), or @open_to_all")


def needs(scope: Scope) -> Callable[[Endpoint], Endpoint]:
    """Declare that a route is for callers who have a scope."""

    def declared(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _NEED, scope)
        return endpoint

    return declared


def open_to_all(endpoint: Endpoint) -> Endpoint:
    """Declare that a route is for everybody: what it tells is no secret."""
    setattr(endpoint, _NEED, None)
    return endpoint


def need_of(endpoint: Callable[..., Any]) -> Scope | None:
    """Return the scope that a route needs, None if it is open to all; raise when it does not say."""
    try:
        need: Scope | None = getattr(endpoint, _NEED)
    except AttributeError:
        raise UndeclaredScopeError(endpoint) from None
    return need


async def admit(connection: HTTPConnection, need: Scope) -> None:
    """Let a caller in that has a scope; refuse everybody else."""
    caller = await _caller(connection)
    if not caller.may(need):
        state_of(connection).refused[need] += 1
        _log.info("caller.refused", caller=caller.id, scope=need, address=address_of(connection))
        raise ForbiddenError(need, caller.id)
    connection.scope[_CALLER] = caller


async def stay_admitted(connection: HTTPConnection) -> None:
    """Let a caller stay whose key works yet, as one that needed none may; refuse it if the key does not."""
    caller = principal_of(connection)
    if caller.kind is Kind.KEY and await _with_key(connection, state_of(connection)) != caller:
        raise RefusedError("unauthenticated", _WRONG_KEY, _CHALLENGE)


def caller_of(connection: HTTPConnection) -> str:
    """Return what is known of whoever asks: its key's name, else the address."""
    caller = principal_of(connection)
    return caller.id if caller.kind is Kind.KEY else address_of(connection)


def principal_of(connection: HTTPConnection) -> Principal:
    """Return who asks, and what it may do."""
    caller: Principal = connection.scope[_CALLER]
    return caller


def address_of(connection: HTTPConnection) -> str:
    """Return the address that a request came from."""
    return SOMEBODY if connection.client is None else connection.client.host


async def _caller(connection: HTTPConnection) -> Principal:
    state = state_of(connection)
    if state.auth == "off":
        return ANYBODY
    if _credentials(connection):
        return await _with_key(connection, state)
    if state.auth == "auto" and connection.scope.get(IS_LOCAL, False):
        return LOCAL
    raise RefusedError("unauthenticated", _NO_KEY, _CHALLENGE)


async def _with_key(connection: HTTPConnection, state: ServerState) -> Principal:
    text, address = _key_in(connection), address_of(connection)
    authentication = runtime_of(connection).authentication
    if state.wrong_keys.are_too_many(address) and not (text is not None and authentication.knows(text)):
        raise RefusedError("overloaded", _TOO_MANY, {"Retry-After": "1"})
    found = None if text is None else await authentication.principal_of(text)
    if found is None:
        state.wrong_keys.add(address)
        raise RefusedError("unauthenticated", _WRONG_KEY, _CHALLENGE)
    return found


def _key_in(connection: HTTPConnection) -> str | None:
    """Return the key that a request has; None if what it has in a key's place is none, or there are two."""
    given = _credentials(connection)
    kind, _, text = given[0].decode("latin-1").partition(" ")
    return text.strip() if len(given) == 1 and kind.lower() == "bearer" else None


def _credentials(connection: HTTPConnection) -> list[bytes]:
    # All headers as texts would be made for this alone: a request has them made once more, later.
    return [value for name, value in connection.scope["headers"] if name == b"authorization"]
