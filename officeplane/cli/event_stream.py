"""The API's events as they happen, across broken connections.

Every stretch of connection starts with CONNECTED: whoever keeps a picture
reads it anew then, because the first connection says nothing of what happened
before it. Later ones resume after the last event seen, without a gap.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from enum import Enum, auto

from officeplane.cli.client import Client, Query
from officeplane.cli.exits import RefusedError, TryLaterError, UnreachableError

PATH = "/api/events"
SILENCE_SECONDS = 40.0
"""The API writes a comment every 15 s: two of them missing is a dead connection."""

GIVE_UP_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 2.0
RESET = "stream.reset"
EVENT_BYTES_MAX = 1024 * 1024
"""The API's events have some hundred bytes; something else may answer in its place."""


class Link(Enum):
    """What became of the connection."""

    CONNECTED = auto()
    LOST = auto()


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of the stream, its data still the text that came."""

    name: str
    data: str
    id: str | None


@dataclass(slots=True)
class EventParser:
    """Bytes in, whole events out, however the bytes are cut."""

    last_id: str | None = None
    _buffer: bytes = b""
    _name: str = ""
    _data: list[str] = field(default_factory=list[str])
    _held: int = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Return the events that these bytes complete; raise when one of them has no end."""
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        events = [self._take(line.removesuffix(b"\r").decode(errors="replace")) for line in lines]
        if len(self._buffer) + self._held > EVENT_BYTES_MAX:
            raise RefusedError(f"What answers is no API: it sent an event of more than {EVENT_BYTES_MAX} bytes.")
        return [event for event in events if event is not None]

    def _take(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
                self._held += len(value)
            case "id":
                self.last_id = value
            case _:  # a comment, or `retry`, which our own pauses replace
                pass
        return None

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent(self._name or "message", "\n".join(self._data), self.last_id) if self._data else None
        self._name, self._data, self._held = "", [], 0
        return event


async def follow(client: Client, query: Query, seen_at: float | None = None) -> AsyncGenerator[ServerEvent | Link]:
    """Yield events and changes of the connection; ends by UnreachableError when the API stays away.

    `seen_at` is when the API last answered something else, by the monotonic clock: one that
    was never there is not waited for.
    """
    last_id: str | None = None
    pause = FIRST_PAUSE_SECONDS
    while True:
        parser = EventParser(last_id)
        headers = {"Accept": "text/event-stream", **({} if last_id is None else {"Last-Event-ID": last_id})}
        try:
            async with client.stream(PATH, query, headers, SILENCE_SECONDS) as response:
                yield Link.CONNECTED
                seen_at, pause = time.monotonic(), FIRST_PAUSE_SECONDS
                async for chunk in response.aiter_bytes():
                    for event in parser.feed(chunk):
                        last_id = None if event.name == RESET else event.id
                        yield event
                    seen_at = time.monotonic()
        except (UnreachableError, TryLaterError):
            # Nothing good was ever there, or it has been away for too long: that is the answer.
            if seen_at is None or time.monotonic() - seen_at > GIVE_UP_SECONDS:
                raise
        yield Link.LOST
        await asyncio.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
