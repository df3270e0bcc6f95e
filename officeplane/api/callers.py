"""Callers: who asks, and whether what is asked is for them. That comes before anything else of a request is looked at.

Every route says what scope it needs, or that it is open to all; one that says neither is no route.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias, TypeVar

import structlog
from starlette.requests import HTTPConnection

from officeplane.api.edge import IS_LOCAL, IS_OWN_PAGE, SAFE
from officeplane.api.problems import RefusedError
from officeplane.api.session_cookie import has_session, session_in
from officeplane.api.state import runtime_of, state_of
from officeplane.domain.dead_letter import SOMEBODY
from officeplane.domain.errors import ForbiddenError
from officeplane.domain.principal import ANYBODY, LOCAL, Kind, Principal, Scope
from officeplane.services.access.sessions import Person

ANY_SCOPE: Final = "any"
Need: TypeAlias = Scope | Literal["any"]
"""What a caller has to have: a scope, or to be known at all."""

PLACED_MAX: Final = 10_000
"""How many callers are kept with their addresses."""

_NEED: Final = "officeplane_needs"
_CALLER: Final = "officeplane.caller"
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="officeplane"'}
_NO_KEY: Final = (
    "Who calls from elsewhere needs a key, as in `Authorization: Bearer opk_...`; "
    "`officeplane keys create NAME --scope read` makes one. People log in at /login."
)
_WRONG_KEY: Final = "This key does not work: it is wrong, has expired or was revoked."
_ENDED: Final = "This session has ended; log in again at /login."
_NOT_OUR_PAGE: Final = (
    "With the cookie of a session, only a page of this server changes anything: a request needs "
    "`Sec-Fetch-Site: same-origin`, or an `Origin` that is this server. Programs use a key."
)
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


def open_to_callers(endpoint: Endpoint) -> Endpoint:
    """Declare that a route is for everybody who is known, whatever he may do."""
    setattr(endpoint, _NEED, ANY_SCOPE)
    return endpoint


def need_of(endpoint: Callable[..., Any]) -> Need | None:
    """Return the scope that a route needs, None if it is open to all; raise when it does not say."""
    try:
        need: Need | None = getattr(endpoint, _NEED)
    except AttributeError:
        raise UndeclaredScopeError(endpoint) from None
    return need


async def admit(connection: HTTPConnection, need: Need) -> None:
    """Let a caller in that has a scope; refuse everybody else."""
    caller = await _caller(connection)
    if isinstance(need, Scope) and not caller.may(need):
        state_of(connection).refused[need] += 1
        _log.info("caller.refused", caller=caller.id, scope=need, address=address_of(connection))
        raise ForbiddenError(need, caller.id)
    connection.scope[_CALLER] = _placed(connection, caller)


async def stay_admitted(connection: HTTPConnection) -> None:
    """Let a caller stay whose key works yet, or session goes on, as one that needed none may; else refuse it."""
    caller = principal_of(connection)
    if caller.kind is Kind.KEY and await with_key(connection, _key_in(connection)) != caller:
        raise RefusedError("unauthenticated", _WRONG_KEY, _CHALLENGE)
    if caller.kind is Kind.PERSON:
        person = await person_in(connection, is_there=False)
        if person is None or person.principal != caller:
            raise RefusedError("unauthenticated", _ENDED, _CHALLENGE)


def may_have_to_leave(connection: HTTPConnection) -> bool:
    """Tell whether who asks may be refused later on, because what it came with ends."""
    return principal_of(connection).kind in {Kind.KEY, Kind.PERSON}


def principal_of(connection: HTTPConnection) -> Principal:
    """Return who asks, and what it may do."""
    caller: Principal = connection.scope[_CALLER]
    return caller


def address_of(connection: HTTPConnection) -> str:
    """Return the address that a request came from."""
    return SOMEBODY if connection.client is None else connection.client.host


async def person_in(connection: HTTPConnection, *, is_there: bool = True) -> Person | None:
    """Return who has logged in, by the cookie of a request; None if nobody has."""
    token = session_in(connection)
    return None if token is None else await runtime_of(connection).sessions.person_of(token, is_there=is_there)


async def with_key(connection: HTTPConnection, text: str | None) -> Principal:
    """Return who comes with a key; refuse a wrong one, and without a look whoever has tried too many."""
    authentication = runtime_of(connection).authentication
    if text is None or not authentication.knows(text):
        refuse_guessing(connection)
    found = None if text is None else await authentication.principal_of(text)
    if found is None:
        count_guess(connection)
        raise RefusedError("unauthenticated", _WRONG_KEY, _CHALLENGE)
    return found


def refuse_guessing(connection: HTTPConnection) -> None:
    """Refuse whoever has just tried too many keys or links that do not work."""
    if state_of(connection).wrong_keys.are_too_many(address_of(connection)):
        raise RefusedError("overloaded", _TOO_MANY, {"Retry-After": "1"})


def count_guess(connection: HTTPConnection) -> None:
    """Count a key or a link that does not work."""
    state_of(connection).wrong_keys.add(address_of(connection))


def refuse_other_pages(connection: HTTPConnection) -> None:
    """Refuse what changes something and comes with a session, unless a browser says that our own page sends it."""
    is_safe = connection.scope["method"] in SAFE or connection.scope.get(IS_OWN_PAGE, False)
    if not is_safe and has_session(connection):
        raise RefusedError("cross_site", _NOT_OUR_PAGE)


async def _caller(connection: HTTPConnection) -> Principal:
    state = state_of(connection)
    if state.auth == "off":
        return ANYBODY
    if _credentials(connection):
        return await with_key(connection, _key_in(connection))
    refuse_other_pages(connection)
    person = await person_in(connection)
    if person is not None:
        return person.principal
    # Whoever needs nothing is not kept out by a session that has ended.
    if state.auth == "auto" and connection.scope.get(IS_LOCAL, False):
        return LOCAL
    raise RefusedError("unauthenticated", _ENDED if has_session(connection) else _NO_KEY, _CHALLENGE)


def _placed(connection: HTTPConnection, caller: Principal) -> Principal:
    """Return a caller with the address that it calls from; to make another of each would take longer than all else."""
    known, address = state_of(connection).placed, address_of(connection)
    found = known.get((id(caller), address))
    if found is None:
        if len(known) >= PLACED_MAX:
            known.clear()
        found = known[id(caller), address] = caller, replace(caller, address=address)
    return found[1]


def _key_in(connection: HTTPConnection) -> str | None:
    """Return the key that a request has; None if what it has in a key's place is none, or there are two."""
    given = _credentials(connection)
    kind, _, text = given[0].decode("latin-1").partition(" ")
    return text.strip() if len(given) == 1 and kind.lower() == "bearer" else None


def _credentials(connection: HTTPConnection) -> list[bytes]:
    # All headers as texts would be made for this alone: a request has them made once more, later.
    return [value for name, value in connection.scope["headers"] if name == b"authorization"]
