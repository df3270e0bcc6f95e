"""Rooms: how much this process holds of bodies and of answers, of each and of all together.

What is small always has room. So a body that says that it is small is read as it
comes, and an answer that says so is sent as it is; the rest is counted.
"""

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from officeplane.api.problems import RefusedError, problem

JSON_BYTES_MAX: Final = 1024 * 1024
BULK_BYTES_MAX: Final = 16 * 1024 * 1024
DOCUMENT_BYTES_MAX: Final = 50 * 1024 * 1024
BULK_PATHS: Final = frozenset({"/api/tasks/bulk", "/api/dags"})
PICTURE_PATHS: Final = re.compile(r"/api/tasks|/api/documents/[^/]+/preview")
"""Where one task is told, whose payload may bring a picture: what else is in the body is counted when it is read."""

DAG_TASKS: Final = re.compile(r"/api/dags/[^/]+/tasks")

ALL_BYTES_MAX: Final = 128 * 1024 * 1024
"""How much of bodies, and as much again of answers, is held for all callers together."""

SMALL: Final = 64 * 1024
"""So much of each body and so large answers are not counted: large ones may fill the rooms, small ones go on."""

# A connection closed with bytes unread is reset, and the answer may be lost with
# it. So what still comes is thrown away for a little while.
LINGER_SECONDS: Final = 2.0
LINGER_BYTES: Final = 16 * 1024 * 1024

_STOPPING: Final = "This server has to end and does not know what became of the request; ask again."


class Rooms:
    """ASGI middleware that refuses what would be too much, and answers whoever is still waited for at the end."""

    def __init__(self, app: ASGIApp, bodies_max: int = ALL_BYTES_MAX, answers_max: int = ALL_BYTES_MAX) -> None:
        self._app = app
        self._bodies = _Room(bodies_max)
        self._answers = _Room(answers_max)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hold what comes and what is sent until the request is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(self._bodies, scope, receive) if _may_be_large(scope) else None
        answer = _Answer(self._answers, scope, receive, send, body)
        try:
            await self._app(scope, body.receive if body else receive, answer.send)
        except asyncio.CancelledError:
            # Only a server that closes what it works with cancels: nothing is wrong with the request.
            if answer.is_begun:
                raise
            await problem("server_stopping", _STOPPING, headers={"Connection": "close"})(scope, receive, send)
        finally:
            self._answers.held -= answer.held
            if body:
                self._bodies.held -= body.held


class _Room:
    """How much there is of something, and how much there may be."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.held = 0

    def has(self, more: int) -> bool:
        return self.held + more <= self.bytes_max


class _Body:
    """A body that may be too large for its path, or for the room; who sends more is told before all of it was read."""

    def __init__(self, room: _Room, scope: Scope, receive: Receive) -> None:
        self._room = room
        self._receive = receive
        self._is_file = scope["method"] == "PUT" and scope["path"].startswith("/api/documents/")
        self._bytes_max = DOCUMENT_BYTES_MAX if self._is_file else _json_bytes_max(scope["path"])
        self._announced = _length_in(scope["headers"]) or 0
        self._came = 0
        self.held = 0
        self.is_refused = False

    async def receive(self) -> Message:
        self._refuse_too_much()
        message = await self._receive()
        self._came += len(message.get("body", b""))
        self._refuse_too_much()
        # A file goes to the disk as it comes.
        if not self._is_file and self._came - SMALL > self.held:
            self._hold(self._came - SMALL - self.held)
        return message

    async def throw_away(self) -> None:
        """Read a little of what still comes."""
        thrown = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while thrown < LINGER_BYTES:
                    message = await self._receive()
                    thrown += len(message.get("body", b""))
                    if not message.get("more_body", False):
                        return

    def _refuse_too_much(self) -> None:
        if max(self._announced, self._came) > self._bytes_max:
            self.is_refused = True
            detail = f"The body is larger than {self._bytes_max} bytes."
            raise RefusedError("too_large", detail, {"Connection": "close"})

    def _hold(self, more: int) -> None:
        if not self._room.has(more):
            detail = "Too many large bodies are being received at the moment; try again in a second."
            raise RefusedError("overloaded", detail)
        self.held += more
        self._room.held += more


class _Answer:
    """An answer as it is sent, which may be too much together with what others are still reading.

    A large one is given to the server in small parts, so that it is held here, and
    counted, until it was read; the server itself would take all of it at once.
    """

    def __init__(self, room: _Room, scope: Scope, receive: Receive, send: Send, body: _Body | None) -> None:
        self._room = room
        self._scope = scope
        self._receive = receive
        self._send = send
        self._body = body
        self._start: Message | None = None
        self._is_small = False
        self._is_refused = False
        self.held = 0
        self.is_begun = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self._body and self._body.is_refused and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._body.throw_away()
            await self._send({"type": "http.response.body", "body": b""})
        elif self._is_small:
            await self._send(message)
        elif not self._is_refused:
            await self._count(message)

    async def _begin(self, start: Message) -> None:
        length = _length_in(start.get("headers", ()))
        if length is not None and length > SMALL:
            # It may still be refused, until there is something to send.
            self._start = start
            return
        self._is_small = length is not None
        self.is_begun = True
        await self._send(start)

    async def _count(self, message: Message) -> None:
        size = len(message.get("body", b""))
        if self._start is not None:
            # What was done cannot be refused any more.
            if self._scope["method"] == "GET" and not self._room.has(size):
                self._is_refused = self.is_begun = True
                detail = "Too many large answers are being read at the moment; try again in a second."
                await problem("overloaded", detail)(self._scope, self._receive, self._send)
                return
            start, self._start = self._start, None
            self.is_begun = True
            await self._send(start)
        if size > self.held:
            self._room.held += size - self.held
            self.held = size
        await _in_parts(message, self._send)


def _may_be_large(scope: Scope) -> bool:
    if scope["method"] == "GET":
        return False
    announced = _length_in(scope["headers"])
    return announced is None or announced > SMALL


def _json_bytes_max(path: str) -> int:
    is_large = path in BULK_PATHS or DAG_TASKS.fullmatch(path) or PICTURE_PATHS.fullmatch(path)
    return BULK_BYTES_MAX if is_large else JSON_BYTES_MAX


def _length_in(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    for name, value in headers:
        if name == b"content-length":
            return int(value)
    return None


async def _in_parts(message: Message, send: Send) -> None:
    body: bytes = message.get("body", b"")
    if len(body) <= SMALL:
        await send(message)
        return
    goes_on = message.get("more_body", False)
    for at in range(0, len(body), SMALL):
        is_last = at + SMALL >= len(body)
        await send({**message, "body": body[at : at + SMALL], "more_body": goes_on or not is_last})
