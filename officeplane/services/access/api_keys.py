"""API keys: made, listed, replaced and revoked by those who may.

What a key is made of is known to nobody but whoever is given it: here it is
forgotten as soon as it was told.
"""

import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final, NamedTuple

from uuid_utils import uuid7

from officeplane.domain.api_key import ALPHABET, CHANCE, SHOWN, ApiKey, KeyId, digest_of, key_text
from officeplane.domain.errors import (
    ApiKeyExistsError,
    ApiKeyNotFoundError,
    FieldError,
    ForbiddenError,
    InvalidRequestError,
)
from officeplane.domain.principal import Principal, Scope
from officeplane.store import api_keys
from officeplane.store.connection import Executor, Ledger

OVERLAP_SECONDS: Final = 86_400.0
"""For how long a key works beside the one that came in its place, if nothing else is said."""


class MadeKey(NamedTuple):
    """A key, and its text, which is told once."""

    key: ApiKey
    text: str


def new_key_text() -> str:
    """Return a key that nobody has had before."""
    return key_text("".join(secrets.choice(ALPHABET) for _ in range(CHANCE)))


class ApiKeys:
    """The keys of an installation."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def create(
        self, giver: Principal, name: str, scopes: Collection[Scope], expires_at: datetime | None = None
    ) -> MadeKey:
        """Make a key that may do no more than whoever makes it."""
        _check_given(giver, scopes)
        if expires_at is not None and expires_at <= datetime.now(UTC):
            message = "It must lie ahead."
            raise InvalidRequestError(f"expiresAt: {message}", [FieldError("expiresAt", message)])
        made = await _store(self._ledger, giver, name, scopes, expires_at, new_key_text())
        if made is None:
            raise ApiKeyExistsError(name)
        return made

    async def admit(self, giver: Principal, name: str, scopes: Collection[Scope], text: str) -> None:
        """Have a key work whose text was made elsewhere, unless it does already or its name is taken."""
        if await api_keys.of_digest(self._ledger, digest_of(text)) is None:
            await _store(self._ledger, giver, name, scopes, None, text)

    async def page(self, after: KeyId | None, limit: int) -> list[ApiKey]:
        """Return keys in the order in which they were made, those that do not work any more too."""
        return await api_keys.page(self._ledger, after=after or api_keys.FIRST, limit=limit)

    async def rotate(self, giver: Principal, key_id: KeyId, overlap_seconds: float = OVERLAP_SECONDS) -> MadeKey:
        """Make a key in the place of another, which works for a while yet."""

        async def rotated(executor: Executor) -> MadeKey:
            old = await api_keys.lock(executor, key_id)
            if old is None:
                raise ApiKeyNotFoundError(key_id)
            _check_given(giver, old.scopes)
            successor = KeyId(str(uuid7()))
            await api_keys.replace(executor, old.id, successor, overlap_seconds)
            made = await _store(executor, giver, old.name, old.scopes, old.expires_at, new_key_text(), successor)
            if made is None:
                raise ApiKeyExistsError(old.name)
            return made

        return await self._ledger.in_transaction(rotated)

    async def revoke(self, key_id: KeyId) -> ApiKey:
        """Have a key work no more."""
        revoked = await api_keys.revoke(self._ledger, key_id)
        if revoked is None:
            raise ApiKeyNotFoundError(key_id)
        return revoked

    async def has_admin(self) -> bool:
        """Tell whether any key works that may make others."""
        return await api_keys.has_admin(self._ledger)


def _check_given(giver: Principal, scopes: Collection[Scope]) -> None:
    missing = sorted(scope for scope in scopes if not giver.may(scope))
    if missing:
        raise ForbiddenError(missing[0], giver.id)


async def _store(
    executor: Executor,
    giver: Principal,
    name: str,
    scopes: Collection[Scope],
    expires_at: datetime | None,
    text: str,
    key_id: KeyId | None = None,
) -> MadeKey | None:
    key = ApiKey(
        id=key_id or KeyId(str(uuid7())),
        name=name,
        shown=text[:SHOWN],
        scopes=frozenset(scopes),
        created_by=giver.id,
        created_at=datetime.now(UTC),
        expires_at=expires_at,
    )
    stored = await api_keys.insert(executor, key, digest_of(text))
    return None if stored is None else MadeKey(stored, text)
