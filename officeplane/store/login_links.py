"""Login links in the ledger: the digests of their tokens, what they let, and whether they were spent."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from officeplane.domain.principal import Scope
from officeplane.store.connection import Executor
from officeplane.store.queries import load

_SQL: Final = load("login_links")


class Spent(NamedTuple):
    """What a link was good for, and who has made it."""

    scopes: frozenset[Scope]
    created_by: str


async def insert(
    executor: Executor, digest: bytes, scopes: Collection[Scope], created_by: str, for_seconds: float
) -> datetime:
    """Store a link and return when it expires."""
    (row,) = await _SQL["insert"].fetch(
        executor, digest=digest, scopes=sorted(scopes), created_by=created_by, for_seconds=for_seconds
    )
    expires_at: datetime = row["expires_at"]
    return expires_at


async def spend(executor: Executor, digest: bytes) -> Spent | None:
    """Spend a link, once; None when there is none that can be spent."""
    rows = await _SQL["spend"].fetch(executor, digest=digest)
    return Spent(frozenset(map(Scope, rows[0]["scopes"])), rows[0]["created_by"]) if rows else None
