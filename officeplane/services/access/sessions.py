"""Sessions: begun by people who log in, and looked up whenever their browsers ask for something.

What was found of a session is known for half a second: then it is asked again whether it goes on, and its key works. So
it has ended within that time in every process, for at most two small statements a second and browser. Keys are known
for longer (`authentication.py`), because programs call far more often than people.
"""

import secrets
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple

from officeplane.domain.api_key import ApiKey, digest_of
from officeplane.domain.audit import Action, Deed
from officeplane.domain.principal import Principal, Scope
from officeplane.domain.session import Login, Session, is_token
from officeplane.store import api_keys, audit, sessions
from officeplane.store.connection import Executor, Ledger

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

    async def begin(self, subject: str, login: Login, scopes: frozenset[Scope], *, address: str | None = None) -> str:
        """Begin a session of somebody who comes from an address, and return its token."""
        return await self._ledger.in_transaction(
            lambda executor: begin_session(executor, subject, login, scopes, address=address)
        )

    async def begin_with_key(self, text: str, *, address: str | None = None) -> str | None:
        """Begin a session that may do what a key may, and ends with it; None if the key does not work."""
        working = await api_keys.of_digest(self._ledger, digest_of(text))
        if working is None:
            return None
        key = working.key
        return await self._ledger.in_transaction(
            lambda executor: begin_session(executor, key.name, Login.KEY, frozenset(), key, address=address)
        )

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

    async def end(self, token: str, *, address: str | None = None) -> None:
        """End a session, if it goes on."""
        digest = digest_of(token)

        async def ended(executor: Executor) -> None:
            session = await sessions.end(executor, digest)
            if session is None:
                return
            key = None if session.key_id is None else await api_keys.of_id(executor, session.key_id)
            if key is not None or session.key_id is None:
                # Otherwise it had ended before, with its key.
                await _write(executor, Action.END_SESSION, session, key, address)

        await self._ledger.in_transaction(ended)
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


async def begin_session(
    executor: Executor,
    subject: str,
    login: Login,
    scopes: frozenset[Scope],
    key: ApiKey | None = None,
    *,
    address: str | None,
) -> str:
    """Begin a session in the transaction of what it is begun with, and return its token."""
    token, now = new_token(), datetime.now(UTC)
    session = Session(subject, login, scopes, None if key is None else key.id, now, now)
    await sessions.begin(executor, digest_of(token), subject, login, scopes, session.key_id)
    await _write(executor, Action.BEGIN_SESSION, session, key, address)
    return token


async def _write(executor: Executor, action: Action, session: Session, key: ApiKey | None, address: str | None) -> None:
    """Keep in the audit what somebody did whose session it is."""
    person = replace(session.principal(key), address=address)
    after = {"scopes": sorted(person.scopes)} if action is Action.BEGIN_SESSION else None
    await audit.write(executor, Deed(person, action, person.id, after=after))
