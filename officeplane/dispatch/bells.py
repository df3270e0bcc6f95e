"""Bells: hints pushed to the lists of their tiers, and taken from them.

A hint is a task's id and means "this task, or its document, may have work". A
hint that is lost, doubled or wrong costs a little time: the ledger decides what
is claimed, and the sweeper rings again what nobody came for.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import structlog
from redis.exceptions import ResponseError

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.commands import packed
from officeplane.dispatch.connection import Connection, is_wrong_type
from officeplane.dispatch.keys import SET_ASIDE_SECONDS
from officeplane.dispatch.pools import Reply
from officeplane.dispatch.scripts import TAKE_HINTS
from officeplane.domain.priority import Tier

RING_SECONDS: Final = 0.2
BLOCK_SECONDS: Final = 1
TAIL_LENGTH: Final = 10

_SET_ASIDE_MILLISECONDS: Final = str(SET_ASIDE_SECONDS * 1000)
_TIERS_REMEMBERED: Final = 10_000
_is_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII).fullmatch
_log = structlog.stdlib.get_logger(__name__)


class Bells:
    """The four hint lists of one installation."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lists = connection.keys.hint_lists
        self._tier_of_list = dict(zip(self._lists, Tier, strict=True))
        self._block = packed("BRPOP", *self._lists, str(BLOCK_SECONDS))
        # From which tier each hint in hand was taken; those taken from NORMAL, nearly all, are left out.
        self._tiers: dict[str, Tier] = {}
        self._abandoned: set[asyncio.Task[None]] = set()

    async def ring(self, hints: Iterable[tuple[str, Tier]]) -> bool:
        """Push task ids onto the lists of their tiers; return whether all of them are there.

        Best effort, within 200 ms and without an exception: the tasks are in the
        ledger, and a ring that failed is the sweeper's work.
        """
        return await self._push("LPUSH", _by_tier(hints))

    async def silence(self, hints: Iterable[tuple[str, Tier]]) -> None:
        """Take a few hints off the lists of these tiers; best effort. Each is looked for in the whole list."""
        commands = [packed("LREM", self._lists[tier], "0", task_id) for task_id, tier in hints]
        if commands and self._connection.availability.available:
            with suppress(RedisUnavailable):
                await self._connection.ask(commands, within_seconds=RING_SECONDS)

    async def give_back(self, hints: Iterable[str]) -> bool:
        """Put hints that were taken back where they came from, the first to be popped first; best effort."""
        tiers = self._tiers
        by_tier = _by_tier((task_id, tiers.get(task_id, Tier.NORMAL)) for task_id in hints)
        return await self._push("RPUSH", {tier: ids[::-1] for tier, ids in by_tier.items()})

    async def take(self, up_to: int) -> list[str]:
        """Return at most that many hints, most urgent first; none after a second of silence.

        Raises `RedisUnavailable`. Cancelling it loses nothing: the pop that is
        under way ends by itself, and what it brings is given back.
        """
        if up_to < 1:
            return []
        taking = asyncio.create_task(self._take(up_to), name="bells.take")
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            returning = asyncio.create_task(self._return(taking), name="bells.return")
            self._abandoned.add(returning)
            returning.add_done_callback(self._abandoned.discard)
            raise

    async def tails(self) -> dict[Tier, list[str]]:
        """Return the hints that will be popped next from each list, the next one first."""
        replies = await self._connection.ask(
            [packed("LRANGE", name, str(-TAIL_LENGTH), "-1") for name in self._lists],
        )
        return {tier: _ids(reply)[::-1] for tier, reply in zip(Tier, replies, strict=True)}

    async def depths(self) -> dict[Tier, int]:
        """Return how many hints wait on each list."""
        replies = await self._connection.ask([packed("LLEN", name) for name in self._lists])
        return {tier: reply if isinstance(reply, int) else 0 for tier, reply in zip(Tier, replies, strict=True)}

    async def aclose(self) -> None:
        """Wait until what cancelled takes still bring has been given back."""
        while self._abandoned:
            await asyncio.wait(self._abandoned)

    async def _push(self, verb: str, by_tier: Mapping[Tier, list[str]]) -> bool:
        if not by_tier:
            return True
        availability = self._connection.availability
        if not availability.may_try():
            return False
        commands = [packed(verb, self._lists[tier], *ids) for tier, ids in by_tier.items()]
        try:
            replies = await self._connection.ask(commands, within_seconds=RING_SECONDS)
        except RedisUnavailable:
            return False
        availability.regained()
        return None not in replies

    async def _take(self, up_to: int) -> list[str]:
        connection = self._connection
        if not connection.availability.available:
            await connection.probe()
        # One packet: the server runs the second command as soon as the first lets go,
        # so a full list and a single late hint both cost one round trip.
        fill = TAKE_HINTS.call(
            *self._lists,
            connection.keys.set_aside,
            arguments=(str(up_to - 1), _SET_ASIDE_MILLISECONDS),
        )
        first, rest = await connection.wait([self._block, fill], within_seconds=BLOCK_SECONDS + 1)
        if isinstance(first, ResponseError) and not is_wrong_type(first):
            raise connection.unavailable(first)
        taken = self._popped(first)
        if isinstance(rest, ResponseError):
            error = connection.unavailable(rest)
            if not taken:
                raise error
        elif isinstance(rest, list):
            *lists, set_aside = rest
            for tier, reply in zip(Tier, lists, strict=True):
                taken += self._accepted(tier, _ids(reply))
            self._report(set_aside)
        return taken

    def _popped(self, reply: Reply) -> list[str]:
        match reply:
            case [str(name), str(task_id)]:
                return self._accepted(self._tier_of_list[name], [task_id])
            case _:
                return []

    def _accepted(self, tier: Tier, popped: list[str]) -> list[str]:
        ids = [entry for entry in popped if _is_id(entry)]
        if len(ids) < len(popped):
            garbage = next(entry for entry in popped if not _is_id(entry))
            _log.warning("hint.garbage", tier=tier.name, dropped=len(popped) - len(ids), example=garbage[:40])
        if tier is not Tier.NORMAL:
            if len(self._tiers) > _TIERS_REMEMBERED:
                self._tiers.clear()
            self._tiers.update(dict.fromkeys(ids, tier))
        return ids

    def _report(self, set_aside: Reply) -> None:
        for position in set_aside if isinstance(set_aside, list) else []:
            if isinstance(position, int):
                key = self._lists[position - 1]
                _log.error("hint.list_replaced", key=key, moved_to=self._connection.keys.set_aside)

    async def _return(self, taking: asyncio.Task[list[str]]) -> None:
        try:
            await self.give_back(await taking)
        except RedisUnavailable:
            return


def _by_tier(hints: Iterable[tuple[str, Tier]]) -> dict[Tier, list[str]]:
    lists: dict[Tier, list[str]] = {}
    for task_id, tier in hints:
        lists.setdefault(tier, []).append(task_id)
    return lists


def _ids(reply: Reply) -> list[str]:
    entries: Sequence[Reply] = reply if isinstance(reply, list) else []
    return [entry for entry in entries if isinstance(entry, str)]
