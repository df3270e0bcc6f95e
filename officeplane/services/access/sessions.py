"""Sessions: begun by people who log in, and looked up whenever their browsers ask for something.

What was found of a session is known for half a second: then it is asked again whether it goes on, and its key works. So
it has ended within that time in every process, for at most two small statements a second and browser. Keys are known
for longer (`authentication.py`), because programs call far more often than people.
"""

import secrets
import time
from datetime import datetime
from typing import Final, NamedTuple

from officeplane.domain.api_key import digest_of
from officeplane.domain.principal import Principal, Scope
from officeplane.domain.session import Login, Session, is_token
from officeplane.store import api_keys, sessions
from officeplane.store.connection import Ledger

KNOWN_SECONDS: Final = 0.5
KNOWN_MAX: Final = 10_000


class Person(NamedTuple):
    """Somebody who has logged in, and until when that lasts."""

    principal: Principal
    session: Session
    ends_at: datetime


class _Known(NamedTuple):
    person: Person
    is_to_be_noted: bool
    until: float


def new_token() -> str:
    """Return a token that nobody has had before."""
    return secrets.token_urlsafe(32)


class Sessions:
    """The people who have logged in."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._known: dict[bytes, _Known] = {}

    async def begin(self, subject: str, login: Login, scopes: frozenset[Scope]) -> str:
        """Begin a session of somebody, and return its token."""
        token = new_token()
        await sessions.begin(self._ledger, digest_of(token), subject, login, scopes, None)
        return token

    async def begin_with_key(self, text: str) -> str | None:
        """Begin a session that may do what a key may, and ends with it; None if the key does not work."""
        working = await api_keys.of_digest(self._ledger, digest_of(text))
        if working is None:
            return None
        token, key = new_token(), working.key
        await sessions.begin(self._ledger, digest_of(token), key.name, Login.KEY, frozenset(), key.id)
        return token

    async def person_of(self, token: str, *, is_there: bool = True) -> Person | None:
        """Return whose session it is; None if it has ended. Whoever is not there himself does not prolong it."""
        if not is_token(token):
            return None
        digest = digest_of(token)
        known = self._known.get(digest)
        if known is None or known.until <= time.monotonic():
            known = await self._look_up(digest)
        if known is None:
            return None
        if is_there and known.is_to_be_noted:
            self._known[digest] = known._replace(is_to_be_noted=False)
            await sessions.see(self._ledger, digest)
        return known.person

    async def end(self, token: str) -> None:
        """End a session."""
        digest = digest_of(token)
        await sessions.end(self._ledger, digest)
        self._known.pop(digest, None)

    async def _look_up(self, digest: bytes) -> _Known | None:
        # What is found may be as old as this moment when it comes.
        until = time.monotonic() + KNOWN_SECONDS
        self._known.pop(digest, None)
        found = await sessions.of_digest(self._ledger, digest)
        if found is None:
            return None
        session = found.session
        key = None if session.key_id is None else await api_keys.of_id(self._ledger, session.key_id)
        if key is None and session.key_id is not None:
            return None
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        known = _Known(Person(session.principal(key), session, session.ends_at(key)), found.is_to_be_noted, until)
        self._known[digest] = known
        return known
