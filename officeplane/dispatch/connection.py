"""Round trips to Redis: many commands out, as many replies in, one deadline, one error."""

import asyncio
from collections.abc import Sequence
from typing import Final

from redis.exceptions import NoScriptError, RedisError, ResponseError

from officeplane.dispatch import scripts
from officeplane.dispatch.availability import Availability, RedisUnavailable
from officeplane.dispatch.commands import packed
from officeplane.dispatch.keys import Keyspace
from officeplane.dispatch.pools import Line, Pool, Reply, open_pool

COMMAND_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.02
CONNECTIONS_MAX: Final = 16

_LOAD_SCRIPTS: Final = tuple(script.load() for script in scripts.ALL)


class Connection:
    """This process's way to one Redis, or to none when the URL is empty."""

    def __init__(self, url: str, keys: Keyspace, availability: Availability) -> None:
        self.keys: Final = keys
        self.availability: Final = availability
        self._commands = open_pool(url, "officeplane-commands") if url else None
        # A blocked BRPOP keeps its connection, so nothing else may have to wait for one of these.
        self._blocking = open_pool(url, "officeplane-blocking") if url else None
        self._permits = asyncio.Semaphore(CONNECTIONS_MAX)

    async def ask(self, commands: Sequence[bytes], *, within_seconds: float = COMMAND_SECONDS) -> list[Reply]:
        """Return one reply per command, or raise `RedisUnavailable` if any was refused.

        A command on a key of the wrong type is answered None, as if the key were
        not there: `take_hints` puts such keys aside, and locks are taken over them.
        """
        if not commands:
            return []
        replies = await self._converse(self._commands, commands, within_seconds)
        for position, reply in enumerate(replies):
            if isinstance(reply, ResponseError):
                if not is_wrong_type(reply):
                    raise self.unavailable(reply)
                replies[position] = None
        return replies

    async def wait(self, commands: Sequence[bytes], *, within_seconds: float) -> list[Reply]:
        """Return one reply per command, refusals among them, where the first may block for a while."""
        return await self._converse(self._blocking, commands, within_seconds)

    async def probe(self) -> None:
        """Return if Redis takes a write right now, which ends an outage; else raise `RedisUnavailable`."""
        await self.ask([packed("SET", self.keys.probe, "1", "PX", "1000")])
        self.availability.regained()

    def unavailable(self, error: BaseException) -> RedisUnavailable:
        """Return the error to raise for any failure, after noting that Redis is lost."""
        self.availability.lost(error)
        return RedisUnavailable(f"{type(error).__name__}: {error}")

    def line(self) -> Line:
        """Return a connection of one's own, not yet connected, for a subscription; disconnect it yourself."""
        if self._commands is None:
            raise _not_configured()
        return self._commands.make_connection()

    async def aclose(self) -> None:
        """Close every connection; round trips under way fail."""
        for pool in (self._commands, self._blocking):
            if pool is not None:
                await pool.aclose()

    async def _converse(self, pool: Pool | None, commands: Sequence[bytes], seconds: float) -> list[Reply]:
        replies = await self._exchange(pool, commands, seconds)
        unknown = [position for position, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
        if unknown:
            try:
                again = await self._exchange(pool, [*_LOAD_SCRIPTS, *(commands[at] for at in unknown)], seconds)
            except RedisUnavailable:
                return replies  # what the other commands brought must not be lost with these
            for position, reply in zip(unknown, again[len(_LOAD_SCRIPTS) :], strict=True):
                replies[position] = reply
        return replies

    async def _exchange(self, pool: Pool | None, commands: Sequence[bytes], seconds: float) -> list[Reply]:
        if pool is None:
            raise _not_configured()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as deadline:
                overdue = loop.call_later(seconds, _look_once_more, deadline, loop.time() + seconds)
                try:
                    if pool is self._blocking:
                        return await _exchange(pool, commands)
                    async with self._permits:
                        return await _exchange(pool, commands)
                finally:
                    overdue.cancel()
        except TimeoutError as error:
            raise self.unavailable(TimeoutError(f"no answer within {seconds} s")) from error
        except (RedisError, OSError) as error:
            raise self.unavailable(error) from error


def is_wrong_type(error: ResponseError) -> bool:
    """Return whether a command was refused because its key holds another type."""
    return str(error).startswith("WRONGTYPE")


def _look_once_more(deadline: asyncio.Timeout, due: float) -> None:
    """Let an answer count that came while this process was held up itself, by a handler or by its machine."""
    now = asyncio.get_running_loop().time()
    deadline.reschedule(now + max(LOOK_SECONDS, now - due))


async def _exchange(pool: Pool, commands: Sequence[bytes]) -> list[Reply]:
    line = await pool.get_connection()
    # A connection on which a round trip did not end (an error, a deadline, a cancelled
    # caller) is closed: its next user must not read the replies that come after.
    # So is one that refuses: after a failover the same name may lead elsewhere.
    keep = False
    try:
        await line.send_packed_command(b"".join(commands), check_health=False)
        replies = [await _reply(line) for _ in commands]
        keep = not any(isinstance(reply, ResponseError) and not isinstance(reply, NoScriptError) for reply in replies)
        return replies
    finally:
        if not keep:
            await line.disconnect(nowait=True)
        await pool.release(line)


async def _reply(line: Line) -> Reply:
    try:
        return await line.read_response()
    except ResponseError as refusal:
        return refusal


def _not_configured() -> RedisUnavailable:
    return RedisUnavailable("no Redis is configured")
