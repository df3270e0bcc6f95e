"""API keys: made, listed, replaced and revoked by those who may.

What a key is made of is known to nobody but whoever is given it: here it is
forgotten as soon as it was told.
"""

import re
import secrets
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypedDict
from uuid import UUID

from uuid_utils import uuid7

from officeplane.domain.api_key import (
    ALPHABET,
    CHANCE,
    SHOWN,
    ApiKey,
    digest_of,
    is_key_name,
    key_text,
)
from officeplane.domain.audit import Action, Deed, Facts
from officeplane.domain.errors import (
    ApiKeyExistsError,
    ApiKeyNotFoundError,
    FieldError,
    ForbiddenError,
    InvalidRequestError,
    OutsideError,
)
from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import NOT_NARROWED, Entries, Narrowing
from officeplane.domain.principal import Principal, Scope
from officeplane.domain.quota import UNLIMITED, Quotas, facts_of
from officeplane.domain.space import DEFAULT, SPACE_PATTERN, Space
from officeplane.store import api_keys, audit
from officeplane.store.connection import Executor, Ledger

OVERLAP_SECONDS: Final = 86_400.0
"""For how long a key works beside the one that came in its place, if nothing else is said."""


class MadeKey(NamedTuple):
    """A key, and its text, which is told once."""

    key: ApiKey
    text: str


class KeyChanges(TypedDict, total=False):
    """What of a key is to be otherwise; its space never is."""

    name: str
    scopes: Collection[Scope]
    expires_at: datetime | None
    documents: Entries
    task_types: Entries
    most_urgent: int
    agents: Entries
    quotas: Quotas


def new_key_text() -> str:
    """Return a key that nobody has had before."""
    return key_text("".join(secrets.choice(ALPHABET) for _ in range(CHANCE)))


class ApiKeys:
    """The keys of an installation."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def create(
        self,
        giver: Principal,
        name: str,
        scopes: Collection[Scope],
        expires_at: datetime | None = None,
        *,
        space: str | None = None,
        narrowing: Narrowing = NOT_NARROWED,
        quotas: Quotas = UNLIMITED,
    ) -> MadeKey:
        """Make a key that may do no more than whoever makes it; a space is there from its first key on."""
        text = new_key_text()
        key = _new(giver, name, scopes, text, expires_at, Space(space or giver.space), narrowing, quotas)
        _check_asked(key)
        _check_given(giver, key)

        async def created(executor: Executor) -> MadeKey:
            made = await api_keys.insert(executor, key, digest_of(text))
            if made is None:
                raise ApiKeyExistsError(name)
            await audit.write(executor, Deed(giver, Action.CREATE_KEY, made.id, after=_facts(made)))
            return MadeKey(made, text)

        return await self._ledger.in_transaction(created)

    async def change(self, giver: Principal, key_id: KeyId, changes: KeyChanges) -> ApiKey:
        """Have a key that works be called, or do, something else; no more than whoever changes it."""

        async def changed(executor: Executor) -> ApiKey:
            # Of two that are given one name at once, the later one has to see the earlier one.
            await api_keys.hold(executor)
            old = await api_keys.lock(executor, giver, key_id)
            if old is None:
                raise ApiKeyNotFoundError(key_id)
            key = _changed(old, changes)
            _check_asked(key, old)
            _check_given(giver, key)
            stored = await api_keys.change(executor, key)
            if stored is None:
                raise ApiKeyExistsError(key.name)
            deed = Deed(giver, Action.CHANGE_KEY, key_id, before=_facts(old), after=_facts(stored))
            await audit.write(executor, deed)
            return stored

        return await self._ledger.in_transaction(changed)

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
            replaced = await api_keys.revoke_named(executor, giver, DEFAULT, name)
            made = await api_keys.insert(executor, _new(giver, name, scopes, text), digest)
            if made is None:
                return False
            after = {**_facts(made), "revoked": [key.id for key in replaced]}
            await audit.write(executor, Deed(giver, Action.CREATE_KEY, made.id, after=after))
            return True

        return await self._ledger.in_transaction(admitted)

    async def find(self, caller: Principal, which: str, space: str = DEFAULT) -> ApiKey:
        """Return the key of an id, or that of a name of a space which was neither replaced nor revoked."""
        key_id = _id_in(which)
        found = None if key_id is None else await api_keys.fetch(self._ledger, caller, key_id)
        found = found or await api_keys.named(self._ledger, caller, Space(space), which)
        if found is None:
            raise ApiKeyNotFoundError(which)
        return found

    async def page(
        self, caller: Principal, after: KeyId | None, limit: int, *, space: str | None = None
    ) -> list[ApiKey]:
        """Return keys in the order in which they were made, those that do not work any more too."""
        only = None if space is None else Space(space)
        return await api_keys.page(self._ledger, caller, only, after=after or api_keys.FIRST, limit=limit)

    async def rotate(self, giver: Principal, key_id: KeyId, overlap_seconds: float = OVERLAP_SECONDS) -> MadeKey:
        """Make a key in the place of another, which works for a while yet."""

        async def rotated(executor: Executor) -> MadeKey:
            old = await api_keys.lock(executor, giver, key_id)
            if old is None:
                raise ApiKeyNotFoundError(key_id)
            _check_given(giver, old)
            text = new_key_text()
            key = _new(giver, old.name, old.scopes, text, old.expires_at, old.space, old.narrowing, old.quotas)
            await api_keys.replace(executor, old.id, key.id, overlap_seconds)
            made = await api_keys.insert(executor, key, digest_of(text))
            if made is None:
                raise ApiKeyExistsError(old.name)
            after = {**_facts(made), "replacedBy": made.id, "overlapSeconds": overlap_seconds}
            await audit.write(executor, Deed(giver, Action.ROTATE_KEY, old.id, before=_facts(old), after=after))
            return MadeKey(made, text)

        return await self._ledger.in_transaction(rotated)

    async def revoke(self, caller: Principal, key_id: KeyId) -> ApiKey:
        """Have a key work no more."""
        return await self._ledger.in_transaction(lambda executor: _revoked(executor, caller, key_id))

    async def revoke_all(self, caller: Principal, which: str, space: str = DEFAULT) -> list[ApiKey]:
        """Have the key of an id work no more, or all keys of a name: the one that was replaced would work on."""
        key_id = _id_in(which)

        async def revoked(executor: Executor) -> list[ApiKey]:
            if key_id is not None and await api_keys.fetch(executor, caller, key_id) is not None:
                return [await _revoked(executor, caller, key_id)]
            found = await api_keys.revoke_named(executor, caller, Space(space), which)
            if not found:
                raise ApiKeyNotFoundError(which)
            for key in found:
                await audit.write(executor, Deed(caller, Action.REVOKE_KEY, key.id, before=_facts(key)))
            return found

        return await self._ledger.in_transaction(revoked)


async def _revoked(executor: Executor, caller: Principal, key_id: KeyId) -> ApiKey:
    known = await api_keys.fetch(executor, caller, key_id)
    revoked = await api_keys.revoke(executor, caller, key_id)
    if known is None or revoked is None:
        raise ApiKeyNotFoundError(key_id)
    if known.revoked_at is None:
        await audit.write(executor, Deed(caller, Action.REVOKE_KEY, key_id, before=_facts(known)))
    return revoked


def _facts(key: ApiKey) -> Facts:
    only = key.narrowing
    return {
        "name": key.name,
        "scopes": sorted(key.scopes),
        "space": key.space,
        "expiresAt": key.expires_at,
        "documents": only.documents,
        "taskTypes": only.task_types,
        "maxPriority": only.most_urgent,
        "agents": only.agents,
        "quotas": None if key.quotas == UNLIMITED else facts_of(key.quotas),
    }


def _changed(key: ApiKey, changes: KeyChanges) -> ApiKey:
    only = key.narrowing
    return replace(
        key,
        name=changes.get("name", key.name),
        scopes=frozenset(changes.get("scopes", key.scopes)),
        expires_at=changes.get("expires_at", key.expires_at),
        narrowing=Narrowing(
            changes.get("documents", only.documents),
            changes.get("task_types", only.task_types),
            changes.get("most_urgent", only.most_urgent),
            changes.get("agents", only.agents),
        ),
        quotas=changes.get("quotas", key.quotas),
    )


def _check_asked(key: ApiKey, before: ApiKey | None = None) -> None:
    if not is_key_name(key.name):
        rule = "It must be 1 to 100 letters, digits and . _ @ : - beginning with a letter or digit, and not like a key."
        raise _wrong("name", rule)
    if not key.scopes:
        raise _wrong("scopes", "It must have one at least.")
    if re.fullmatch(SPACE_PATTERN, key.space) is None:
        raise _wrong("space", "It must be 1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen.")
    is_new = before is None or key.expires_at != before.expires_at
    if is_new and key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        raise _wrong("expiresAt", "It must lie ahead.")
    key.narrowing.check()


def _wrong(field: str, message: str) -> InvalidRequestError:
    return InvalidRequestError(f"{field}: {message}", [FieldError(field, message)])


def _check_given(giver: Principal, key: ApiKey) -> None:
    missing = sorted(scope for scope in key.scopes if not giver.may(scope))
    if missing:
        raise ForbiddenError(missing[0], giver.id)
    if key.space != giver.space and not giver.is_operator:
        raise OutsideError(giver.id, "space", key.space)
    beyond = key.narrowing.beyond(giver.narrowing)
    if beyond is not None:
        raise OutsideError(giver.id, *beyond)
    quota = key.quotas.beyond(giver.quotas)
    if quota is not None:
        raise OutsideError(giver.id, "quota", quota)


def _id_in(which: str) -> KeyId | None:
    try:
        return KeyId(str(UUID(which)))
    except ValueError:
        return None


def _new(
    giver: Principal,
    name: str,
    scopes: Collection[Scope],
    text: str,
    expires_at: datetime | None = None,
    space: Space = DEFAULT,
    narrowing: Narrowing = NOT_NARROWED,
    quotas: Quotas = UNLIMITED,
) -> ApiKey:
    return ApiKey(
        id=KeyId(str(uuid7())),
        name=name,
        shown=text[:SHOWN],
        scopes=frozenset(scopes),
        created_by=giver.signature,
        created_at=datetime.now(UTC),
        expires_at=expires_at,
        space=space,
        narrowing=narrowing,
        quotas=quotas,
    )
