"""Announcements: what is said once, to whoever listens at that moment.

Publishing is best effort and nobody may depend on hearing it. A listener tells
its reader when it may have missed something, and the reader looks in the ledger.
"""

import asyncio
import contextlib
import json
import weakref
from collections.abc import Sequence
from typing import Final, Self

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError
from redis.exceptions import RedisError

from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.commands import packed
from officeplane.dispatch.connection import COMMAND_SECONDS, Connection
from officeplane.dispatch.pools import Line, Reply

ANNOUNCE_SECONDS: Final = 0.2
QUIET_SECONDS: Final = 5.0
PAUSES_SECONDS: Final = (0.1, 0.2, 0.5, 1.0)
STOP: Final = "stop"

_log = structlog.stdlib.get_logger(__name__)


class Announcement(BaseModel):
    """Something that happened to some tasks."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: str
    ids: tuple[str, ...]


class Reconnected:
    """From here on nothing is missed; before it something may have been: look in the ledger now."""


class Announcements:
    """The two channels of one installation."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._listeners: weakref.WeakSet[Listener] = weakref.WeakSet()

    async def announce(self, kind: str, task_ids: Sequence[str]) -> bool:
        """Tell everyone what happened to tasks; return whether Redis passed it on."""
        return await self._publish(self._connection.keys.events, kind, task_ids)

    async def request_stop(self, task_ids: Sequence[str]) -> bool:
        """Hint to the workers that these tasks are to stop; return whether Redis passed it on."""
        return await self._publish(self._connection.keys.control, STOP, task_ids)

    def listen_events(self) -> "Listener":
        """Return what is announced from now on, as an async context manager and iterator."""
        return self._listen(self._connection.keys.events)

    def listen_control(self) -> "Listener":
        """Return what workers are asked from now on, as an async context manager and iterator."""
        return self._listen(self._connection.keys.control)

    async def aclose(self) -> None:
        """End every listener."""
        for listener in list(self._listeners):
            await listener.aclose()

    async def _publish(self, channel: str, kind: str, task_ids: Sequence[str]) -> bool:
        if not task_ids:
            return True
        if not self._connection.availability.may_try():
            return False
        message = json.dumps({"kind": kind, "ids": list(task_ids)}, separators=(",", ":"))
        try:
            await self._connection.ask([packed("PUBLISH", channel, message)], within_seconds=ANNOUNCE_SECONDS)
        except RedisUnavailable:
            return False
        return True

    def _listen(self, channel: str) -> "Listener":
        listener = Listener(self._connection, channel)
        self._listeners.add(listener)
        return listener


class Listener:
    """What is said on one channel, through outages, until it is closed or its reader is cancelled.

    The first thing it yields, and the first after every outage, is `Reconnected`.
    """

    def __init__(self, connection: Connection, channel: str, *, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._connection = connection
        self._channel = channel
        self._quiet_seconds = quiet_seconds
        self._line: Line | None = None
        self._failures = 0
        self._closed = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Announcement | Reconnected:
        try:
            while not self._closed.is_set():
                heard = await self._hear()
                if heard is not None:
                    return heard
        except BaseException:
            await self._hang_up()
            raise
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """End the iteration and its connection."""
        self._closed.set()
        await self._hang_up()

    async def _hear(self) -> Announcement | Reconnected | None:
        try:
            if self._line is None:
                await self._subscribe()
                self._failures = 0
                return Reconnected()
            return _parsed(await self._message(self._line))
        except RedisUnavailable:
            await self._closed.wait()  # there is no Redis, and there will be none
            return None
        except (RedisError, OSError) as error:
            await self._hang_up()
            if not self._closed.is_set():
                _log.debug("announcements.interrupted", channel=self._channel, error=str(error))
            await self._pause()
            return None

    async def _subscribe(self) -> None:
        self._line = line = self._connection.line()
        async with asyncio.timeout(COMMAND_SECONDS):
            await line.connect()
            await line.send_packed_command(packed("SUBSCRIBE", self._channel))
            await line.read_response()

    async def _message(self, line: Line) -> Reply:
        # A peer that vanished looks like one that has nothing to say, so it is asked.
        reply = await line.read_response(timeout=self._quiet_seconds, disconnect_on_error=False)
        if reply is None:
            await line.send_packed_command(packed("PING"))
            reply = await line.read_response(timeout=self._quiet_seconds, disconnect_on_error=False)
        if reply is None:
            raise TimeoutError(f"no answer for {self._quiet_seconds} s")
        return reply

    async def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            await line.disconnect(nowait=True)

    async def _pause(self) -> None:
        seconds = PAUSES_SECONDS[min(self._failures, len(PAUSES_SECONDS) - 1)]
        self._failures += 1
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), seconds)


def _parsed(reply: Reply) -> Announcement | None:
    match reply:
        case ["message", _, str(text)]:
            try:
                return Announcement.model_validate_json(text)
            except ValidationError:
                _log.warning("announcement.garbage", example=text[:40])
                return None
        case _:
            return None
