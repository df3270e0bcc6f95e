"""Sessions in the ledger: the digests of their tokens, whose they are, and when they were used last."""

from typing import Final, NamedTuple

from officeplane.domain.ids import KeyId
from officeplane.domain.principal import Scope
from officeplane.domain.session import (
    IDLE_SECONDS,
    LONGEST_SECONDS,
    NOTED_SECONDS,
    SESSIONS_MAX,
    Login,
    Session,
)
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("sessions")


class GoingOn(NamedTuple):
    """A session that has not ended, and whether it is to be noted that it is in use."""

    session: Session
    is_to_be_noted: bool


async def begin(
    executor: Executor, digest: bytes, subject: str, login: Login, scopes: frozenset[Scope], key_id: KeyId | None
) -> None:
    """Store a session; the scopes are left to its key if it has one."""
    await _SQL["begin"].fetch(
        executor,
        digest=digest,
        subject=subject,
        login=login,
        scopes=sorted(scopes) if key_id is None else None,
        key_id=key_id,
        others=SESSIONS_MAX - 1,
    )


async def of_digest(executor: Executor, digest: bytes) -> GoingOn | None:
    """Return the session whose token has this digest; None when none goes on."""
    rows = await _SQL["of_digest"].fetch(
        executor,
        digest=digest,
        idle_seconds=IDLE_SECONDS,
        longest_seconds=LONGEST_SECONDS,
        noted_seconds=NOTED_SECONDS,
    )
    return GoingOn(_session(rows[0]), rows[0]["is_to_be_noted"]) if rows else None


async def see(executor: Executor, digest: bytes) -> None:
    """Note that a session is in use."""
    await _SQL["see"].fetch(
        executor,
        digest=digest,
        idle_seconds=IDLE_SECONDS,
        longest_seconds=LONGEST_SECONDS,
        noted_seconds=NOTED_SECONDS,
    )


async def end(executor: Executor, digest: bytes) -> Session | None:
    """End a session and return it; None when it did not go on."""
    rows = await _SQL["end"].fetch(executor, digest=digest, idle_seconds=IDLE_SECONDS, longest_seconds=LONGEST_SECONDS)
    return _session(rows[0]) if rows else None


def _session(row: Row) -> Session:
    key_id = row["key_id"]
    return Session(
        subject=row["subject"],
        login=Login(row["login"]),
        scopes=frozenset(map(Scope, row["scopes"] or ())),
        key_id=None if key_id is None else KeyId(str(key_id)),
        created_at=row["created_at"],
        seen_at=row["seen_at"],
    )
