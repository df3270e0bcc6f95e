"""API keys in the ledger: their digests, and what callers may do with them."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypedDict

from officeplane.domain.api_key import ApiKey
from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import WITHOUT_DOCUMENT, Entries, Narrowing
from officeplane.domain.principal import Principal, Scope, pattern
from officeplane.domain.quota import NAMES, UNLIMITED, Quotas
from officeplane.domain.space import Space
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("api_keys")
FIRST: Final = KeyId("00000000-0000-0000-0000-000000000000")
"""What comes before every key's id."""


class Working(NamedTuple):
    """A key that works, and in how many seconds it will not any more, if that is known."""

    key: ApiKey
    expires_in: float | None


async def insert(executor: Executor, key: ApiKey, digest: bytes) -> ApiKey | None:
    """Store a key and return it as it was stored; None when its name is another's, or its text was one's before."""
    rows = await _SQL["insert"].fetch(
        executor,
        id=key.id,
        name=key.name,
        digest=digest,
        shown=key.shown,
        scopes=sorted(key.scopes),
        created_by=key.created_by,
        expires_at=key.expires_at,
        space=key.space,
        quotas=_quotas_json(key.quotas),
        **_narrowed(key.narrowing),
    )
    return _key(rows[0]) if rows else None


async def change(executor: Executor, key: ApiKey) -> ApiKey | None:
    """Have a locked key be called, and do, what it says now; None when another of its space has its name."""
    rows = await _SQL["change"].fetch(
        executor,
        id=key.id,
        name=key.name,
        scopes=sorted(key.scopes),
        expires_at=key.expires_at,
        quotas=_quotas_json(key.quotas),
        **_narrowed(key.narrowing),
    )
    return _key(rows[0]) if rows else None


async def version(executor: Executor) -> int:
    """Return what rises whenever what any key may do changes."""
    (row,) = await _SQL["version"].fetch(executor)
    return int(row["version"])


async def hold(executor: Executor) -> None:
    """Keep others from changing keys until the transaction ends."""
    await _SQL["hold"].fetch(executor)


async def was_known(executor: Executor, digest: bytes) -> bool:
    """Tell whether there ever was a key whose text has this digest."""
    return bool(await _SQL["was_known"].fetch(executor, digest=digest))


async def of_digest(executor: Executor, digest: bytes) -> Working | None:
    """Return the key whose text has this digest; None when there is none that works."""
    rows = await _SQL["of_digest"].fetch(executor, digest=digest)
    return Working(_key(rows[0]), rows[0]["expires_in"]) if rows else None


async def of_id(executor: Executor, key_id: KeyId) -> ApiKey | None:
    """Return a key that works; None when there is none of this id."""
    rows = await _SQL["of_id"].fetch(executor, id=key_id)
    return _key(rows[0]) if rows else None


async def page(executor: Executor, caller: Principal, space: Space | None, *, after: KeyId, limit: int) -> list[ApiKey]:
    """Return keys, of one space or of all, in the order in which they were made, those that work no more too."""
    rows = await _SQL["page"].fetch(executor, after=after, space=space, limit=limit, **_reach_of(caller))
    return [_key(row) for row in rows]


async def fetch(executor: Executor, caller: Principal, key_id: KeyId) -> ApiKey | None:
    """Return a key; None when there is none of this id, for this caller."""
    rows = await _SQL["fetch"].fetch(executor, id=key_id, **_reach_of(caller))
    return _key(rows[0]) if rows else None


async def named(executor: Executor, caller: Principal, space: Space, name: str) -> ApiKey | None:
    """Return the key of a name that was neither replaced nor revoked; None when there is none, for this caller."""
    rows = await _SQL["named"].fetch(executor, space=space, name=name, **_reach_of(caller))
    return _key(rows[0]) if rows else None


async def lock(executor: Executor, caller: Principal, key_id: KeyId) -> ApiKey | None:
    """Return a key that works and was not replaced, locked; None when there is none of this id, for this caller."""
    rows = await _SQL["lock"].fetch(executor, id=key_id, **_reach_of(caller))
    return _key(rows[0]) if rows else None


async def replace(executor: Executor, key_id: KeyId, successor: KeyId, overlap_seconds: float) -> None:
    """Let another key come in place of one, which works for so long yet."""
    await _SQL["replace"].fetch(executor, id=key_id, successor=successor, overlap_seconds=overlap_seconds)


async def revoke(executor: Executor, caller: Principal, key_id: KeyId) -> ApiKey | None:
    """Revoke a key, once and for all; None when there is none of this id, for this caller."""
    rows = await _SQL["revoke"].fetch(executor, id=key_id, **_reach_of(caller))
    return _key(rows[0]) if rows else None


async def revoke_named(executor: Executor, caller: Principal, space: Space, name: str) -> list[ApiKey]:
    """Revoke all keys of a name, those that were replaced too, and return them."""
    rows = await _SQL["revoke_named"].fetch(executor, space=space, name=name, **_reach_of(caller))
    return [_key(row) for row in rows]


async def note_use(executor: Executor, used: Mapping[KeyId, datetime]) -> None:
    """Note when keys were used last."""
    await _SQL["used"].fetch(executor, ids=list(used), at=list(used.values()))


async def has_admin(executor: Executor) -> bool:
    """Tell whether any key works that may make others."""
    return bool(await _SQL["has_admin"].fetch(executor))


async def working(executor: Executor) -> int:
    """Return how many keys work."""
    (row,) = await _SQL["working"].fetch(executor)
    return int(row["keys"])


def _key(row: Row) -> ApiKey:
    replaced_by = row["replaced_by"]
    return ApiKey(
        id=KeyId(str(row["id"])),
        name=row["name"],
        shown=row["shown"],
        scopes=frozenset(map(Scope, row["scopes"])),
        created_by=row["created_by"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
        replaced_by=None if replaced_by is None else KeyId(str(replaced_by)),
        space=Space(row["space"]),
        narrowing=Narrowing(
            _entries(row["documents"]), _entries(row["task_types"]), row["most_urgent"], _entries(row["agents"])
        ),
        quotas=_quotas(row["quotas"]),
    )


def _quotas(stored: str | None) -> Quotas:
    return UNLIMITED if stored is None else Quotas(**dict.fromkeys(NAMES) | json.loads(stored))


def _quotas_json(quotas: Quotas) -> str | None:
    limits = {name: limit for name in NAMES if (limit := getattr(quotas, name)) is not None}
    return json.dumps(limits) if limits else None


def _entries(stored: Sequence[str] | None) -> Entries:
    return None if stored is None else tuple(stored)


class _Narrowed(TypedDict):
    documents: Entries
    task_types: Entries
    most_urgent: int
    agents: Entries


def _narrowed(only: Narrowing) -> _Narrowed:
    return {
        "documents": only.documents,
        "task_types": only.task_types,
        "most_urgent": only.most_urgent,
        "agents": only.agents,
    }


class _Reach(TypedDict):
    seen_space: Space | None
    seen_documents: Sequence[str] | None
    seen_types: Sequence[str] | None
    seen_agents: Sequence[str] | None
    most_urgent_seen: int


def _reach_of(caller: Principal) -> _Reach:
    """Return what tells in a statement which keys a caller has to do with."""
    only = caller.narrowing
    return {
        "seen_space": None if caller.is_operator else caller.space,
        "seen_documents": _patterns(only.documents),
        "seen_types": _patterns(only.task_types),
        "seen_agents": _patterns(only.agents),
        "most_urgent_seen": only.most_urgent,
    }


def _patterns(entries: Entries) -> list[str] | None:
    return None if entries is None else ["" if one == WITHOUT_DOCUMENT else pattern(one) for one in entries]
