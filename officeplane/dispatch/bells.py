"""Bells: hints pushed to the lists of their tiers and spaces, and taken from them.

A hint is a task's id and means "this task, or its document, may have work". A
hint that is lost, doubled or wrong costs a little time: the ledger decides what
is claimed, and the sweeper rings again what nobody came for.

The default space has four lists. Another space has four of its own, which stand among
their tiers' turns while there is something on them; where there are turns, hints are
taken by turns, the default space's too. A worker that waits is woken by a call.
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
from officeplane.dispatch.scripts import RING_SPACE, TAKE_HINTS, TAKE_TURNS
from officeplane.domain.hint import Hint
from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, Space

RING_SECONDS: Final = 0.2
BLOCK_SECONDS: Final = 1
TAIL_LENGTH: Final = 10
PUSHED_AT_ONCE: Final = 1_000

_SET_ASIDE_MILLISECONDS: Final = str(SET_ASIDE_SECONDS * 1000)
_ORIGINS_REMEMBERED: Final = 10_000
_is_id = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII).fullmatch
_log = structlog.stdlib.get_logger(__name__)


class Bells:
    """The hint lists of one installation."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._keys = keys = connection.keys
        self._lists = keys.hint_lists
        self._normal = keys.hint_list(Tier.NORMAL)
        self._wakes = frozenset(keys.wakes)
        # Where others wait, the default space takes its turn with them: the call comes before its list.
        pairs = zip(keys.wakes, self._lists, strict=True)
        self._block = packed("BRPOP", *(name for pair in pairs for name in pair), str(BLOCK_SECONDS))
        # From which list each hint in hand was taken; those of the default space's NORMAL, nearly all, are left out.
        self._origins: dict[str, str] = {}
        self._abandoned: set[asyncio.Task[None]] = set()

    async def ring(self, hints: Iterable[Hint]) -> bool:
        """Push task ids onto the lists of their tiers and spaces; return whether all of them are there.

        Best effort, within 200 ms and without an exception: the tasks are in the
        ledger, and a ring that failed is the sweeper's work.
        """
        places: dict[tuple[Tier, Space], list[str]] = {}
        for task_id, tier, space in hints:
            places.setdefault((tier, space), []).append(task_id)
        return await self._push("LPUSH", {self._keys.hint_list(*place): ids for place, ids in places.items()})

    async def silence(self, hints: Iterable[Hint]) -> None:
        """Take a few hints off the lists of these tiers; best effort. Each is looked for in the whole list."""
        commands = [packed("LREM", self._keys.hint_list(hint.tier, hint.space), "0", hint.task_id) for hint in hints]
        if commands and self._connection.availability.available:
            with suppress(RedisUnavailable):
                await self._connection.ask(commands, within_seconds=RING_SECONDS)

    async def give_back(self, hints: Iterable[str]) -> bool:
        """Put hints that were taken back where they came from, the first to be popped first; best effort."""
        lists: dict[str, list[str]] = {}
        for task_id in hints:
            lists.setdefault(self._origins.get(task_id, self._normal), []).append(task_id)
        return await self._push("RPUSH", {name: ids[::-1] for name, ids in lists.items()})

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

    async def tails(self) -> dict[tuple[Space, Tier], list[str]]:
        """Return the hints that will be popped next from each list, the next one first.

        A space that is not named has no turn in any tier.
        """
        replies = await self._connection.ask(
            [
                *(packed("LRANGE", name, "0", "-1") for name in self._keys.turns),
                *(_tail(name) for name in self._lists),
            ]
        )
        turns, own = replies[: len(Tier)], replies[len(Tier) :]
        tails = {(DEFAULT, tier): _ids(reply)[::-1] for tier, reply in zip(Tier, own, strict=True)}
        others = {
            space for reply in turns for name in _ids(reply) if (space := self._keys.space_of_list(name)) != DEFAULT
        }
        places = [
            (space, tier, name)
            for space in sorted(others)
            for tier, name, reply in zip(Tier, self._keys.hint_lists_of(space), turns, strict=True)
            if name in _ids(reply)
        ]
        replies = await self._connection.ask([_tail(name) for _, _, name in places])
        found = {(space, tier): _ids(reply)[::-1] for (space, tier, _), reply in zip(places, replies, strict=True)}
        # A list that has no turn is as good as empty, whatever is on it.
        return tails | {(space, tier): found.get((space, tier), []) for space in others for tier in Tier}

    async def depths(self) -> dict[Tier, int]:
        """Return how many hints of the default space wait on each list."""
        replies = await self._connection.ask([packed("LLEN", name) for name in self._lists])
        return {tier: reply if isinstance(reply, int) else 0 for tier, reply in zip(Tier, replies, strict=True)}

    async def aclose(self) -> None:
        """Wait until what cancelled takes still bring has been given back."""
        while self._abandoned:
            await asyncio.wait(self._abandoned)

    async def _push(self, verb: str, lists: Mapping[str, list[str]]) -> bool:
        if not lists:
            return True
        availability = self._connection.availability
        if not availability.may_try():
            return False
        commands = [command for name, ids in lists.items() for command in self._pushing(verb, name, ids)]
        try:
            replies = await self._connection.ask(commands, within_seconds=RING_SECONDS)
        except RedisUnavailable:
            return False
        availability.regained()
        return None not in replies

    def _pushing(self, verb: str, name: str, ids: list[str]) -> list[bytes]:
        if not name.startswith(self._keys.spaces):
            return [packed(verb, name, *ids)]
        tier = self._keys.hint_lists_of(self._keys.space_of_list(name)).index(name)
        keys = (name, self._keys.turns[tier], self._keys.wakes[tier])
        parts = (ids[start : start + PUSHED_AT_ONCE] for start in range(0, len(ids), PUSHED_AT_ONCE))
        return [RING_SPACE.call(*keys, arguments=(verb, *part)) for part in parts]

    async def _take(self, up_to: int) -> list[str]:
        connection = self._connection
        if not connection.availability.available:
            await connection.probe()
        # One packet: the server runs the second command as soon as the first lets go,
        # so a full list and a single late hint both cost one round trip.
        fill = TAKE_HINTS.call(
            *self._lists,
            *self._keys.turns,
            self._keys.set_aside,
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
            *lists, set_aside, turns = rest
            for name, reply in zip(self._lists, lists, strict=True):
                taken += self._accepted(name, _ids(reply))
            self._report(self._lists[at - 1] for at in _numbers(set_aside))
            # What cannot be waited on for its type may be a call, which only those look at who take turns.
            if (turns or isinstance(first, ResponseError)) and len(taken) < up_to:
                taken += await self._take_turns(up_to - len(taken), has_some=bool(taken))
        return taken

    async def _take_turns(self, up_to: int, *, has_some: bool) -> list[str]:
        keys = self._keys
        call = TAKE_TURNS.call(
            *self._lists,
            *keys.turns,
            keys.set_aside,
            *keys.wakes,
            arguments=(str(up_to), _SET_ASIDE_MILLISECONDS, keys.spaces),
        )
        try:
            (reply,) = await self._connection.ask([call])
        except RedisUnavailable:
            if has_some:
                return []
            raise
        set_aside, *lists = reply if isinstance(reply, list) else [None]
        self._report(_ids(set_aside))
        taken: list[str] = []
        for entry in lists:
            name, *ids = _ids(entry)
            taken += self._accepted(name, ids)
        return taken

    def _popped(self, reply: Reply) -> list[str]:
        match reply:
            case [str(name), str(task_id)] if name not in self._wakes:
                return self._accepted(name, [task_id])
            case _:
                return []

    def _accepted(self, name: str, popped: list[str]) -> list[str]:
        ids = [entry for entry in popped if _is_id(entry)]
        if len(ids) < len(popped):
            garbage = next(entry for entry in popped if not _is_id(entry))
            _log.warning("hint.garbage", key=name, dropped=len(popped) - len(ids), example=garbage[:40])
        if name != self._normal:
            if len(self._origins) > _ORIGINS_REMEMBERED:
                self._origins.clear()
            self._origins.update(dict.fromkeys(ids, name))
        return ids

    def _report(self, set_aside: Iterable[str]) -> None:
        for key in set_aside:
            _log.error("hint.list_replaced", key=key, moved_to=self._keys.set_aside)

    async def _return(self, taking: asyncio.Task[list[str]]) -> None:
        try:
            await self.give_back(await taking)
        except RedisUnavailable:
            return


def _tail(name: str) -> bytes:
    return packed("LRANGE", name, str(-TAIL_LENGTH), "-1")


def _numbers(reply: Reply) -> list[int]:
    return [entry for entry in reply if isinstance(entry, int)] if isinstance(reply, list) else []


def _ids(reply: Reply) -> list[str]:
    entries: Sequence[Reply] = reply if isinstance(reply, list) else []
    return [entry for entry in entries if isinstance(entry, str)]
