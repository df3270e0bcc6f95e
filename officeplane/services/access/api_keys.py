"""API keys: made, listed, replaced and revoked by those who may.

What a key is made of is known to nobody but whoever is given it: here it is
forgotten as soon as it was told.
"""

import secrets
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from uuid_utils import uuid7

from officeplane.domain.api_key import (
    ALPHABET,
    CHANCE,
    SHOWN,
    ApiKey,
    KeyId,
    digest_of,
    is_key_name,
    key_text,
)
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
        _check_asked(name, scopes, expires_at)
        _check_given(giver, scopes)
        made = await _store(self._ledger, giver, name, scopes, expires_at, new_key_text())
        if made is None:
            raise ApiKeyExistsError(name)
        return made

    async def admit(self, giver: Principal, name: str, scopes: Collection[Scope], text: str) -> bool:
        """Have a key work whose text was made elsewhere, in the place of whichever has its name; tell whether it does.

        It does not if it was known before and works no more: what was revoked stays so, whoever still has its text.
        """
        digest = digest_of(text)

        async def admitted(executor: Executor) -> bool:
            # Of several processes that start with a new text, one stores it and the others find it.
            await api_keys.hold(executor)
            if await api_keys.of_digest(executor, digest) is not None:
                return True
            if await api_keys.was_known(executor, digest):
                return False
            await api_keys.revoke_named(executor, name)
            return await _store(executor, giver, name, scopes, None, text) is not None

        return await self._ledger.in_transaction(admitted)

    async def find(self, which: str) -> ApiKey:
        """Return the key of an id, or that of a name which was neither replaced nor revoked."""
        key_id = _id_in(which)
        found = None if key_id is None else await api_keys.fetch(self._ledger, key_id)
        found = found or await api_keys.named(self._ledger, which)
        if found is None:
            raise ApiKeyNotFoundError(which)
        return found

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

    async def revoke_all(self, which: str) -> list[ApiKey]:
        """Have the key of an id work no more, or all keys of a name: the one that was replaced would work on."""
        key_id = _id_in(which)
        found = None if key_id is None else await api_keys.revoke(self._ledger, key_id)
        revoked = await api_keys.revoke_named(self._ledger, which) if found is None else [found]
        if not revoked:
            raise ApiKeyNotFoundError(which)
        return revoked


def _check_asked(name: str, scopes: Collection[Scope], expires_at: datetime | None) -> None:
    if not is_key_name(name):
        rule = "It must be 1 to 100 letters, digits and . _ @ : - beginning with a letter or digit, and not like a key."
        raise _wrong("name", rule)
    if not scopes:
        raise _wrong("scopes", "It must have one at least.")
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise _wrong("expiresAt", "It must lie ahead.")


def _wrong(field: str, message: str) -> InvalidRequestError:
    return InvalidRequestError(f"{field}: {message}", [FieldError(field, message)])


def _check_given(giver: Principal, scopes: Collection[Scope]) -> None:
    missing = sorted(scope for scope in scopes if not giver.may(scope))
    if missing:
        raise ForbiddenError(missing[0], giver.id)


def _id_in(which: str) -> KeyId | None:
    try:
        return KeyId(str(UUID(which)))
    except ValueError:
        return None


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
