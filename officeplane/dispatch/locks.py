"""Document locks: one worker per document at a time.

A lock only saves work. What protects the document is the settlement: a commit
from a lost claim or an older head is refused, whoever holds the lock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from officeplane.dispatch.commands import packed
from officeplane.dispatch.connection import Connection
from officeplane.dispatch.pools import Reply
from officeplane.dispatch.scripts import ACQUIRE_LOCK, RELEASE_LOCK, RENEW_LOCK
from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, space_of


@dataclass(frozen=True, slots=True)
class Hold:
    """One acquisition of one document's lock; a hold id never comes back."""

    document_id: str
    worker_id: str
    hold_id: str

    @property
    def value(self) -> str:
        """Return what the lock's key holds for as long as this hold lasts."""
        return f"{self.worker_id}:{self.hold_id}"


@dataclass(frozen=True, slots=True)
class LockRequest:
    """A wish for a lock, and the hint to park behind its holder if another has it."""

    hold: Hold
    hint: str
    tier: Tier


class Released(NamedTuple):
    """How a release ended: whether the lock was ours, and on which list the hint parked behind it now is."""

    matched: bool
    rung: Tier | None


class Locks:
    """The document locks of one installation. Every method raises `RedisUnavailable`."""

    def __init__(self, connection: Connection, ttl_seconds: float) -> None:
        self._connection = connection
        self._ttl = str(max(1, round(ttl_seconds * 1000)))

    async def acquire(self, requests: Sequence[LockRequest]) -> list[bool]:
        """Return, for each request, whether its hold has the lock now; the hints of the others are parked."""
        keys, ttl = self._connection.keys, self._ttl
        replies = await self._connection.ask(
            [
                ACQUIRE_LOCK.call(
                    keys.lock(request.hold.document_id),
                    keys.parked(request.hold.document_id),
                    arguments=(request.hold.value, ttl, str(int(request.tier)), request.hint),
                )
                for request in requests
            ],
        )
        return [reply == 1 for reply in replies]

    async def renew(self, holds: Sequence[Hold]) -> list[bool]:
        """Return, for each hold, whether it has its lock for another TTL; a lost one is taken again if it is free."""
        keys, ttl = self._connection.keys, self._ttl
        replies = await self._connection.ask(
            [
                RENEW_LOCK.call(
                    keys.lock(hold.document_id),
                    keys.parked(hold.document_id),
                    arguments=(hold.value, ttl),
                )
                for hold in holds
            ],
        )
        return [reply == 1 for reply in replies]

    async def release(self, holds: Sequence[Hold]) -> list[Released]:
        """Give locks back and ring what was parked behind them; a lock that another holds stays as it is."""
        return await self.release_by_value([(hold.document_id, hold.value) for hold in holds])

    async def release_by_value(self, held: Sequence[tuple[str, str]]) -> list[Released]:
        """Release as above, by document id and the value that `holders` told: for locks whose holder is gone."""
        keys = self._connection.keys
        replies = await self._connection.ask(
            [
                RELEASE_LOCK.call(
                    keys.lock(document_id),
                    keys.parked(document_id),
                    *self._lists(document_id),
                    arguments=(value,),
                )
                for document_id, value in held
            ],
        )
        return [_released(reply) for reply in replies]

    async def holders(self, document_ids: Sequence[str]) -> list[str | None]:
        """Return the value of each document's lock, None where it is free."""
        replies = await self._connection.ask(
            [packed("GET", self._connection.keys.lock(document_id)) for document_id in document_ids],
        )
        return [reply if isinstance(reply, str) else None for reply in replies]

    def _lists(self, document_id: str) -> tuple[str, ...]:
        keys, space = self._connection.keys, space_of(document_id)
        if space == DEFAULT:
            return keys.hint_lists
        return (*keys.hint_lists_of(space), *keys.turns, *keys.wakes)


def _released(reply: Reply) -> Released:
    match reply:
        case [int(matched), int(tier)]:
            return Released(matched == 1, Tier(tier) if tier >= 0 else None)
        case _:
            return Released(matched=False, rung=None)
